-- Flatten(start_dim = 2, end_dim = -1) and Identity. Dims count from 1, so Flatten() keeps the batch dim.
local class = require "lunagrad.nn.class"
local reader = require("lunagrad.arguments").reader

local Flatten = class("Flatten")
local read = reader("Flatten", {"start_dim", 2}, {"end_dim", -1})

function Flatten:init(...)
  local a = read(...)
  self.start_dim, self.end_dim = a.start_dim, a.end_dim
end

function Flatten:forward(x)
  return x:flatten(self.start_dim, self.end_dim)
end

function Flatten:extra_repr()
  if self.start_dim == 2 and self.end_dim == -1 then return "" end
  return ("%d, %d"):format(self.start_dim, self.end_dim)
end

local Identity = class("Identity")

function Identity:init() end

function Identity:forward(x) return x end

return {Flatten = Flatten, Identity = Identity}
