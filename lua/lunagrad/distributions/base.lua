-- The base class of all distributions, as PyTorch's torch.distributions.Distribution. A distribution has a batch_shape
-- (the dims of independent distributions) and an event_shape (the dims of one value); samples have the shape [sample
-- shape, batch_shape, event_shape].
--
--   local Normal = base.define("Normal", {"loc", "scale"}, {loc = constraints.real, scale = constraints.positive})
--   function Normal:init() ... end            -- reads self.loc, self.scale
--   function Normal.properties:mean() ... end -- normal.mean
local arguments = require "lunagrad.arguments"
local core = require "lunagrad.core"

local fail, is_tensor = core._fail, core.is_tensor

local base = {}

local Distribution = {__name = "Distribution", properties = {}, _is_distribution = true, _validate = true}
base.Distribution = Distribution

function base.is_distribution(value)
  local class = type(value) == "table" and getmetatable(value)
  return class and class._is_distribution == true or false
end

-- --- shapes ---

function base.concat(...)
  local all = {}
  for _, shape in ipairs {...} do
    for _, size in ipairs(shape) do all[#all + 1] = size end
  end
  return all
end

function base.text(shape) return "[" .. table.concat(shape, ", ") .. "]" end

function base.broadcast_shapes(owner, ...)
  local result = {}
  for _, shape in ipairs {...} do
    local longer, shorter = result, shape
    if #shape > #result then longer, shorter = shape, result end
    local merged = table.move(longer, 1, #longer, 1, {})
    local shift = #longer - #shorter
    for i, size in ipairs(shorter) do
      local other = merged[i + shift]
      if other ~= size and other ~= 1 and size ~= 1 then
        fail(("%s: shapes %s and %s do not broadcast"):format(owner, base.text(result), base.text(shape)))
      end
      merged[i + shift] = other == 1 and size or other
    end
    result = merged
  end
  return result
end

-- The sizes of `shape` without the last `count`, and the last `count`.
function base.split_shape(shape, count)
  local n = #shape - count
  return table.move(shape, 1, n, 1, {}), table.move(shape, n + 1, #shape, 1, {})
end

-- A shape as sample{2, 3}, sample(2, 3), sample(2) or sample().
function base.read_shape(owner, first, ...)
  if first == nil then return {} end
  local list = type(first) == "table" and first or {first, ...}
  for _, size in ipairs(list) do
    if math.type(size) ~= "integer" or size < 0 then
      fail(("%s: a shape of integers of at least 0 expected (got %s)"):format(owner, tostring(size)))
    end
  end
  return table.move(list, 1, #list, 1, {})
end

-- Numbers and tensors as tensors of one shape. Numbers take the type and device of the first tensor.
function base.broadcast(owner, names, values)
  local like
  for _, name in ipairs(names) do
    local value = values[name]
    if is_tensor(value) then
      like = like or value
    elseif value ~= nil and type(value) ~= "number" then
      fail(("%s: %s must be a number or a tensor (got a %s)"):format(owner, name, type(value)))
    end
  end
  local tensors, shapes = {}, {}
  for _, name in ipairs(names) do
    local value = values[name]
    if type(value) == "number" then
      local dtype = like and like:dtype():match("^b?f%d+$") and like:dtype() or core.get_default_dtype()
      value = core.tensor(value, {dtype = dtype, device = like and like:device() or nil})
    elseif is_tensor(value) and not value:dtype():match("^b?f%d+$") then
      value = value:float()
    end
    tensors[name] = value
    if value then shapes[#shapes + 1] = value:size() end
  end
  local shape = base.broadcast_shapes(owner, table.unpack(shapes))
  for name, value in pairs(tensors) do
    if base.text(value:size()) ~= base.text(shape) then tensors[name] = value:expand(shape) end
  end
  return tensors, shape
end

-- --- checks ---

-- Whether the elements may be read: not inside vmap.
local function can_read(x)
  return not (core._is_batched and core._is_batched(x)) and not core._capturing_graph()
end

local function check_values(owner, what, x, constraint)
  if not can_read(x) then return end
  local _ <close> = core.no_grad()
  if constraint.event_dim and x:dim() < constraint.event_dim then
    fail(("%s: %s needs %d %s at least (got shape %s)"):format(owner, what, constraint.event_dim,
      constraint.event_dim == 1 and "dim" or "dims", base.text(x:size())))
  end
  if x:numel() == 0 then return end
  local fits = constraint.check(x:detach())
  if fits:all():item() then return end
  local found = ""
  if not constraint.event_dim then
    local flat, good = x:detach():reshape(-1), fits:reshape(-1)
    local value = flat[good:to("u8"):argmin():item() + 1]:item()
    found = (" (got %s)"):format(type(value) == "number" and ("%.7g"):format(value) or tostring(value))
  end
  fail(("%s: %s must %s%s; shape %s"):format(owner, what, constraint.words, found, base.text(x:size())))
end

-- --- classes ---

local function property_or_method(self, class, key)
  local property = class.properties[key]
  if property then return property(self) end
  local value = class[key]
  if value ~= nil then return value end
  if type(key) == "string" and key:sub(1, 1) ~= "_" and not class.optional[key] then
    fail(("%s has no field or method '%s'"):format(class.__name, key))
  end
end

-- A class of distributions, called with `names` as arguments (see arguments.reader) and {validate_args =}. `checks` maps
-- names to constraints.
function base.define(name, names, checks, parent)
  parent = parent or Distribution
  local class = {__name = name, _checks = checks, _names = {}, optional = {}}
  class.properties = setmetatable({}, {__index = parent.properties})
  for i, spec in ipairs(names) do
    class._names[i] = type(spec) == "table" and spec[1] or spec
    class.optional[class._names[i]] = true
  end
  local specs = table.move(names, 1, #names, 1, {})
  specs[#specs + 1] = {"validate_args"}
  local read = arguments.reader(name, table.unpack(specs))
  function class.__index(self, key) return property_or_method(self, class, key) end
  function class:__tostring()
    return ("%s(batch_shape=%s, event_shape=%s)"):format(name, base.text(self.batch_shape), base.text(self.event_shape))
  end
  return setmetatable(class, {__index = parent, __call = function(_, ...)
    local given = read(...)
    local self = setmetatable({batch_shape = {}, event_shape = {}}, class)
    local validate = given.validate_args
    if validate == nil then validate = Distribution._validate end
    self._validate = validate
    self:init(given)
    if validate then
      for i, parameter in ipairs(class._names) do
        local value, constraint = rawget(self, parameter), checks[parameter]
        if is_tensor(value) and constraint then check_values(name, parameter, value, constraint) end
      end
    end
    return self
  end})
end

-- Distribution.set_default_validate_args(false) turns the checks of parameters and values off, for all later
-- distributions.
function Distribution.set_default_validate_args(value)
  if type(value) ~= "boolean" then fail("set_default_validate_args: true or false expected") end
  Distribution._validate = value
end

-- Reads parameters of one shape, which is the batch shape.
function Distribution:take(given, names)
  local tensors, shape = base.broadcast(self.__name, names, given)
  for _, name in ipairs(names) do rawset(self, name, tensors[name]) end
  self.batch_shape = shape
end

-- Error when `value` does not have the shape of samples or lies outside the support.
function Distribution:check_value(value)
  if type(value) == "number" then
    local like = self:example()
    value = core.tensor(value, {dtype = like:dtype(), device = like:device()})
  end
  if not is_tensor(value) then
    fail(("%s: the value must be a tensor or a number (got a %s)"):format(self.__name, type(value)))
  end
  if not self._validate then return value end
  local events = #self.event_shape
  local shape = value:size()
  if #shape < events then
    fail(("%s: the value has shape %s, an event %s"):format(self.__name, base.text(shape), base.text(self.event_shape)))
  end
  for i = 1, events do
    local size = shape[#shape - events + i]
    if size ~= self.event_shape[i] then
      fail(("%s: the value has shape %s, an event %s"):format(self.__name, base.text(shape),
        base.text(self.event_shape)))
    end
  end
  base.broadcast_shapes(self.__name, shape, base.concat(self.batch_shape, self.event_shape))
  local support = self.support
  if support then check_values(self.__name, "the value", value, support) end
  return value
end

-- A parameter: new tensors get its type and device.
function Distribution:example()
  for _, name in ipairs(self._names) do
    local value = rawget(self, name)
    if is_tensor(value) then return value end
  end
  fail(self.__name .. ": it has no tensor among its parameters")
end

-- The shape of samples.
function Distribution:extended(shape) return base.concat(shape, self.batch_shape, self.event_shape) end

-- Random numbers of the given shape, with the type and device of the parameters.
function Distribution:uniform(shape)
  local like = self:example()
  return core.rand(shape, {dtype = like:dtype(), device = like:device()})
end
function Distribution:normal(shape)
  local like = self:example()
  return core.randn(shape, {dtype = like:dtype(), device = like:device()})
end

function Distribution.properties:support() return nil end
function Distribution.properties:has_rsample() return self._has_rsample or false end
function Distribution.properties:stddev() return self.variance:sqrt() end
for _, name in ipairs {"mean", "variance", "mode"} do
  Distribution.properties[name] = function(self) fail(("%s has no %s"):format(self.__name, name)) end
end

-- sample{2, 3} returns values without a gradient; rsample{2, 3} returns values that carry gradients to the parameters.
function Distribution:sample(...)
  local shape = base.read_shape(self.__name .. ": sample", ...)
  local _ <close> = core.no_grad()
  return self:draw(shape):detach()
end

function Distribution:rsample(...)
  if not self.has_rsample then
    fail(("%s: it has no rsample, as its values do not depend smoothly on its parameters; use sample"):format(
      self.__name))
  end
  return self:draw(base.read_shape(self.__name .. ": rsample", ...))
end

for _, name in ipairs {"log_prob", "entropy", "cdf", "icdf", "enumerate_support"} do
  Distribution[name] = function(self) fail(("%s: it has no %s"):format(self.__name, name)) end
end

function Distribution:perplexity() return self:entropy():exp() end

-- The same distributions with another batch shape, without a copy. A subclass whose parameters have further dims behind
-- the batch dims gives their number in _event_dims.
function Distribution:expand(...)
  local shape = base.read_shape(self.__name .. ": expand", ...)
  local other = setmetatable({}, getmetatable(self))
  for key, value in next, self do rawset(other, key, value) end
  local dims = self._event_dims or {}
  for _, name in ipairs(self._names) do
    local value = rawget(self, name)
    if is_tensor(value) then
      local _, event = base.split_shape(value:size(), dims[name] or 0)
      rawset(other, name, value:expand(base.concat(shape, event)))
    end
  end
  other.batch_shape = shape
  return other
end

return base
