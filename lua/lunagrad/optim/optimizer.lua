-- The base class of all optimizers: parameter groups with their settings, a state for each parameter, and the step.
-- A setting is a number, a function or a handle of lg.run.live; functions and handles are called at every step.
local core = require "lunagrad.core"

local fail = core._fail
local is_tensor = core.is_tensor

local Optimizer = {__name = "Optimizer"}
Optimizer.__index = Optimizer

-- Makes a class of optimizers. `read` is a reader of arguments (lunagrad.arguments) with `params` among them; every other
-- name is a setting, which each group may override.
function Optimizer.class(name, read)
  local class = {__name = name, __index = nil, __tostring = Optimizer.__tostring}
  class.__index = class
  return setmetatable(class, {
    __index = Optimizer,
    __call = function(_, ...)
      local defaults = read(...)
      local parameters = defaults.params
      defaults.params = nil
      local names = {}
      for setting in pairs(defaults) do names[#names + 1] = setting end
      table.sort(names)
      local self = setmetatable({
        defaults = defaults, names = names, param_groups = {}, state = {}, settings = {}, lists = {},
      }, class)
      self:add_groups(parameters)
      return self
    end,
  })
end

-- `parameters` is a list of tensors, or a list of groups {params = {…}, lr = …}.
function Optimizer:add_groups(parameters)
  if is_tensor(parameters) then parameters = {parameters} end
  if type(parameters) ~= "table" or getmetatable(parameters) then
    fail(("%s: a list of parameters expected, as model:parameters() gives"):format(self.__name))
  end
  if #parameters == 0 then fail(("%s: the list of parameters is empty"):format(self.__name)) end
  if is_tensor(parameters[1]) then
    self:add_param_group {params = parameters}
  else
    for _, group in ipairs(parameters) do self:add_param_group(group) end
  end
end

-- Checks settings that must not be negative. A setting that is a function is checked when it is called.
local function check_sign(self, settings)
  for _, name in ipairs {"lr", "eps", "weight_decay", "momentum"} do
    local value = settings[name]
    if type(value) == "number" and not (value >= 0) then
      fail(("%s: %s must not be negative (got %g)"):format(self.__name, name, value))
    end
  end
  local betas = settings.betas
  if betas ~= nil and (type(betas) ~= "table" or #betas ~= 2) then
    fail(("%s: betas is a list of two, as {0.9, 0.999}"):format(self.__name))
  end
  for i, beta in ipairs(betas or {}) do
    if type(beta) == "number" and not (beta >= 0 and beta < 1) then
      fail(("%s: betas[%d] must lie in [0, 1) (got %g)"):format(self.__name, i, beta))
    end
  end
end

-- Adds a group {params = {…}, …}. `initial_lr` is set by schedules: the rate that they started from.
function Optimizer:add_param_group(given)
  local group = {}
  for name, default in pairs(self.defaults) do group[name] = default end
  for name, value in pairs(given) do
    if name ~= "params" and name ~= "initial_lr" and self.defaults[name] == nil then
      fail(("%s: unknown setting '%s' in a group of parameters"):format(self.__name, tostring(name)))
    end
    group[name] = value
  end
  check_sign(self, group)
  group.params = is_tensor(given.params) and {given.params} or given.params
  if type(group.params) ~= "table" then fail(("%s: a group without params"):format(self.__name)) end
  for i, parameter in ipairs(group.params) do
    if not is_tensor(parameter) then
      fail(("%s: parameter %d is a %s, not a tensor"):format(self.__name, i, type(parameter)))
    elseif not parameter.is_leaf then
      fail(("%s: parameter %d is the result of an op; only leaves can be optimized"):format(self.__name, i))
    end
    if self:has(parameter) then
      fail(("%s: parameter %d appears in two groups"):format(self.__name, i))
    end
    self.state[parameter] = {step = 0}
  end
  self.param_groups[#self.param_groups + 1] = group
  self.settings[group] = {values = {}, known = {}}
end

function Optimizer:has(parameter)
  return self.state[parameter] ~= nil
end

local function is_callable(value)
  return type(value) == "function" or type(value) == "userdata" or type(value) == "table" and getmetatable(value)
end

-- The current value of a setting.
local function current(value, name, optimizer)
  if is_callable(value) then value = value() end
  local kind = type(value)
  if kind == "table" then
    local list = {}
    for i = 1, #value do list[i] = current(value[i], name, optimizer) end
    return list
  end
  if kind ~= "number" and kind ~= "boolean" then
    fail(("%s: %s is a %s, not a number"):format(optimizer.__name, name, kind))
  end
  return value
end

local function is_plain(value)
  local kind = type(value)
  if kind ~= "table" or getmetatable(value) then return kind == "number" or kind == "boolean" end
  for i = 1, #value do
    if type(value[i]) ~= "number" then return false end
  end
  return true
end

-- The current values of all settings of a group. Each group keeps one table; only settings that changed since the last
-- step, and functions and handles, are read again.
function Optimizer:settings_of(group)
  local kept, names = self.settings[group], self.names
  local settings, known = kept.values, kept.known
  for i = 1, #names do
    local name = names[i]
    local value = group[name]
    if value ~= known[name] or value == nil then
      if is_plain(value) then
        settings[name], known[name] = value, value
      else
        settings[name], known[name] = current(value, name, self), nil
      end
      if settings.weight_decay and settings.weight_decay < 0 then check_sign(self, settings) end
    end
  end
  return settings
end

-- The parameters of a group that have a gradient, one list for each step count (one list, unless some parameters had no
-- gradient before). The lists are kept until a parameter gains or loses its gradient.
local function due(self, group)
  local known = self.lists[group]
  if known and known.count == #group.params and core._same_grads(known.all) then return known end
  local lists, by_step = {count = #group.params, all = core._step_list(group.params)}, {}
  core._same_grads(lists.all)
  for _, parameter in ipairs(group.params) do
    if parameter.grad then
      local state = self.state[parameter]
      local list = by_step[state.step]
      if not list then
        list = {params = {}, states = {}}
        by_step[state.step] = list
        lists[#lists + 1] = list
      end
      local n = #list.params + 1
      list.params[n], list.states[n] = parameter, state
    end
  end
  self.lists[group] = lists
  return lists
end

-- Called when gradients are final and weights not yet changed: lg.run.watch reads both here.
function Optimizer:about_to_update()
  local look = core.run and core.run._before_update
  if look then look(self) end
end

-- Updates every parameter that has a gradient. A class defines update(settings, list), which updates list.params with
-- list.states; list.step is the number of the update, from 1. A closure is called first, and its loss returned.
function Optimizer:step(closure)
  local loss
  if closure then
    local _ <close> = core.enable_grad()
    loss = closure()
  end
  self:about_to_update()
  for _, group in ipairs(self.param_groups) do
    local settings, lists = self:settings_of(group), due(self, group)
    for i = 1, #lists do
      local list = lists[i]
      local states = list.states
      list.step = states[1].step + 1
      self:update(settings, list)
      for k = 1, #states do states[k].step = list.step end
    end
  end
  if core.run then core.run._count_step() end
  return loss
end

-- The state tensors `name` of all parameters, created on first use and filled with `start` (default 0).
local function column(list, name, start)
  local tensors = {}
  for i, state in ipairs(list.states) do
    state[name] = state[name] or core.full_like(list.params[i]:detach(), start or 0)
    tensors[i] = state[name]
  end
  return tensors
end

-- One step of a rule of runtime/optimizer/optimizers.def over the parameters of a list. The rule's numbers are fields of
-- `settings`, which an optimizer's update() completes with those that are no settings of the user; `step` is added here.
-- A state tensor is filled with starts[name] (0 when left out) at the first step that needs it.
function Optimizer.fused(list, rule, settings, starts)
  settings.step = list.step
  local names, mask = core._fused_step(list.handle, rule, settings)
  if not names then return end
  local columns = {}
  for i, name in ipairs(names) do columns[i] = column(list, name, starts and starts[name]) end
  list.handle = core._step_list(list.params, mask, table.unpack(columns))
  core._fused_step(list.handle, rule, settings)
end

-- Sets the gradients to nil, or to zero with {set_to_none = false}.
function Optimizer:zero_grad(options)
  local zero = options and options.set_to_none == false
  for _, group in ipairs(self.param_groups) do
    for _, parameter in ipairs(group.params) do
      if not zero then
        parameter.grad = nil
      elseif parameter.grad then
        parameter.grad:zero_()
      end
    end
  end
end

-- PyTorch's layout: parameters are numbered from 0 across all groups. The tensors are shared with the optimizer.
function Optimizer:state_dict()
  local states, groups, number = {}, {}, 0
  for g, group in ipairs(self.param_groups) do
    groups[g] = {params = {}}
    for name in pairs(self.defaults) do groups[g][name] = current(group[name], name, self) end
    groups[g].initial_lr = group.initial_lr
    for i, parameter in ipairs(group.params) do
      local state = self.state[parameter]
      if state.step > 0 then
        states[number] = {}
        for name, value in pairs(state) do states[number][name] = value end
      end
      groups[g].params[i] = number
      number = number + 1
    end
  end
  return {state = states, param_groups = groups}
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- Checks that every saved state belongs to a parameter and has its shape.
local function check_states(states, by_number)
  for _, number in ipairs(sorted_keys(states)) do
    local parameter = by_number[number]
    if not parameter then fail(("load_state_dict: no parameter has the number %s"):format(number)) end
    local wanted = table.concat(parameter:size(), ", ")
    for _, name in ipairs(sorted_keys(states[number])) do
      local value = states[number][name]
      local shape = is_tensor(value) and value:dim() > 0 and table.concat(value:size(), ", ") or wanted
      if shape ~= wanted then
        fail(("load_state_dict: %s of parameter %d has shape [%s], the parameter [%s]"):format(
          name, number, shape, wanted))
      end
    end
  end
end

-- A copy of a saved value on the parameter's device; lists (as in LBFGS) are copied item by item.
local function adopted(value, parameter)
  if is_tensor(value) then return value:detach():to(parameter:device()):clone() end
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = adopted(item, parameter) end
  return list
end

-- Loads a state dict. Settings that are functions or handles are kept.
function Optimizer:load_state_dict(saved)
  if #saved.param_groups ~= #self.param_groups then
    fail(("load_state_dict: %d groups of parameters in %s, %d in the state"):format(
      #self.param_groups, self.__name, #saved.param_groups))
  end
  local by_number = {}
  for g, group in ipairs(self.param_groups) do
    local numbers = saved.param_groups[g].params
    if #numbers ~= #group.params then
      fail(("load_state_dict: group %d has %d parameters in %s, %d in the state"):format(
        g, #group.params, self.__name, #numbers))
    end
    for i, parameter in ipairs(group.params) do by_number[numbers[i]] = parameter end
  end
  if not self.free_state then check_states(saved.state, by_number) end
  self.lists = {}
  for number, state in pairs(saved.state) do
    local parameter, loaded = by_number[number], {}
    for name, value in pairs(state) do
      if name == "step" then
        loaded.step = math.tointeger(is_tensor(value) and value:item() or value)
      else
        loaded[name] = adopted(value, parameter)
      end
    end
    self.state[parameter] = loaded
  end
  for g, group in ipairs(self.param_groups) do
    for name in pairs(self.defaults) do
      local value = saved.param_groups[g][name]
      if value ~= nil and not is_callable(group[name]) then group[name] = value end
    end
    if saved.param_groups[g].initial_lr then group.initial_lr = saved.param_groups[g].initial_lr end
  end
end

function Optimizer:__tostring()
  local lines = {}
  for g, group in ipairs(self.param_groups) do
    local names = {}
    for name in pairs(self.defaults) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do
      local value = current(group[name], name, self)
      if type(value) == "table" then value = "{" .. table.concat(value, ", ") .. "}" end
      names[i] = ("%s = %s"):format(name, tostring(value))
    end
    lines[g] = ("  group %d: %d parameters, %s"):format(g, #group.params, table.concat(names, ", "))
  end
  return ("%s(\n%s\n)"):format(self.__name, table.concat(lines, "\n"))
end

return Optimizer
