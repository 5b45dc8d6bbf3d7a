-- Moves an optimizer's state to its parameter's device and type.
local core = require "lunagrad.core"

local is_tensor = core.is_tensor
local floating = {f16 = true, bf16 = true, f32 = true, f64 = true}
local real_of = {c64 = "f32", c128 = "f64"}

local follow = {}

-- The type that a state tensor must have for a parameter; counters and flags keep their own type.
local function type_for(tensor, parameter)
  local own, wanted = tensor:dtype(), parameter:dtype()
  if floating[own] then return real_of[wanted] or wanted end
  return real_of[own] and real_of[wanted] and wanted or own
end

-- A tensor, or each tensor of a list, with the device and type that the parameter needs. Returns the same value if it
-- has both.
local function beside(value, parameter)
  if is_tensor(value) then
    local dtype, device = type_for(value, parameter), parameter:device()
    if value:dtype() == dtype and value:device() == device then return value end
    return value:detach():to(dtype):to(device)
  end
  if type(value) ~= "table" then return value end
  local list = {}
  for key, item in pairs(value) do list[key] = beside(item, parameter) end
  return list
end

-- Moves the state of a parameter, in place.
function follow.state(state, parameter)
  for name, value in pairs(state) do
    if type(value) == "userdata" or type(value) == "table" then state[name] = beside(value, parameter) end
  end
end

-- A copy of a saved value for the parameter.
function follow.copy(value, parameter)
  local made = beside(value, parameter)
  if is_tensor(made) then return made == value and made:detach():clone() or made end
  if type(made) ~= "table" then return made end
  for key, item in pairs(made) do
    if is_tensor(item) and item == value[key] then made[key] = item:detach():clone() end
  end
  return made
end

-- Moves a list of averages of parameters, in place.
function follow.list(values, parameters)
  for i, value in ipairs(values) do values[i] = beside(value, parameters[i]) end
end

return follow
