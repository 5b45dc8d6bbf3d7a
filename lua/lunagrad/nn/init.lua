-- lg.nn: modules, functions and initialization.
local core = require "lunagrad.core"
local nn = {
  Module = require "lunagrad.nn.module",
  class = require("lunagrad.nn.class").of_scripts,
  Parameter = require "lunagrad.nn.parameter",
  functional = require "lunagrad.nn.functional",
  init = require "lunagrad.nn.initialize",
  utils = require "lunagrad.nn.utils",
  Linear = require "lunagrad.nn.linear",
  Bilinear = require "lunagrad.nn.bilinear",
}

-- nn.isinstance(value, Class), or (value, {A, B}): whether the value is an object of the class or of a derived class.
function nn.isinstance(value, classes)
  if type(classes) ~= "table" or rawget(classes, "__name") == nil and #classes == 0 then
    core._fail("nn.isinstance: a class, as nn.Linear, or a list of classes expected")
  end
  local class = type(value) == "table" and getmetatable(value)
  while class do
    if class == classes then return true end
    for _, one in ipairs(rawget(classes, "__name") and {} or classes) do
      if class == one then return true end
    end
    class = rawget(class, "super")
  end
  return false
end

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
