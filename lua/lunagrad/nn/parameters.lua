-- Containers of parameters. list[1] is the first of a ParameterList; its name in a state dict is "0", as in PyTorch. Those of
-- a ParameterDict have names. Tensors that are no parameters yet become leaf tensors that require gradients.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local Parameter = require "lunagrad.nn.parameter"

local fail = core._fail

local function as_parameter(owner, value, place)
  if not core.is_tensor(value) then fail(("%s: item %s is a %s, not a tensor"):format(owner, tostring(place), type(value))) end
  if value.requires_grad and value.is_leaf then return value end
  return Parameter(value)
end

local function is_plain(value) return type(value) == "table" and getmetatable(value) == nil end

local function describe(tensor)
  return ("[%s] of %s"):format(table.concat(tensor:size(), ", "), tensor:dtype())
end

-- ParameterList{a, b} or ParameterList(a, b)
local ParameterList = class("ParameterList")

function ParameterList:init(...)
  local first = ...
  self:extend(is_plain(first) and first or {...})
end

function ParameterList:append(value)
  self[#self + 1] = as_parameter("ParameterList", value, #self + 1)
  return self
end

-- Appends all tensors of a table or of another ParameterList.
function ParameterList:extend(list)
  for i = 1, #list do self:append(list[i]) end
  return self
end

-- Removes the parameter at a position (default: the last) and returns it.
function ParameterList:pop(position)
  local count = #self
  position = position or count
  local value = self[position]
  if not core.is_tensor(value) then
    fail(("ParameterList: position %s is out of range for %d parameters"):format(tostring(position), count))
  end
  for i = position, count do self[i] = self[i + 1] end
  return value
end

function ParameterList:extra_repr()
  local parts = {}
  for i = 1, #self do parts[i] = describe(self[i]) end
  return table.concat(parts, ", ")
end

-- ParameterDict{left = a, right = b} (sorted by name) or ParameterDict{{"left", a}, {"right", b}} (in the given order).
local ParameterDict = class("ParameterDict")

function ParameterDict:init(parameters)
  rawset(self, "_names", {})
  self:update(parameters or {})
end

function ParameterDict:contains(name)
  for _, known in ipairs(self._names) do
    if known == name then return true end
  end
  return false
end

function ParameterDict:set(name, value)
  if type(name) ~= "string" or name == "" or name:find(".", 1, true) then
    fail(("ParameterDict: '%s' is no name for a parameter"):format(tostring(name)))
  elseif not self:contains(name) and (rawget(self, name) ~= nil or ParameterDict[name] ~= nil) then
    fail(("ParameterDict: '%s' is the name of a field or method"):format(name))
  end
  value = as_parameter("ParameterDict", value, name)
  if not self:contains(name) then self._names[#self._names + 1] = name end
  self[name] = value
  return self
end

-- Adds all tensors of a table, of a list of pairs or of another ParameterDict.
function ParameterDict:update(parameters)
  local names = rawget(parameters, "_names")
  if names then
    for _, name in ipairs(names) do self:set(name, parameters[name]) end
  elseif #parameters > 0 then
    for _, entry in ipairs(parameters) do self:set(entry[1], entry[2]) end
  else
    names = {}
    for name in pairs(parameters) do names[#names + 1] = name end
    table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
    for _, name in ipairs(names) do self:set(name, parameters[name]) end
  end
  return self
end

function ParameterDict:get(name, default)
  if self:contains(name) then return self[name] end
  return default
end

function ParameterDict:keys() return {table.unpack(self._names)} end

function ParameterDict:values()
  local list = {}
  for i, name in ipairs(self._names) do list[i] = self[name] end
  return list
end

-- for name, parameter in dict:items() do
function ParameterDict:items()
  local i, names = 0, self:keys()
  return function()
    i = i + 1
    if names[i] then return names[i], self[names[i]] end
  end
end

-- Removes a parameter and returns it.
function ParameterDict:pop(name)
  for i, known in ipairs(self._names) do
    if known == name then
      local value = self[name]
      table.remove(self._names, i)
      self[name] = nil
      return value
    end
  end
  fail(("ParameterDict: there is no parameter '%s'"):format(tostring(name)))
end

function ParameterDict:clear()
  for _, name in ipairs(self:keys()) do self:pop(name) end
  return self
end

function ParameterDict:__len() return #self._names end

function ParameterDict:extra_repr()
  local parts = {}
  for i, name in ipairs(self._names) do parts[i] = ("%s: %s"):format(name, describe(self[name])) end
  return table.concat(parts, ", ")
end

return {ParameterList = ParameterList, ParameterDict = ParameterDict}
