-- The base class of learning rate schedules. The constructor sets the rates of step 0; scheduler:step(), called after
-- the optimizer's step, sets the rates of the next step. A rate that is a function or a handle stays one: the schedule
-- scales its value.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local closed = require "lunagrad.closed"
local live = require "lunagrad.live"
local trackers = require "lunagrad.trackers"

local fail = core._fail

-- A class may define chained, closed and begin.
local Schedule = {__name = "LRScheduler", chained = false, closed = false, begin = false, _takes_metric = false}
Schedule.__index = Schedule

-- Help for reading the rate from a schedule: it is a field of the optimizer.
local function advice(_, name)
  if name == "lr" then
    return "the rate is a setting of the optimizer: optimizer.param_groups[1].lr; get_last_lr() gives the rates of all groups"
  elseif name == "get_lr" then
    return "the rates of all groups are get_last_lr(), a table"
  end
end

-- A callable rate: the handle's value times the ratio of the schedule's rate to the first value of the handle.
local Scaled = {__name = "scheduled rate"}
Scaled.__index = Scaled
function Scaled:__call() return self.handle() * (self.initial == 0 and 0 or self.value / self.initial) end

-- The rate of a group as the schedule set it, without later changes of a handle.
function Schedule.rate(group)
  local lr = group.lr
  if getmetatable(lr) == Scaled then return lr.value end
  return type(lr) == "number" and lr or lr()
end

function Schedule.set_rate(group, value)
  if getmetatable(group.lr) == Scaled then
    group.lr.value = value
  else
    group.lr = value
  end
end

function Schedule.set_initial_rates(optimizer)
  for _, group in ipairs(optimizer.param_groups) do Schedule.set_rate(group, group.initial_lr) end
end

local function start(group, resumed, name)
  if resumed and not group.initial_lr then
    fail(("%s: last_epoch is given, but the optimizer's groups have no initial_lr"):format(name))
  end
  if type(group.lr) ~= "number" and getmetatable(group.lr) ~= Scaled then
    local value = group.lr()
    group.lr = setmetatable({handle = group.lr, initial = value, value = value}, Scaled)
  end
  group.initial_lr = group.initial_lr or Schedule.rate(group)
end

local function is_optimizer(value)
  return type(value) == "table" and type(rawget(value, "param_groups")) == "table"
end

-- Makes a class of schedules. `read` takes the arguments (lunagrad.arguments), `optimizer` and last_epoch among them.
-- The class defines chained(self, group, base): the next rate from the rate before; or closed(self, group, base): the
-- rate from the step self.last_epoch alone; or both, as PyTorch has them.
function Schedule.class(name, read)
  local class = {__name = name, __tostring = Schedule.__tostring, optional = arguments.names_of(read),
    _absent = arguments.may_be_absent(read)}
  closed.guard(class, advice, true)
  return setmetatable(class, {
    __index = Schedule,
    __call = function(_, ...)
      local a = read(...)
      if not is_optimizer(a.optimizer) then
        fail(("%s: an optimizer expected (got %s)"):format(name, type(a.optimizer)))
      end
      local self = setmetatable({last_epoch = a.last_epoch or -1, base_lrs = {}, optimizer = a.optimizer}, class)
      for key, value in pairs(a) do
        if key ~= "optimizer" and key ~= "last_epoch" then self[key] = value end
      end
      for i, group in ipairs(self.optimizer.param_groups) do
        start(group, self.last_epoch >= 0, name)
        self.base_lrs[i] = group.initial_lr
      end
      if self.begin then self:begin() end
      self:_first_step()
      return trackers.add(self)
    end,
  })
end

function Schedule:_first_step()
  self._step_count = 0
  self:step()
end

-- Undoes the first step, except its rates: SequentialLR starts its schedulers itself.
function Schedule:_undo() self.last_epoch = self.last_epoch - 1 end

-- Takes over from another schedule. Called by SequentialLR.
function Schedule:_restart() self:step(0) end

-- Whether a checkpoint must contain the schedule: it was stepped after the constructor's first step.
function Schedule:_in_use() return self.last_epoch > 0 end

-- The rates of this step, one for each group.
function Schedule:rates()
  local rates = {}
  for i, group in ipairs(self.optimizer.param_groups) do
    rates[i] = (self.chained or self.closed)(self, group, self.base_lrs[i], i)
  end
  return rates
end

-- Goes to the next step, or to step number `epoch`.
function Schedule:step(epoch)
  if type(self) ~= "table" then fail("step is called with a colon: scheduler:step()") end
  if epoch ~= nil and type(epoch) ~= "number" then
    fail(("%s: step() takes the number of an epoch or nothing (got %s); ReduceLROnPlateau takes a metric"):format(self.__name,
      core.is_tensor(epoch) and "a tensor" or type(epoch)))
  end
  self._step_count = self._step_count + 1
  self.last_epoch = epoch or self.last_epoch + 1
  local rates
  if epoch and self.closed then
    rates = {}
    for i, group in ipairs(self.optimizer.param_groups) do rates[i] = self:closed(group, self.base_lrs[i], i) end
  else
    rates = self:rates()
  end
  for i, group in ipairs(self.optimizer.param_groups) do Schedule.set_rate(group, rates[i]) end
  self:_note()
end
Schedule.step = live(Schedule.step)

function Schedule:_note()
  self._last_lr = {}
  for i, group in ipairs(self.optimizer.param_groups) do self._last_lr[i] = Schedule.rate(group) end
end

-- The rate of each group.
function Schedule:get_last_lr()
  return {table.unpack(self._last_lr)}
end

local function is_data(value)
  local kind = type(value)
  if arguments.is_plain(value) then
    for _, item in pairs(value) do
      if not is_data(item) then return false end
    end
    return true
  end
  return kind == "number" or kind == "string" or kind == "boolean"
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, item in pairs(value) do result[key] = copy(item) end
  return result
end

-- Everything but the optimizer and functions, and the scaled rates of handles.
function Schedule:state_dict()
  local state = {}
  for key, value in pairs(self) do
    if key ~= "optimizer" and is_data(value) then state[key] = copy(value) end
  end
  for i, group in ipairs(self.optimizer.param_groups) do
    if getmetatable(group.lr) == Scaled then
      state._scaled = state._scaled or {}
      state._scaled[i] = {initial = group.lr.initial, value = group.lr.value}
    end
  end
  return state
end

-- Fields that PyTorch's schedules use internally.
local of_pytorch = {verbose = true, _is_initial = true, _get_lr_called_within_step = true}

-- Fields that are lists of one value for each group.
local by_group = {base_lrs = true, _last_lr = true, max_lrs = true, min_lrs = true, base_momentums = true, max_momentums = true,
  limits = true}

-- Fields that steps change and no argument sets. After an edit of the script they are ignored when settings are
-- compared.
Schedule._progress = {last_epoch = true, _step_count = true, _last_lr = true, _scaled = true, T_cur = true, T_i = true, best = true,
  num_bad_epochs = true, cooldown_counter = true}

-- Adds a line to `report` for each part of a state that does not fit; `where` begins each line.
function Schedule:_check_state(state, report, where)
  if not arguments.is_plain(state) then
    report[#report + 1] = ("%sthe state of %s is a table, as scheduler:state_dict() gives (got %s)"):format(where, self.__name,
      core.is_tensor(state) and "a tensor" or type(state))
    return
  end
  local strict = require "lunagrad.optim.strict"
  local own, needed, known = self:state_dict(), {}, {_scaled = true}
  for name in pairs(own) do
    known[name] = true
    needed[name] = name ~= "_scaled" and not self._absent[name] or nil
  end
  for name in pairs(self._absent) do known[name] = true end
  strict.keys(state, needed, known, of_pytorch, report, where)
  local groups = #self.optimizer.param_groups
  for _, name in ipairs(strict.sorted(own)) do
    local value = state[name]
    local list = self.optional[name] and type(value) == "table"  -- some arguments are a number or a list
    if value ~= nil and type(value) ~= type(own[name]) and not list then
      report[#report + 1] = ("%s'%s' is a %s, not a %s"):format(where, name, type(value), type(own[name]))
    elseif by_group[name] and type(value) == "table" and #value ~= groups then
      report[#report + 1] = ("%s'%s' has %d values for %d groups of parameters"):format(where, name, #value, groups)
    end
  end
end

function Schedule:_load(state)
  for key, value in pairs(state) do
    if key ~= "_scaled" and key ~= "_schedulers" and not of_pytorch[key] then self[key] = copy(value) end
  end
  for i, scaled in pairs(state._scaled or {}) do
    local group = self.optimizer.param_groups[i]
    if group and getmetatable(group.lr) == Scaled then group.lr.initial, group.lr.value = scaled.initial, scaled.value end
  end
end

-- Rates that are numbers are restored with the optimizer's state. Handles stay, and their scaled rates are restored
-- here. On an error nothing is loaded.
function Schedule:load_state_dict(state)
  if type(self) ~= "table" or not rawget(self, "optimizer") then
    fail("load_state_dict is called with a colon: scheduler:load_state_dict(state)")
  end
  local report = {}
  self:_check_state(state, report, "")
  require("lunagrad.optim.strict").refuse(self.__name, report)
  self:_load(state)
end

function Schedule:__tostring() return self.__name end

-- A positive integer argument.
function Schedule.need_count(name, what, value)
  if math.type(value) ~= "integer" or value < 1 then
    fail(("%s: %s must be a positive integer (got %s)"):format(name, what, tostring(value)))
  end
end

return Schedule
