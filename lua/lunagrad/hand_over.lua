-- At a reload, transfers the states of the old script to the changed script. Tensors are matched by path and shape, an
-- optimizer's state by the paths of its parameters. A setting (a number, string or boolean) keeps its value, unless the
-- changed script builds it with a different one. States without a match are initialized again, with a warning.
local core = require "lunagrad.core"

local is_tensor = core.is_tensor
local is_module = require("lunagrad.nn.tree").is_module
local is_plain = require("lunagrad.arguments").is_plain
local has = require("lunagrad.fields").has
local trackers = require "lunagrad.trackers"

local hand_over = {}
hand_over.__index = hand_over

local function shape_text(tensor) return "[" .. table.concat(tensor:size(), ", ") .. "]" end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

local function is_object(value) return type(value) == "table" and not is_plain(value) end

-- The parameters of an object whose state numbers them (an optimizer or an average), as a list; nil for other objects.
local function parameter_list(object)
  if not is_object(object) then return nil end
  local params, groups = rawget(object, "params"), rawget(object, "param_groups")
  if type(params) == "table" then return params end
  if type(groups) ~= "table" then return nil end
  local list = {}
  for _, group in ipairs(groups) do
    for _, parameter in ipairs(group.params) do list[#list + 1] = parameter end
  end
  return list
end

-- Calls visit(object, path) for `value` and, recursively, for the items of plain tables.
function hand_over.walk(value, path, visit)
  visit(value, path)
  if is_plain(value) then
    for key, item in pairs(value) do hand_over.walk(item, ("%s.%s"):format(path, key), visit) end
  end
end
local walk = hand_over.walk

-- For every registered object that numbers its parameters: path -> list of "path and shape" of its parameters, in order.
function hand_over.parameters(objects)
  local names, lists = {}, {}
  for name, object in pairs(objects) do
    walk(object, name, function(value, path)
      if is_tensor(value) then
        names[value] = path
      elseif is_module(value) then
        for inner, parameter in value:named_parameters() do names[parameter] = path .. "." .. inner end
      end
    end)
  end
  for name, object in pairs(objects) do
    walk(object, name, function(value, path)
      local list = parameter_list(value)
      if not list then return end
      lists[path] = {}
      for i, parameter in ipairs(list) do
        lists[path][i] = ("%s %s"):format(names[parameter] or "parameter " .. i, shape_text(parameter))
      end
    end)
  end
  return lists
end

local function equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not equal(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function copied(value)
  if is_tensor(value) then return value:clone() end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, item in pairs(value) do copy[key] = copied(item) end
  return copy
end

-- The value of a setting: the changed script's value if it differs from the old script's, else the current value.
local function settled(fresh, kept, before)
  if kept == nil or type(fresh) ~= type(kept) or (before ~= nil and not equal(fresh, before)) then return fresh end
  return copied(kept)
end

function hand_over.new(content)
  local waiting = {}
  for name in pairs(content.states) do waiting[name] = true end
  return setmetatable({
    content = content, step = content.step, waiting = waiting, kept = {}, new = {}, changed = {}, objects = {},
    loads = {}, new_rates = {}, back = {},
  }, hand_over)
end

function hand_over:warn(path, fact)
  self.changed[path:match("^[^.]*")] = true
  core.run._warn(("run.state: '%s' %s"):format(path, fact))
end

-- Loads a state, and notes the load, which the function returned by adopt() repeats.
function hand_over:load(object, state)
  object:load_state_dict(state)
  self.loads[#self.loads + 1] = function() object:load_state_dict(state) end
end

-- Loads a module's tensors, matched by path and shape.
function hand_over:module(object, kept, path)
  local state = object:state_dict()
  for _, name in ipairs(sorted_keys(state)) do
    local mine, old = state[name], kept[name]
    if not is_tensor(old) then
      self:warn(path, ("%s is new: %s"):format(name, is_tensor(mine) and shape_text(mine) or tostring(mine)))
    elseif is_tensor(mine) and shape_text(mine) ~= shape_text(old) then
      self:warn(path, ("%s: %s was %s; starts anew"):format(name, shape_text(mine), shape_text(old)))
    else
      state[name] = old
    end
  end
  for _, name in ipairs(sorted_keys(kept)) do
    if state[name] == nil then self:warn(path, ("%s is dropped"):format(name)) end
  end
  self:load(object, state)
end

-- Returns the old number of each parameter, matched by path and shape; the parameters' names; and whether all numbers
-- are unchanged. A parameter whose model is registered later, or not at all, has no path yet: it keeps its number.
function hand_over:numbers(path)
  local before, now = self.content.parameters[path] or {}, hand_over.parameters(self.objects)[path]
  local old, number = {}, {}
  for i, name in ipairs(before) do old[name] = i end
  local same = #before == #now
  for i, name in ipairs(now) do
    local shape = name:match "^parameter %d+ (%[.*)"
    local at_its_place = shape and before[i] and before[i]:sub(-#shape) == shape
    number[i] = old[name] or at_its_place and i or nil
    same = same and number[i] == i
  end
  return number, now, same
end

function hand_over:optimizer(object, kept, built, path)
  local state = object:state_dict()
  if #state.param_groups == #kept.param_groups then
    for g, group in ipairs(state.param_groups) do
      local old, before = kept.param_groups[g], built.param_groups and built.param_groups[g] or {}
      local rate = settled(group.lr, old.lr, before.lr)
      if equal(rate, old.lr) then group.initial_lr = old.initial_lr else self.new_rates[object] = true end
      for name, value in pairs(group) do
        if name ~= "params" and name ~= "initial_lr" and name ~= "param_names" then group[name] = settled(value, old[name], before[name]) end
      end
    end
  else
    self:warn(path, ("has %d groups of parameters, had %d; their settings start anew"):format(
      #state.param_groups, #kept.param_groups))
  end
  local number, names, same = self:numbers(path)
  if object.free_state and not same then
    self:warn(path, "starts anew: its state belongs to all parameters, and they changed")
  else
    local lost = {}
    for i, name in ipairs(names) do
      state.state[i - 1] = number[i] and kept.state[number[i] - 1]
      if not number[i] then lost[#lost + 1] = name end
    end
    if #lost > 0 and next(kept.state) then self:warn(path, ("starts anew for %s"):format(table.concat(lost, ", "))) end
  end
  self:load(object, state)
  self.back[object] = true
end

-- The state of a schedule, setting by setting. Fields that its steps change are kept. The initial rates are kept too if
-- the optimizer's state was loaded, unless the script now sets other rates.
function hand_over:schedule(object, kept, built)
  local state, rates_kept = copied(kept), self.back[object.optimizer] and not self.new_rates[object.optimizer]
  for name, value in pairs(object:state_dict()) do
    if name == "_schedulers" then
      for i, one in ipairs(object.schedulers) do
        local theirs, before = type(kept[name]) == "table" and kept[name][i], built[name] and built[name][i]
        if type(theirs) == "table" then state[name][i] = self:schedule(one, theirs, before or {}) end
      end
    elseif not (object._progress[name] and kept[name] ~= nil) and not (name == "base_lrs" and rates_kept) then
      state[name] = settled(value, kept[name], built[name])
    end
  end
  return state
end

-- Loads schedules setting by setting and other objects as a whole. Returns false if the object keeps its initial state.
function hand_over:object(object, kept, built, path)
  if is_module(object) then return self:module(object, kept, path) end
  if rawget(object, "param_groups") and rawget(object, "defaults") then return self:optimizer(object, kept, built, path) end
  if parameter_list(object) then
    local _, _, same = self:numbers(path)
    if not same then
      self:warn(path, "starts anew: its parameters changed")
      return false
    end
  end
  local is_schedule = trackers.is(object) and has(object, "get_last_lr")
  local state = is_schedule and self:schedule(object, kept, built) or copied(kept)
  local ok, message = pcall(self.load, self, object, state)
  if not ok then self:warn(path, "starts anew: " .. tostring(message)) end
  return ok
end

function hand_over:put_back(object, kept, built, path)
  built = type(built) == "table" and built or {}
  if is_tensor(object) then
    if not is_tensor(kept) then
      self:warn(path, ("was a %s; starts anew"):format(type(kept)))
    elseif shape_text(object) ~= shape_text(kept) then
      self:warn(path, ("%s was %s; starts anew"):format(shape_text(object), shape_text(kept)))
    else
      self:load({load_state_dict = function()
        local _ <close> = core.no_grad()
        object:copy_(kept)
      end})
    end
  elseif type(kept) ~= "table" then
    self:warn(path, ("was a %s; starts anew"):format(is_tensor(kept) and "Tensor" or type(kept)))
  elseif is_object(object) or type(object) == "userdata" then
    self:object(object, kept, built, path)
  else
    for _, key in ipairs(sorted_keys(object)) do
      local inner, mine, old = ("%s.%s"):format(path, key), object[key], kept[key]
      if old == nil then
        self:warn(inner, "is new")
      elseif type(mine) == "table" or type(mine) == "userdata" then
        self:put_back(mine, old, built[key], inner)
      elseif type(mine) == type(old) then
        object[key] = settled(mine, old, built[key])
      else
        self:warn(inner, ("was a %s; starts anew"):format(is_tensor(old) and "Tensor" or type(old)))
      end
    end
    -- Keep entries that were added during the run; drop those that the old script built and the new one does not.
    for _, key in ipairs(sorted_keys(kept)) do
      if object[key] ~= nil then goto next end
      if built[key] == nil then object[key] = copied(kept[key]) else self:warn(("%s.%s"):format(path, key), "is dropped") end
      ::next::
    end
  end
end

-- Returns the object that the changed script built, with the kept state loaded, and a function that loads this state
-- once more; no function if no state was loaded.
function hand_over:adopt(name, object)
  local kept = self.content.states[name]
  self.objects[name] = object
  self.waiting[name] = nil
  if kept == nil then
    self.new[#self.new + 1] = name
    return object
  end
  self.kept[#self.kept + 1] = name
  local before = self.content.built[name]
  if type(object) ~= "table" and type(object) ~= "userdata" then return settled(object, kept, before) end
  self.loads = {}
  self:put_back(object, kept, before, name)
  local loads = self.loads
  if #loads == 0 then return object end
  return object, function()
    for _, load in ipairs(loads) do load() end
  end
end

-- Called once, when the script has registered everything.
function hand_over:report()
  if self.reported then return end
  self.reported = true
  local parts = {}
  local function add(verb, names)
    if #names > 0 then parts[#parts + 1] = verb .. " " .. table.concat(names, ", ") end
  end
  local whole, partly = {}, {}
  for _, name in ipairs(self.kept) do
    local list = self.changed[name] and partly or whole
    list[#list + 1] = name
  end
  add("kept", whole)
  add("kept in part", partly)
  add("new", self.new)
  add("dropped", sorted_keys(self.waiting))
  core.run._tell_reloaded(table.concat(parts, "; "))
end

return hand_over
