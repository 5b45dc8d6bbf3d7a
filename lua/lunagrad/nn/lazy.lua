-- Layers that learn the number of their inputs from the first call: LazyLinear(out_features, …), LazyConvNd and
-- LazyConvTransposeNd(out_channels, kernel_size, …), LazyBatchNormNd and LazyInstanceNormNd({…}). They have no
-- parameters before the first input. The first input makes the parameters on its device, and the object becomes one of
-- the plain class. Call the model once before you make the optimizer.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local Linear = require "lunagrad.nn.linear"
local arguments = require "lunagrad.arguments"

local modules = {}

-- Makes a lazy class from `Plain`. It omits the first argument, which becomes the size of dim `dim` of the first input.
local function define(Plain, dim)
  local name = "Lazy" .. Plain.__name
  local Lazy = class(name, Plain)

  function Lazy:init(...)
    rawset(self, "_given", table.pack(...))
  end

  function Lazy:forward(x, ...)
    if not core.is_tensor(x) or x:dim() < math.abs(dim) then
      core._fail(("%s: the first input must be a tensor of at least %d dims (got %s)"):format(name, math.abs(dim),
        core.is_tensor(x) and ("shape [%s]"):format(table.concat(x:size(), ", ")) or type(x)))
    end
    local given = self._given
    local list, options = table.move(given, 1, given.n, 1, {}), {device = x:device()}
    local count = given.n
    if arguments.holds_options(list[count]) then
      for key, value in pairs(list[count]) do options[key] = value end
      list[count] = nil
      count = count - 1
    end
    list[count + 1] = options
    rawset(self, "_given", nil)
    setmetatable(self, Plain)
    local ok, message = pcall(Plain.init, self, x:size(dim), table.unpack(list, 1, count + 1))
    if not ok then
      setmetatable(self, Lazy)
      rawset(self, "_given", given)
      error(message, 0)
    end
    return self:forward(x, ...)
  end

  function Lazy:load_state_dict()
    core._fail(("%s: it has no parameters before its first input: call the model once, then load"):format(name))
  end

  function Lazy:extra_repr() return "no input yet" end

  modules[name] = Lazy
end

define(Linear, -1)

local convs, norms = require "lunagrad.nn.conv", require "lunagrad.nn.norm"
for dims = 1, 3 do
  for _, kind in ipairs {"Conv%dd", "ConvTranspose%dd"} do define(convs[kind:format(dims)], -dims - 1) end
  define(norms[("BatchNorm%dd"):format(dims)], 2)
  define(norms[("InstanceNorm%dd"):format(dims)], -dims - 1)
end

return modules
