-- nn.utils.parametrize, as in PyTorch: a parameter or buffer that is computed from other tensors at each access. A
-- parametrization is a module: forward(original) returns the value; right_inverse(value), if defined, returns the
-- original or several originals.
--
--   parametrize.register_parametrization(layer, "weight", Symmetric())
--   layer.weight                                     -- Symmetric()(original)
--   layer.parametrizations.weight.original           -- what is trained and stored
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local containers = require "lunagrad.nn.containers"
local tree = require "lunagrad.nn.tree"

local fail, is_tensor = core._fail, core.is_tensor
local parametrize = {}

-- Values computed inside parametrize.cached(): list -> value. nil outside.
local cache, depth

-- The parametrizations of one tensor, in the order in which they are applied, and its original: field `original`, or
-- original0, original1, … if the first right_inverse returns several.
local List = class("ParametrizationList", containers.ModuleList)

function List:originals()
  if self.count == 0 then return {self.original} end
  local list = {}
  for i = 1, self.count do list[i] = self["original" .. i - 1] end
  return list
end

function List:forward()
  local value = self[1](table.unpack(self:originals()))
  for i = 2, #self do value = self[i](value) end
  return value
end

function List:value()
  if not cache then return self() end
  if cache[self] == nil then cache[self] = self() end
  return cache[self]
end

-- The originals whose computed value is `value`.
function List:inverse(value)
  local results = {value}
  for i = #self, 1, -1 do
    local item = self[i]
    if not item.right_inverse then
      fail(("parametrize: %s has no right_inverse, so its tensor cannot be set; set the original"):format(item.__name))
    end
    results = {item:right_inverse(results[1])}
  end
  return type(results[1]) == "table" and not is_tensor(results[1]) and results[1] or results
end

function List:assign(value)
  local _ <close> = core.no_grad()
  for i, original in ipairs(self:originals()) do original:copy_(self:inverse(value)[i]) end
end

-- The class of a module with parametrized tensors, derived from its class.
local function parametrized_class(base)
  local derived = {__name = "Parametrized" .. base.__name, super = base, _before = base}
  for key, value in pairs(base) do
    if type(key) == "string" and key:sub(1, 2) == "__" and key ~= "__name" then derived[key] = value end
  end
  local above = base.__index
  function derived.__index(self, key)
    local list = rawget(self, "_computed")[key]
    if list then return list:value() end
    if key == "__name" then return derived.__name end
    if type(above) == "function" then return above(self, key) end
    return above[key]
  end
  local assign = base.__newindex
  function derived.__newindex(self, key, value)
    local list = rawget(self, "_computed")[key]
    if list then return list:assign(value) end
    return assign(self, key, value)
  end
  return setmetatable(derived, {__index = base})
end

function parametrize.is_parametrized(module, name)
  local computed = tree.is_module(module) and rawget(module, "_computed")
  if not computed or next(computed) == nil then return false end
  return name == nil or computed[name] ~= nil
end

-- The class of a module without its parametrizations.
function parametrize.type_before_parametrizations(module)
  return getmetatable(module)._before or getmetatable(module)
end

local function same_shape(a, b) return table.concat(a:size(), ",") == table.concat(b:size(), ",") end

local function check_value(item, before, value)
  if not is_tensor(value) then
    fail(("register_parametrization: %s returned a %s, not a tensor"):format(item.__name, type(value)))
  elseif not same_shape(before, value) or before:dtype() ~= value:dtype() then
    fail(("register_parametrization: %s turns %s [%s] into %s [%s]; {unsafe = true} permits it"):format(item.__name,
      before:dtype(), table.concat(before:size(), ", "), value:dtype(), table.concat(value:size(), ", ")))
  end
end

-- Makes the list of a tensor from its first parametrization. A single original of the parameter's shape stays the same
-- parameter.
local function first_list(module, name, item, unsafe)
  local tensor, kind = rawget(module, name), module._kinds[name]
  local list = List()
  list:append(item)
  local results = {tensor}
  if item.right_inverse then
    local _ <close> = core.no_grad()
    results = {item:right_inverse(tensor:detach())}
    if not is_tensor(results[1]) then results = results[1] end
  end
  rawset(list, "count", #results == 1 and 0 or #results)
  for i, value in ipairs(results) do
    local key = #results == 1 and "original" or "original" .. i - 1
    local original = tensor
    if #results == 1 and same_shape(value, tensor) then
      if value ~= tensor then core._replace_data(tensor, value:detach():clone()) end
    else
      original = value:detach():clone()
      if tensor.requires_grad then original:requires_grad_() end
    end
    if kind == "parameter" then list:register_parameter(key, original) else list:register_buffer(key, original) end
  end
  if not unsafe then
    local before = core.empty(tensor:size(), {dtype = tensor:dtype(), device = "cpu"})
    check_value(item, before, core.no_grad(function() return list() end))
  end
  return list, kind
end

-- Makes module[name] computed by a parametrization. Several parametrizations of one tensor are applied one after the
-- other. With {unsafe = true} the shape and the type may change.
function parametrize.register_parametrization(module, name, item, options)
  local unsafe = options and (options == true or options.unsafe)
  if not tree.is_module(module) then fail(("register_parametrization: a module expected (got %s)"):format(type(module))) end
  if not tree.is_module(item) then
    fail(("register_parametrization: a module expected as the parametrization (got %s)"):format(type(item)))
  end
  if parametrize.is_parametrized(module, name) then
    local list = module._computed[name]
    if not unsafe then
      core.no_grad(function()
        local before = list()
        check_value(item, before, item(before))
      end)
    end
    list:append(item)
    return module
  end
  local kind = module._kinds[name]
  if not is_tensor(rawget(module, name)) or kind == nil or kind == "field" then
    fail(("register_parametrization: %s has no parameter or buffer '%s'"):format(module.__name, tostring(name)))
  end
  local list, kept = first_list(module, name, item, unsafe)
  if not rawget(module, "_computed") then
    rawset(module, "_computed", {})
    module.parametrizations = containers.ModuleDict()
    setmetatable(module, parametrized_class(getmetatable(module)))
  end
  rawset(list, "kind", kept)
  rawset(module, name, nil)
  module.parametrizations:set(name, list)
  module._computed[name] = list
  return module
end

-- Makes module[name] a plain tensor again, with its current value, or with the original's value for {leave_parametrized
-- = false}.
function parametrize.remove_parametrizations(module, name, options)
  if type(options) == "boolean" then options = {leave_parametrized = options} end
  if not parametrize.is_parametrized(module, name) then
    fail(("remove_parametrizations: '%s' of %s is not parametrized"):format(tostring(name), tostring(
      tree.is_module(module) and module.__name or type(module))))
  end
  local list = module._computed[name]
  local originals = list:originals()
  local tensor = originals[1]
  if options and options.leave_parametrized == false then
    if #originals > 1 then
      fail("remove_parametrizations: leave_parametrized = false needs a single original; this tensor has " .. #originals)
    end
  else
    local value = core.no_grad(function() return list():detach():clone() end)
    if #originals == 1 and same_shape(value, tensor) then
      core._replace_data(tensor, value)
    else
      local trained = tensor.requires_grad
      tensor = value
      if trained then tensor:requires_grad_() end
    end
  end
  module._computed[name] = nil
  module.parametrizations:pop(name)
  if next(module._computed) == nil then
    setmetatable(module, getmetatable(module)._before)
    rawset(module, "_computed", nil)
    module.parametrizations = nil
  end
  rawset(module, name, tensor)
  return module
end

-- Computes each parametrized tensor only once inside parametrize.cached(fn), or inside a scope with local _ <close> =
-- parametrize.cached().
function parametrize.cached(fn, ...)
  depth = (depth or 0) + 1
  cache = cache or {}
  local ended = false
  local function leave()
    if ended then return end
    ended, depth = true, depth - 1
    if depth == 0 then cache = nil end
  end
  if fn == nil then return setmetatable({}, {__close = leave}) end
  local results = table.pack(pcall(fn, ...))
  leave()
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

return parametrize
