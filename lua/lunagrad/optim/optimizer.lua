-- The base class of all optimizers: parameter groups with their settings, a state for each parameter, and the step. A
-- setting is a number, a function or a handle of lg.run.live; functions and handles are called at every step.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local closed = require "lunagrad.closed"
local follow = require "lunagrad.optim.follow"
local holders = require "lunagrad.optim.holders"
local live = require "lunagrad.live"
local Module = require "lunagrad.nn.module"
local nearest = require "lunagrad.nearest"
local replacement_of = require("lunagrad.nn.tree").replacement_of
local shards = require "lunagrad.shards"
local trackers = require "lunagrad.trackers"
local zero_grad = require "lunagrad.nn.zero_grad"

local fail = core._fail
local is_tensor = core.is_tensor

-- `texts` names the string settings of a class, `own_shapes` the states whose shape differs from the parameter's.
-- `rule` names the row of runtime/optimizer/optimizers.def whose states the class keeps; further_states(parameter)
-- names more states, or all states of an optimizer without a rule.
local Optimizer = {__name = "Optimizer", free_state = false, texts = {}, own_shapes = {}, rule = false, further_states = false}
Optimizer.__index = Optimizer

-- PyTorch's options that choose an implementation. Here a step is always one fused op.
local ignored = {foreach = true, fused = true, capturable = true, differentiable = true}

-- Returns the arguments without PyTorch's implementation options.
local function without_ignored(name, ...)
  local given = table.pack(...)
  local options = given[given.n]
  if not arguments.is_options(options) then return ... end
  if options.differentiable then
    fail(("%s: a step is not differentiable; write the update with ops, as p - lr * lg.grad(loss, p, {create_graph = true})"):format(
      name))
  end
  local kept = {}
  for key, value in pairs(options) do
    if not ignored[key] then kept[key] = value end
  end
  if next(kept) == nil then given.n = given.n - 1 else given[given.n] = kept end
  return table.unpack(given, 1, given.n)
end

-- The list of an optimizer's groups, counted from 1.
local function group_list()
  return setmetatable({}, {__index = function(_, position)
    if position == 0 then fail("param_groups counts from 1; write optimizer.param_groups[1]") end
  end})
end

-- Error unless the method was called with a colon.
local function own(self, method, arguments_text)
  if type(self) ~= "table" or type(rawget(self, "param_groups")) ~= "table" then
    fail(("%s is called with a colon: optimizer:%s(%s)"):format(method, method, arguments_text or ""))
  end
end

-- The help for an unknown field of an optimizer that is a setting of its groups.
local function advice(self, name)
  if rawget(self, "defaults")[name] ~= nil then
    return ("%s is a setting of a group of parameters; write optimizer.param_groups[1].%s"):format(name, name)
  end
end

-- Makes a class of optimizers. `read` is a reader of arguments (lunagrad.arguments) with `params` among them; every other
-- name is a setting, which each group may override.
function Optimizer.class(name, read)
  local class = {__name = name, __tostring = Optimizer.__tostring}
  closed.guard(class, advice)
  return setmetatable(class, {
    __index = Optimizer,
    __call = function(_, ...)
      local defaults = read(without_ignored(name, ...))
      local parameters = defaults.params
      defaults.params = nil
      local names = {}
      for setting in pairs(defaults) do names[#names + 1] = setting end
      table.sort(names)
      local self = setmetatable({
        defaults = defaults, names = names, param_groups = group_list(), state = {}, settings = {}, lists = {}, hooks = {},
      }, class)
      self:add_groups(parameters)
      return holders.add(trackers.add(self))
    end,
  })
end

function Optimizer.is_class(value)
  local meta = getmetatable(value)
  return meta ~= nil and meta.__index == Optimizer
end

-- Returns the parameters and their names, from model:named_parameters() or from a list of pairs {name, parameter}.
local function with_names(given)
  local params, names = {}, {}
  if given == Module.parameters or given == Module.named_parameters then
    fail("a method without its call is no list of parameters; write model:parameters()")
  elseif type(given) == "function" then
    for name, parameter in given do params[#params + 1], names[#names + 1] = parameter, name end
  else
    for i, pair in ipairs(given) do names[i], params[i] = pair[1], pair[2] end
  end
  return params, names
end

local function is_named(list)
  local first = type(list) == "table" and not is_tensor(list) and not getmetatable(list) and list[1]
  return type(list) == "function" or type(first) == "table" and not is_tensor(first) and type(first[1]) == "string"
end

-- `parameters` is a list of tensors, model:named_parameters(), or a list of groups {params = {…}, lr = …}.
function Optimizer:add_groups(parameters)
  if is_tensor(parameters) then parameters = {parameters} end
  if is_named(parameters) then
    local params, names = with_names(parameters)
    if #params == 0 then fail(("%s: the list of parameters is empty; layers in a plain table belong into nn.ModuleList"):format(self.__name)) end
    return self:add_param_group {params = params, param_names = names}
  end
  if type(parameters) ~= "table" or getmetatable(parameters) then
    fail(("%s: a list of parameters expected, as model:parameters() gives"):format(self.__name))
  end
  if #parameters == 0 then fail(("%s: the list of parameters is empty; layers in a plain table belong into nn.ModuleList"):format(self.__name)) end
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

-- The fields of a group besides its parameters and settings: its name, the names of its parameters, and the rate from
-- which a schedule started.
local extras = {params = true, name = true, param_names = true, initial_lr = true}

-- A group is a table with its own settings; setting another field is an error.
local function guard_group(self, group)
  return setmetatable(group, {__newindex = function(_, name, value)
    if extras[name] or self.defaults[name] ~= nil then return rawset(group, name, value) end
    local known = table.move(self.names, 1, #self.names, 2, {"name"})
    local near = nearest.of(name, known)
    fail(("%s: a group of parameters has no setting '%s'%s; rawset(group, name, value) adds a field of your own"):format(
      self.__name, tostring(name), near and ("; did you mean '%s'?"):format(near) or ""))
  end})
end

-- Adds a group {params = {…}, …}.
function Optimizer:add_param_group(given)
  own(self, "add_param_group", "{params = {…}}")
  if type(given) ~= "table" or is_tensor(given) then
    fail(("%s: a group {params = {…}} expected (got %s)"):format(self.__name, is_tensor(given) and "a tensor" or type(given)))
  end
  local group = {}
  for name, default in pairs(self.defaults) do group[name] = default end
  for name, value in pairs(given) do
    if not extras[name] and self.defaults[name] == nil then
      if type(name) == "number" then
        fail(("%s: a group is {params = {…}, lr = …}; lists of parameters are joined by table.insert"):format(self.__name))
      end
      fail(("%s: unknown setting '%s' in a group of parameters (known: %s)"):format(self.__name, tostring(name),
        table.concat(self.names, ", ")))
    end
    group[name] = value
  end
  check_sign(self, group)
  group.params = is_tensor(given.params) and {given.params} or given.params
  if is_named(group.params) then group.params, group.param_names = with_names(group.params) end
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
  self.param_groups[#self.param_groups + 1] = guard_group(self, group)
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
  elseif kind == "string" and optimizer.texts[name] then
    return value
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

-- Error when a parameter without a gradient was replaced in its model by a tensor that no group holds: the model would
-- silently not be trained.
local function check_kept(self, group)
  for i, parameter in ipairs(group.params) do
    if shards.was_cut(parameter) then
      fail(("%s: parameter %d was cut into shards after the optimizer was made; make the optimizer after dist.fully_shard, as "
        .. "optimizer = lg.optim.%s(model:parameters(), …)"):format(self.__name, i, self.__name))
    end
    local now, path = nil, nil
    if not parameter.grad then now, path = replacement_of(parameter) end
    if now and now.requires_grad and not self:has(now) then
      fail(("%s: parameter %d, '%s', was replaced in the model by another tensor after the optimizer was made; make the "
        .. "optimizer after the change, as optimizer = lg.optim.%s(model:parameters(), …), or add the new one with "
        .. "optimizer:add_param_group{params = {…}}"):format(self.__name, i, path, self.__name))
    end
  end
end

-- The parameters of a group that have a gradient, as one list for each step count; there are several only if some
-- parameters had no gradient in earlier steps. The lists are kept until a parameter gains or loses its gradient, moves
-- or changes its type.
local function due(self, group)
  local known = self.lists[group]
  if known and known.count == #group.params and core._same_grads(known.all) then return known end
  local lists, by_step = {count = #group.params, all = core._step_list(group.params)}, {}
  core._same_grads(lists.all)
  self.lists[group] = nil
  check_kept(self, group)
  for _, parameter in ipairs(group.params) do
    if parameter.grad then
      local state = self.state[parameter]
      follow.state(state, parameter)
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

-- Called when the gradients are final and the weights not yet changed: lg.run.watch reads both here.
function Optimizer:about_to_update()
  local look = core.run and core.run._before_update
  if look then look(self) end
end

function Optimizer:_run_hooks(kind, ...)
  local list = self.hooks[kind]
  if not list then return end
  for _, entry in ipairs(table.move(list, 1, #list, 1, {})) do entry.hook(self, ...) end
end

local function add_hook(self, kind, hook)
  own(self, ("register_%s_hook"):format(kind), "hook")
  if type(hook) ~= "function" and not (type(hook) == "table" and getmetatable(hook)) then
    fail(("register_%s_hook: a function expected (got %s)"):format(kind, type(hook)))
  end
  local list, entry = self.hooks[kind] or {}, {hook = hook}
  self.hooks[kind] = list
  list[#list + 1] = entry
  function entry.remove()
    for i, other in ipairs(list) do
      if other == entry then table.remove(list, i) end
    end
  end
  return entry
end

-- hook(optimizer, closure) is called before or after each step. handle:remove() removes the hook.
function Optimizer:register_step_pre_hook(hook) return add_hook(self, "step_pre", hook) end
function Optimizer:register_step_post_hook(hook) return add_hook(self, "step_post", hook) end
-- Hooks of state_dict(): hook(optimizer) before it, hook(optimizer, state) after it. Hooks of load_state_dict():
-- hook(optimizer, state) before it, which may change the state in place, hook(optimizer) after it.
function Optimizer:register_state_dict_pre_hook(hook) return add_hook(self, "state_dict_pre", hook) end
function Optimizer:register_state_dict_post_hook(hook) return add_hook(self, "state_dict_post", hook) end
function Optimizer:register_load_state_dict_pre_hook(hook) return add_hook(self, "load_state_dict_pre", hook) end
function Optimizer:register_load_state_dict_post_hook(hook) return add_hook(self, "load_state_dict_post", hook) end

-- Updates every parameter that has a gradient. A class defines update(settings, list), which updates list.params with
-- list.states; list.step is the number of the update, from 1. A closure is called first; step returns its loss.
function Optimizer:step(closure)
  own(self, "step")
  self:_run_hooks("step_pre", closure)
  local loss
  if closure then
    if type(closure) ~= "function" then
      fail(("%s: step(closure) takes a function that returns the loss (got %s)"):format(self.__name, type(closure)))
    end
    local _ <close> = core.enable_grad()
    loss = closure()
  end
  self:about_to_update()
  local idle = true
  for _, group in ipairs(self.param_groups) do
    local settings, lists = self:settings_of(group), due(self, group)
    idle = idle and #lists == 0
    for i = 1, #lists do
      local list = lists[i]
      local states = list.states
      list.step = states[1].step + 1
      self:update(settings, list)
      for k = 1, #states do states[k].step = list.step end
    end
    core._stepped(lists.all)
  end
  if idle then core._stepped_in_vain() end
  if core.run then core.run._count_step() end
  self:_run_hooks("step_post", closure)
  return loss
end
Optimizer.step = live(Optimizer.step)

-- The state tensors `name` of all parameters, created on first use and filled with `start` (default 0).
local function column(list, name, start)
  local tensors = {}
  for i, state in ipairs(list.states) do
    state[name] = state[name] or core.full_like(list.params[i]:detach(), start or 0)
    tensors[i] = state[name]
  end
  return tensors
end

-- One step of a rule of runtime/optimizer/optimizers.def over the parameters of a list. The rule reads its numbers from
-- `settings`; an optimizer's update() adds the numbers that are not settings of the user, and this function adds
-- `step`. A state tensor is filled with starts[name] (default 0) at the first step that needs it.
function Optimizer.fused(list, rule, settings, starts)
  settings.step = list.step
  local names, mask = core._fused_step(list.handle, rule, settings)
  if not names then return end
  local columns = {}
  for i, name in ipairs(names) do columns[i] = column(list, name, starts and starts[name]) end
  list.handle = core._step_list(list.params, mask, table.unpack(columns))
  core._fused_step(list.handle, rule, settings)
end

-- Drops the cached lists of parameters with a gradient and of their states.
function Optimizer:_forget_lists() self.lists = {} end

-- Error unless a group's settings have allowed values.
Optimizer._check_settings = check_sign

-- Sets the gradients to nil, or to zero with {set_to_none = false}.
function Optimizer:zero_grad(options)
  own(self, "zero_grad")
  for _, group in ipairs(self.param_groups) do zero_grad(group.params, options) end
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- A copy of one parameter's state. If the parameter is a shard, the state tensors of its shape are gathered, in the
-- order of their names.
local function state_of(state, parameter)
  local copy, names = {}, sorted_keys(state)
  local shape = table.concat(parameter:size(), ", ")
  for _, name in ipairs(names) do
    local value = state[name]
    local beside = is_tensor(value) and table.concat(value:size(), ", ") == shape
    copy[name] = beside and shards.state(parameter, value, name) or value
  end
  return copy
end

-- Makes states that the settings need since a change after the last step, as the next step would, so that a state dict
-- is complete.
local function complete(state, names, parameter)
  for _, name in ipairs(names) do
    if not state[name] then state[name] = core.full_like(parameter:detach(), 0) end
  end
end

-- PyTorch's layout: parameters are numbered from 0 across all groups. The tensors are shared with the optimizer. For
-- shards, the tensors are gathered copies of whole parameters' states, and all ranks must call this.
function Optimizer:state_dict()
  own(self, "state_dict")
  self:_run_hooks("state_dict_pre")
  local found, groups, number = {}, {}, 0
  for g, group in ipairs(self.param_groups) do
    groups[g] = {params = {}}
    for name in pairs(self.defaults) do groups[g][name] = current(group[name], name, self) end
    local names = self.rule and core._rule_states(self.rule, groups[g]) or {}
    groups[g].initial_lr, groups[g].name, groups[g].param_names = group.initial_lr, group.name, group.param_names
    for i, parameter in ipairs(group.params) do
      if self.state[parameter].step > 0 then
        complete(self.state[parameter], names, parameter)
        found[number] = state_of(self.state[parameter], parameter)
      end
      groups[g].params[i] = number
      number = number + 1
    end
  end
  local state = {state = found, param_groups = groups}
  self:_run_hooks("state_dict_post", state)
  return state
end

-- Loads a state dict. Settings that are functions or handles are kept. On an error nothing is loaded.
function Optimizer:load_state_dict(saved)
  own(self, "load_state_dict", "state")
  if type(saved) ~= "table" or type(saved.param_groups) ~= "table" or type(saved.state) ~= "table" then
    fail(("load_state_dict: the state of %s expected, as optimizer:state_dict() gives"):format(self.__name))
  end
  self:_run_hooks("load_state_dict_pre", saved)
  local loaded = require("lunagrad.optim.states").read(self, saved, ignored, extras)
  self.lists = {}
  for g, group in ipairs(self.param_groups) do
    for _, parameter in ipairs(group.params) do self.state[parameter] = loaded[parameter] or {step = 0} end
    for name in pairs(self.defaults) do
      local value = saved.param_groups[g][name]
      if value ~= nil and not is_callable(group[name]) then group[name] = value end
    end
    if saved.param_groups[g].initial_lr then group.initial_lr = saved.param_groups[g].initial_lr end
  end
  self:_run_hooks("load_state_dict_post")
end

-- Whether a checkpoint must contain the optimizer: it has states other than the number of steps.
function Optimizer:_in_use()
  for _, state in pairs(self.state) do
    if state.step > 0 then
      for name in pairs(state) do
        if name ~= "step" then return true end
      end
    end
  end
  return false
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
    lines[g] = ("  group %d%s: %d parameters, %s"):format(g, group.name and (" (%s)"):format(group.name) or "", #group.params,
      table.concat(names, ", "))
  end
  return ("%s(\n%s\n)"):format(self.__name, table.concat(lines, "\n"))
end

return Optimizer
