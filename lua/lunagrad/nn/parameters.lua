-- Containers of parameters. list[1] is the first parameter of a ParameterList; its name in a state dict is "0", as in
-- PyTorch. The parameters of a ParameterDict have names. Tensors that are not parameters yet become leaf tensors that
-- require gradients.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local named = require "lunagrad.nn.named"
local Parameter = require "lunagrad.nn.parameter"
local is_plain = require("lunagrad.arguments").is_plain

local fail = core._fail

local function as_parameter(owner, value, place)
  if not core.is_tensor(value) then fail(("%s: item %s is a %s, not a tensor"):format(owner, tostring(place), type(value))) end
  if value.requires_grad and value.is_leaf then return value end
  return Parameter(value)
end

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
named.extend(ParameterDict, "parameter", function(value, name) return as_parameter("ParameterDict", value, name) end)

function ParameterDict:get(name, default)
  if self:contains(name) then return self[name] end
  return default
end

function ParameterDict:extra_repr()
  local parts = {}
  for i, name in ipairs(self._names) do parts[i] = ("%s: %s"):format(name, describe(self[name])) end
  return table.concat(parts, ", ")
end

return {ParameterList = ParameterList, ParameterDict = ParameterDict}
