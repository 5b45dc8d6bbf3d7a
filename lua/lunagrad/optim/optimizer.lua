-- What all optimizers share: groups of parameters with their settings, state for each parameter, and the step.
-- A setting may be a number, a function or a handle of lg.run.live; the last two are asked at every step.
local core = require "lunagrad.core"

local fail = core._fail
local is_tensor = core.is_tensor

local Optimizer = {__name = "Optimizer"}
Optimizer.__index = Optimizer

-- A class of optimizers. `read` takes the arguments (lunagrad.arguments), `parameters` among them; every other name is
-- a setting that a group may have for itself.
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

-- Settings that make no sense below 0. What is a function is looked at when it is asked.
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

-- A schedule notes the rate that it started from as initial_lr.
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

-- A setting's value now.
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

-- All settings of a group now. The table is the group's for good; only what is another value than at the last step, or
-- is asked anew each time, is looked at again.
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

-- The parameters of a group that have a gradient, in lists of equal step count (all, unless some had none before). They
-- are collected again only when a gradient came or went.
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

-- Gradients are there, weights are as they were: lg.run.watch looks at them here.
function Optimizer:about_to_update()
  local look = core.run and core.run._before_update
  if look then look(self) end
end

-- One update of every parameter that has a gradient. A class gives update(settings, list): list.params and list.states
-- belong to update number list.step, which counts from 1. A closure is called first, and its loss returned.
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

-- The state tensors called `name`, filled with `start` (0 when left out) when they are first asked for.
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

-- Gradients become nil; with {set_to_none = false} they become zero.
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

-- As PyTorch's: parameters are numbered from 0 through all groups. The tensors are shared with the optimizer.
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

-- Every saved state must belong to a parameter and have its shape.
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

-- A saved value as a parameter's own; lists, as LBFGS has them, item by item.
local function adopted(value, parameter)
  if is_tensor(value) then return value:detach():to(parameter:device()):clone() end
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = adopted(item, parameter) end
  return list
end

-- Settings that are functions or handles stay what they are.
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
