-- Updates optimizers and averages after a change of a model's structure. Removed parameters leave them, with their
-- state. New parameters join the group of the parameters that they replace, or else of their neighbours, and get its
-- settings.
local core = require "lunagrad.core"
local holders = require "lunagrad.optim.holders"
local tree = require "lunagrad.nn.tree"

local members = {}

-- The set of all parameters in the models.
local function still_there(models)
  local there = {}
  for _, model in ipairs(models) do
    for _, entry in ipairs(tree.collect(model, "parameter")) do there[entry.tensor] = true end
  end
  return there
end

-- For a holder's list: old parameter -> the new parameters that replace it, or follow it if it stays. `old` and `new`
-- are lists of {path =, tensor =}, with paths in the replaced module and in the new module.
local function arrange(list, old, new, neighbours)
  local held, by_path, first = {}, {}, nil
  for _, parameter in ipairs(list) do held[parameter] = true end
  for _, entry in ipairs(old) do
    if held[entry.tensor] then
      by_path[entry.path] = entry.tensor
      first = first or entry.tensor
    end
  end
  for _, parameter in ipairs(neighbours) do first = first or held[parameter] and parameter or nil end
  local behind = {}
  for _, entry in ipairs(new) do
    local anchor = by_path[entry.path] or first
    if anchor and not held[entry.tensor] then
      behind[anchor] = behind[anchor] or {}
      table.insert(behind[anchor], entry.tensor)
    end
  end
  return behind
end

-- The list without the removed parameters and with the new ones; nil if nothing changes. The result is a new table,
-- since others may share the old one.
local function rewritten(list, gone, behind)
  local now, changed = {}, false
  for _, parameter in ipairs(list) do
    if not gone[parameter] then now[#now + 1] = parameter end
    for _, new in ipairs(behind[parameter] or {}) do now[#now + 1] = new end
    changed = changed or gone[parameter] or behind[parameter] ~= nil
  end
  return changed and now or nil
end

-- Sets the names of a group's parameters: their names in the model now, or else their names before.
local function rename(group, before, model)
  local names, known = {}, {}
  for i, parameter in ipairs(before) do known[parameter] = group.param_names[i] end
  for _, entry in ipairs(model and tree.collect(model, "parameter", true) or {}) do known[entry.tensor] = entry.path end
  for i, parameter in ipairs(group.params) do names[i] = known[parameter] end
  group.param_names = names
end

local function follow_optimizer(optimizer, gone, change)
  local all = {}
  for _, group in ipairs(optimizer.param_groups) do table.move(group.params, 1, #group.params, #all + 1, all) end
  local behind = arrange(all, change.old, change.new, change.neighbours)
  local changed = false
  for _, group in ipairs(optimizer.param_groups) do
    local before, now = group.params, rewritten(group.params, gone, behind)
    if now then
      changed = true
      group.params = now
      if group.param_names then rename(group, before, change.model) end
    end
  end
  if not changed then return end
  for parameter in pairs(gone) do optimizer.state[parameter] = nil end
  for _, group in ipairs(optimizer.param_groups) do
    for _, parameter in ipairs(group.params) do
      -- LBFGS has one state for all parameters together, which is invalid for other parameters.
      if optimizer.free_state or not optimizer.state[parameter] then optimizer.state[parameter] = {step = 0} end
    end
  end
end

local function follow_average(average, gone, change)
  local behind = arrange(average.params, change.old, change.new, change.neighbours)
  local now = rewritten(average.params, gone, behind)
  if not now then return end
  local known, averages = {}, {}
  for i, parameter in ipairs(average.params) do known[parameter] = average.averages[i] end
  for i, parameter in ipairs(now) do averages[i] = known[parameter] or parameter:detach():clone() end
  average.params, average.averages = now, averages
end

-- change = {models =, model =, old =, new =, neighbours =}, after a change of the structure: `models` are all models of
-- the script, `model` the changed one, `old` and `new` the parameters of the removed and of the new module, as {path =,
-- tensor =}.
function members.follow(change)
  local there, gone = still_there(change.models), {}
  for _, entry in ipairs(change.old) do
    if not there[entry.tensor] then gone[entry.tensor] = true end
  end
  local _ <close> = core.no_grad()
  for _, holder in ipairs(holders.all()) do
    local follow = rawget(holder, "param_groups") and follow_optimizer or follow_average
    follow(holder, gone, change)
  end
end

return members
