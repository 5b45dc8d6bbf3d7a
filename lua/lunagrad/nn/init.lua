-- lg.nn: modules, functions and initialization.
local nn = {
  Module = require "lunagrad.nn.module",
  class = require "lunagrad.nn.class",
  Parameter = require "lunagrad.nn.parameter",
  functional = require "lunagrad.nn.functional",
  init = require "lunagrad.nn.initialize",
  utils = require "lunagrad.nn.utils",
  Linear = require "lunagrad.nn.linear",
  Bilinear = require "lunagrad.nn.bilinear",
}

-- Functions in Lua.
require "lunagrad.nn.interpolate"
require "lunagrad.nn.sampling"

-- Files that hold several classes.
for _, file in ipairs {
  "containers", "parameters", "shape", "pad", "embedding", "dropout", "conv", "pool", "resize", "norm", "attention",
  "transformer", "activation", "loss", "adaptive_softmax", "rnn", "cell", "lazy",
} do
  for name, class in pairs(require("lunagrad.nn." .. file)) do nn[name] = class end
end

return nn
