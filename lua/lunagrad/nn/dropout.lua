-- Dropout(p): in training, zeroes each element with probability p and scales the rest by 1 / (1 - p). Dropout1d,
-- Dropout2d and Dropout3d zero whole channels. AlphaDropout and FeatureAlphaDropout (whole channels) keep mean and
-- variance, for networks with SELU. p is a number, or a function or handle of lg.run.live that is called each time.
-- PyTorch's `inplace` is accepted and has no effect.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local reader = require("lunagrad.arguments").reader

local modules = {}

for name, op in pairs {
  Dropout = core.dropout, Dropout1d = core.dropout1d, Dropout2d = core.dropout2d, Dropout3d = core.dropout3d,
  AlphaDropout = core.alpha_dropout, FeatureAlphaDropout = core.feature_alpha_dropout,
} do
  local Dropout = class(name)
  local read = reader(name, {"p", 0.5}, {"inplace", false})

  function Dropout:init(...)
    self.p = read(...).p
  end

  function Dropout:forward(x)
    if not self.training then return x end
    local p = self.p
    return op(x, type(p) == "number" and p or p(), true)
  end

  function Dropout:extra_repr()
    return "p = " .. tostring(type(self.p) == "number" and self.p or self.p())
  end

  modules[name] = Dropout
end

return modules
