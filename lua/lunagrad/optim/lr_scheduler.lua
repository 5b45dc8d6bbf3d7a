-- lg.optim.lr_scheduler: schedules of the learning rate, with PyTorch's names, arguments and formulas. t is the step,
-- from 0. Chained formulas compute the next rate from the current one, so several schedules can act on one optimizer.
local core = require "lunagrad.core"
local live = require "lunagrad.live"
local Schedule = require "lunagrad.optim.schedule"
local reader = require("lunagrad.arguments").reader

local fail = core._fail
local scheduler = {LRScheduler = Schedule}

local function class(name, ...)
  local specs = {"optimizer", ...}
  specs[#specs + 1] = {"last_epoch", -1}
  local made = Schedule.class(name, reader(name, table.unpack(specs)))
  scheduler[name] = made
  return made
end

-- Sets self.lr_lambdas to one function for each group, from a list or from one function for all groups.
local function spread_lambdas(self)
  local given, groups = self.lr_lambda, #self.optimizer.param_groups
  self.lr_lambdas, self.lr_lambda = type(given) == "table" and given or {}, nil
  if type(given) == "function" then
    for i = 1, groups do self.lr_lambdas[i] = given end
  end
  if #self.lr_lambdas ~= groups then
    fail(("%s: %d groups of parameters need as many functions (got %d)"):format(
      self.__name, groups, #self.lr_lambdas))
  end
end

-- base * lr_lambda(t)
local LambdaLR = class("LambdaLR", "lr_lambda")
LambdaLR.begin = spread_lambdas

function LambdaLR:chained(_, base, i) return base * self.lr_lambdas[i](self.last_epoch) end

-- base * lr_lambda(1) * … * lr_lambda(t)
local MultiplicativeLR = class("MultiplicativeLR", "lr_lambda")
MultiplicativeLR.begin = spread_lambdas

function MultiplicativeLR:chained(group, _, i)
  return Schedule.rate(group) * (self.last_epoch == 0 and 1 or self.lr_lambdas[i](self.last_epoch))
end

-- base * gamma^floor(t / step_size)
local StepLR = class("StepLR", "step_size", {"gamma", 0.1})
function StepLR:begin() Schedule.need_count("StepLR", "step_size", self.step_size) end

function StepLR:chained(group)
  local t = self.last_epoch
  return Schedule.rate(group) * ((t == 0 or t % self.step_size ~= 0) and 1 or self.gamma)
end

function StepLR:closed(_, base) return base * self.gamma ^ (self.last_epoch // self.step_size) end

-- base * gamma^(milestones that t has reached)
local MultiStepLR = class("MultiStepLR", "milestones", {"gamma", 0.1})

local function count_reached(milestones, t)
  local reached = 0
  for _, milestone in ipairs(milestones) do reached = reached + (milestone <= t and 1 or 0) end
  return reached
end

function MultiStepLR:chained(group)
  local here = 0
  for _, milestone in ipairs(self.milestones) do here = here + (milestone == self.last_epoch and 1 or 0) end
  return Schedule.rate(group) * self.gamma ^ here
end

function MultiStepLR:closed(_, base) return base * self.gamma ^ count_reached(self.milestones, self.last_epoch) end

-- base * factor for t < total_iters, then base
local ConstantLR = class("ConstantLR", {"factor", 1 / 3}, {"total_iters", 5})

function ConstantLR:begin()
  if not (self.factor >= 0 and self.factor <= 1) then
    fail(("ConstantLR: factor must lie in [0, 1] (got %g)"):format(self.factor))
  end
end

function ConstantLR:chained(group)
  local rate = Schedule.rate(group)
  if self.last_epoch == 0 then return rate * self.factor end
  return self.last_epoch == self.total_iters and rate / self.factor or rate
end

function ConstantLR:closed(_, base)
  return base * (self.last_epoch >= self.total_iters and 1 or self.factor)
end

-- base * (start_factor + (end_factor - start_factor) min(1, t / total_iters))
local LinearLR = class("LinearLR", {"start_factor", 1 / 3}, {"end_factor", 1.0}, {"total_iters", 5})

function LinearLR:begin()
  if not (self.start_factor > 0 and self.start_factor <= 1) then
    fail(("LinearLR: start_factor must lie in (0, 1] (got %g)"):format(self.start_factor))
  elseif not (self.end_factor >= 0 and self.end_factor <= 1) then
    fail(("LinearLR: end_factor must lie in [0, 1] (got %g)"):format(self.end_factor))
  end
end

local function linear_factor(self, t)
  return self.start_factor + (self.end_factor - self.start_factor) * math.min(t, self.total_iters) / self.total_iters
end

function LinearLR:chained(group)
  local t, rate = self.last_epoch, Schedule.rate(group)
  if t == 0 then return rate * self.start_factor end
  return t > self.total_iters and rate or rate * (linear_factor(self, t) / linear_factor(self, t - 1))
end

function LinearLR:closed(_, base) return base * linear_factor(self, self.last_epoch) end

-- base * gamma^t
local ExponentialLR = class("ExponentialLR", "gamma")

function ExponentialLR:chained(group)
  return Schedule.rate(group) * (self.last_epoch == 0 and 1 or self.gamma)
end

function ExponentialLR:closed(_, base) return base * self.gamma ^ self.last_epoch end

-- base * (1 - min(1, t / total_iters))^power
local PolynomialLR = class("PolynomialLR", {"total_iters", 5}, {"power", 1.0})
function PolynomialLR:begin() Schedule.need_count("PolynomialLR", "total_iters", self.total_iters) end

function PolynomialLR:chained(group)
  local t, n, rate = self.last_epoch, self.total_iters, Schedule.rate(group)
  if t == 0 or t > n then return rate end
  return rate * ((1 - t / n) / (1 - (t - 1) / n)) ^ self.power
end

function PolynomialLR:closed(_, base)
  return base * (1 - math.min(self.last_epoch, self.total_iters) / self.total_iters) ^ self.power
end

-- eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2
local CosineAnnealingLR = class("CosineAnnealingLR", "T_max", {"eta_min", 0})
function CosineAnnealingLR:begin() Schedule.need_count("CosineAnnealingLR", "T_max", self.T_max) end

-- Multiplies the rate by the ratio of the values at t and t - 1. Where the value at t - 1 is 0 (t = T_max + 1, …), adds the
-- first step of the rising half.
function CosineAnnealingLR:chained(group, base)
  local t, n, least, rate = self.last_epoch, self.T_max, self.eta_min, Schedule.rate(group)
  if t == 0 then return rate end
  if self._step_count == 1 and t > 0 then return self:closed(group, base) end
  if (t - 1 - n) % (2 * n) == 0 then return rate + (base - least) * (1 - math.cos(math.pi / n)) / 2 end
  return (1 + math.cos(math.pi * t / n)) / (1 + math.cos(math.pi * (t - 1) / n)) * (rate - least) + least
end

function CosineAnnealingLR:closed(_, base)
  return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
end

-- A cosine from base to eta_min over T_0 steps, then over T_0 T_mult, T_0 T_mult^2, … steps. Loshchilov, Hutter, "SGDR",
-- ICLR 2017. step(t) takes fractional epochs.
local CosineAnnealingWarmRestarts = class("CosineAnnealingWarmRestarts", "T_0", {"T_mult", 1}, {"eta_min", 0})

function CosineAnnealingWarmRestarts:begin()
  Schedule.need_count("CosineAnnealingWarmRestarts", "T_0", self.T_0)
  Schedule.need_count("CosineAnnealingWarmRestarts", "T_mult", self.T_mult)
  self.T_i, self.T_cur = self.T_0, self.last_epoch
end

function CosineAnnealingWarmRestarts:chained(_, base)
  return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
end

function CosineAnnealingWarmRestarts:step(epoch)
  if epoch and epoch < 0 then fail(("CosineAnnealingWarmRestarts: step(%g) is negative"):format(epoch)) end
  local t = epoch or self.last_epoch + 1
  -- The last restart at or before t.
  local length, first = self.T_0, 0
  if self.T_mult == 1 then
    first = t - t % length
  else
    while t >= first + length do first, length = first + length, length * self.T_mult end
  end
  self.T_cur, self.T_i, self.last_epoch = t - first, length, math.floor(t)
  self._step_count = self._step_count + 1
  for i, rate in ipairs(self:rates()) do Schedule.set_rate(self.optimizer.param_groups[i], rate) end
  self:_note()
end

CosineAnnealingWarmRestarts.step = live(CosineAnnealingWarmRestarts.step)

-- Error unless all schedulers of a SequentialLR or ChainedScheduler belong to `optimizer` and need no metric.
local function check_members(name, list, optimizer)
  for i, one in ipairs(list) do
    if one.optimizer ~= optimizer then fail(("%s: scheduler %d has another optimizer"):format(name, i)) end
    if one._takes_metric then
      fail(("%s: scheduler %d, %s, needs a metric at each step; step it by itself"):format(name, i, one.__name))
    end
  end
end

-- Runs one schedule after another: schedulers[k + 1] takes over at step milestones[k].
local SequentialLR = class("SequentialLR", "schedulers", "milestones")

function SequentialLR:begin()
  local list = self.schedulers
  if #list < 1 or #self.milestones ~= #list - 1 then
    fail(("SequentialLR: %d schedulers need %d milestones (got %d)"):format(#list, #list - 1, #self.milestones))
  end
  check_members("SequentialLR", list, self.optimizer)
  -- The constructors of the schedulers changed the rates. _first_step starts the first scheduler again, from the
  -- initial rates.
  Schedule.set_initial_rates(self.optimizer)
  for _, one in ipairs(list) do one:_undo() end
end

-- Returns the scheduler of this step, and whether it takes over in this step. With a milestone of 0 the second
-- scheduler is the first to run.
function SequentialLR:_active()
  local index = count_reached(self.milestones, self.last_epoch)
  return self.schedulers[index + 1], index > 0 and self.milestones[index] == self.last_epoch
end

function SequentialLR:_first_step()
  self.last_epoch, self._step_count = self.last_epoch + 1, 1
  self:_active():_first_step()
  self:_note()
end

function SequentialLR:_undo()
  self:_active():_undo()
  self.last_epoch = self.last_epoch - 1
end

-- Takes over from another schedule, at the initial rates. The schedulers inside have not begun yet.
local function restart(self)
  Schedule.set_initial_rates(self.optimizer)
  self:_first_step()
end
SequentialLR._restart = restart

function SequentialLR:step()
  self.last_epoch = self.last_epoch + 1
  local active, takes_over = self:_active()
  if takes_over then active:_restart() else active:step() end
  self:_note()
end
SequentialLR.step = live(SequentialLR.step)

function SequentialLR:state_dict()
  local state, states = Schedule.state_dict(self), {}
  for i, one in ipairs(self.schedulers) do states[i] = one:state_dict() end
  state._schedulers = states
  return state
end

function SequentialLR:_check_state(state, report, where)
  Schedule._check_state(self, state, report, where)
  local states = state._schedulers
  if type(states) ~= "table" then return end
  if #states ~= #self.schedulers then
    report[#report + 1] = ("%s%d schedulers in the state, %d here"):format(where, #states, #self.schedulers)
    return
  end
  for i, one in ipairs(self.schedulers) do
    one:_check_state(states[i], report, ("%sscheduler %d (%s): "):format(where, i, one.__name))
  end
end

function SequentialLR:_load(state)
  Schedule._load(self, state)
  for i, one in ipairs(self.schedulers) do one:_load(state._schedulers[i]) end
end

-- Steps several schedulers of one optimizer at a time: their chained formulas multiply.
local ChainedScheduler = Schedule.class("ChainedScheduler", function(schedulers, optimizer)
  if type(schedulers) ~= "table" or #schedulers == 0 then fail("ChainedScheduler: a list of schedulers expected") end
  if type(optimizer) == "table" and not rawget(optimizer, "param_groups") then optimizer = optimizer.optimizer end
  optimizer = optimizer or schedulers[1].optimizer
  check_members("ChainedScheduler", schedulers, optimizer)
  return {schedulers = schedulers, optimizer = optimizer, last_epoch = -1}
end)
scheduler.ChainedScheduler = ChainedScheduler

-- The schedulers inside made their first steps in their constructors, unless SequentialLR has undone these steps.
function ChainedScheduler:_first_step()
  if self.schedulers[1].last_epoch < 0 then
    for _, one in ipairs(self.schedulers) do one:_first_step() end
  end
  self.last_epoch, self._step_count = self.schedulers[1].last_epoch, 1
  self:_note()
end

function ChainedScheduler:_undo()
  self.last_epoch = self.last_epoch - 1
  for _, one in ipairs(self.schedulers) do one:_undo() end
end

function ChainedScheduler:step()
  for _, one in ipairs(self.schedulers) do one:step() end
  self.last_epoch, self._step_count = self.last_epoch + 1, self._step_count + 1
  self:_note()
end
ChainedScheduler.step = live(ChainedScheduler.step)

for _, name in ipairs {"state_dict", "_check_state", "_load", "_restart"} do ChainedScheduler[name] = SequentialLR[name] end

for name, made in pairs(require "lunagrad.optim.cycle") do scheduler[name] = made end
scheduler.ReduceLROnPlateau = require "lunagrad.optim.plateau"

return scheduler
