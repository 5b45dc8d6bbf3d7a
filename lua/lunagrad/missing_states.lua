-- Finds objects that a run changes but that no state of lg.run.state holds: a resumed run would start them again, and
-- differ.
local core = require "lunagrad.core"
local trackers = require "lunagrad.trackers"
local tree = require "lunagrad.nn.tree"

local is_tensor = core.is_tensor

local function class_of(object)
  local class = getmetatable(object)
  return type(class) == "table" and rawget(class, "__name") or nil
end

-- Everything that the registered objects hold: the optimizer in a trainer object of the script, the schedulers in
-- SequentialLR. A schedule does not hold its optimizer, which has a state of its own. A module holds only its tensors.
local function held_by(objects)
  local held = {}
  local function hold(value)
    if is_tensor(value) then held[value] = true end
    if type(value) ~= "table" or held[value] then return end
    held[value] = true
    if tree.is_module(value) then
      for _, entry in ipairs(tree.collect(value, "any")) do held[entry.tensor] = true end
    elseif class_of(value) ~= "DataLoader" then
      local over = trackers.is(value) and rawget(value, "optimizer")
      for _, item in next, value do
        if item ~= over then hold(item) end
      end
    end
  end
  for _, object in pairs(objects) do hold(object) end
  return held
end

-- The parameters that an optimizer or an average works on, as a list; nil for other objects.
local function parameters_of(object)
  if not rawget(object, "param_groups") then return rawget(object, "params") end
  local list = {}
  for _, group in ipairs(object.param_groups) do table.move(group.params, 1, #group.params, #list + 1, list) end
  return list
end

-- Whether an object affects the registered states. An optimizer of other parameters, as in an inner loop, does not.
local function matters(object, held)
  local optimizer = rawget(object, "optimizer")
  if optimizer then return held[optimizer] or matters(optimizer, held) end
  local list = parameters_of(object)
  for _, parameter in ipairs(list or {}) do
    if held[parameter] then return true end
  end
  return list == nil
end

local function lacking(held)
  local found, list = {}, {}
  for object in pairs(trackers.all()) do
    local optimizer = rawget(object, "optimizer")
    if object:_in_use() then
      if not held[object] and matters(object, held) then found[object] = true end
      -- A schedule continues from its optimizer's rate, so the optimizer is missing too.
      if held[object] and optimizer and not held[optimizer] then found[optimizer] = true end
    end
  end
  for object in pairs(found) do list[#list + 1] = object end
  return list
end

-- missing_states(objects) returns the objects that no state holds, sorted by name: {name =, loader =}. Objects that are
-- not in use any more do not count.
return function(objects)
  local registered, any = {}, false
  for _, object in pairs(objects) do registered[object] = true end
  for object in pairs(trackers.all()) do
    local optimizer = rawget(object, "optimizer")
    any = any or not (registered[object] and (not optimizer or registered[optimizer])) and object:_in_use()
  end
  if not any then return {} end
  local held = held_by(objects)
  if #lacking(held) == 0 then return {} end
  collectgarbage()
  local texts = {}
  for i, object in ipairs(lacking(held)) do
    local loader = class_of(object) == "DataLoader"
    texts[i] = {name = loader and tostring(object) or class_of(object), loader = loader}
  end
  table.sort(texts, function(a, b) return a.name < b.name end)
  return texts
end
