-- Gradients that no step of an optimizer has used yet: a resumed run that accumulates gradients over several steps
-- continues with them. For other gradients a checkpoint notes only that they exist, since a parameter with a zero
-- gradient is updated, and a parameter without a gradient is not.
local core = require "lunagrad.core"
local follow = require "lunagrad.optim.follow"
local hand_over = require "lunagrad.hand_over"
local shards = require "lunagrad.shards"
local trackers = require "lunagrad.trackers"
local is_module = require("lunagrad.nn.tree").is_module

local is_tensor = core.is_tensor
local pending = {}

-- Calls visit(optimizer, path) for every registered optimizer.
local function each(objects, visit)
  for name, object in pairs(objects) do
    hand_over.walk(object, name, function(value, path)
      if trackers.is(value) and rawget(value, "param_groups") then visit(value, path) end
    end)
  end
end

-- number of the parameter -> its gradient, or 0 if the gradient was used already or has only zeros.
local function gradients_of(optimizer)
  local list, number = {}, 0
  for _, group in ipairs(optimizer.param_groups) do
    local known = optimizer.lists[group]
    local used = known and core._used_gradients(known.all) or {}
    for i, parameter in ipairs(group.params) do
      number = number + 1
      local gradient = not used[i] and parameter.grad
      if used[i] or gradient and gradient:detach():count_nonzero():item() == 0 then
        list[number] = 0
      elseif gradient then
        list[number] = shards.state(parameter, gradient:detach(), "gradient")
      end
    end
  end
  return list
end

-- Whether the ranks have different gradients, which model:no_sync has added.
local function differ_by_rank(objects)
  local found = false
  for name, object in pairs(core._world.size() > 1 and objects or {}) do
    hand_over.walk(object, name, function(value)
      local parallel = is_module(value) and rawget(value, "_data_parallel")
      found = found or parallel and parallel.unshared
    end)
  end
  return found
end

-- Returns path of each registered optimizer -> gradients of its parameters; and whether they were left out because they
-- differ between ranks.
function pending.gradients(objects)
  local found, differ = {}, differ_by_rank(objects)
  each(objects, function(optimizer, path)
    local list = gradients_of(optimizer)
    for number in pairs(differ and list or {}) do list[number] = 0 end
    if next(list) then found[path] = list end
  end)
  return next(found) and found or nil, differ
end

-- Gives the parameters these gradients. `reload` knows the parameters' numbers in the script before.
function pending.put_back(given, objects, reload)
  each(objects, function(optimizer, path)
    local list, number = given[path], 0
    local before = list and reload and reload:numbers(path)
    for _, group in ipairs(list and optimizer.param_groups or {}) do
      for _, parameter in ipairs(group.params) do
        number = number + 1
        local value = list[before and (before[number] or 0) or number]
        if value == 0 then
          parameter.grad = core.zeros_like(parameter:detach())
        elseif is_tensor(value) then
          value = shards.fit(value, parameter)
          if table.concat(value:size(), " ") == table.concat(parameter:size(), " ") then
            parameter.grad = follow.copy(value, parameter)
          end
        end
      end
    end
  end)
end

return pending
