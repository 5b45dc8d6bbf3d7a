-- Dropout(p): in training, zeroes each element with probability p and scales the rest by 1 / (1 - p). p is a
-- number, or a function or handle of lg.run.live that is called each time. PyTorch's `inplace` is taken and changes nothing.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local reader = require("lunagrad.arguments").reader

local Dropout = class("Dropout")
local read = reader("Dropout", {"p", 0.5}, {"inplace", false})

function Dropout:init(...)
  self.p = read(...).p
end

function Dropout:forward(x)
  if not self.training then return x end
  local p = self.p
  return core.dropout(x, type(p) == "number" and p or p(), true)
end

function Dropout:extra_repr()
  return "p = " .. tostring(type(self.p) == "number" and self.p or self.p())
end

return Dropout
