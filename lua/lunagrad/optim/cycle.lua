-- Schedules that raise and lower the rate and move the momentum in the opposite direction: CyclicLR (Smith, "Cyclical
-- learning rates", WACV 2017) and OneCycleLR (Smith, Topin, "Super-convergence", 2018).
local core = require "lunagrad.core"
local Schedule = require "lunagrad.optim.schedule"
local reader = require("lunagrad.arguments").reader

local fail = core._fail

-- The setting that is cycled as the momentum: `momentum`, or beta1 of an optimizer with betas.
local function momentum_name(optimizer, owner)
  local group = optimizer.param_groups[1]
  local name = group.betas and "betas" or group.momentum and "momentum"
  if not name then fail(("%s: the optimizer has no momentum; pass {cycle_momentum = false}"):format(owner)) end
  return name
end

local function set_momentum(group, name, value)
  if name == "betas" then
    group.betas = {value, group.betas[2]}
  else
    group[name] = value
  end
end

-- A number for each parameter group, from a list or from one number for all groups.
local function for_groups(optimizer, value)
  local list = {}
  for i in ipairs(optimizer.param_groups) do list[i] = type(value) == "table" and value[i] or value end
  return list
end

local CyclicLR = Schedule.class("CyclicLR", reader("CyclicLR", "optimizer", "base_lr", "max_lr", {"step_size_up", 2000},
  {"step_size_down"}, {"mode", "triangular"}, {"gamma", 1.0}, {"scale_fn"}, {"scale_mode", "cycle"},
  {"cycle_momentum", true}, {"base_momentum", 0.8}, {"max_momentum", 0.9}, {"last_epoch", -1}))

-- The scale of a cycle's amplitude, as a function of the cycle number or of the step.
local scales = {
  triangular = {function() return 1 end, "cycle"},
  triangular2 = {function(_, x) return 1 / 2 ^ (x - 1) end, "cycle"},
  exp_range = {function(self, x) return self.gamma ^ x end, "iterations"},
}

function CyclicLR:begin()
  if not scales[self.mode] and not self.scale_fn then
    fail(("CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range' (got '%s')"):format(tostring(self.mode)))
  end
  local optimizer = self.optimizer
  self.base_lrs, self.max_lrs = for_groups(optimizer, self.base_lr), for_groups(optimizer, self.max_lr)
  self.base_lr, self.max_lr = nil, nil
  self.step_size_down = self.step_size_down or self.step_size_up
  self.total_size = self.step_size_up + self.step_size_down
  self.step_ratio = self.step_size_up / self.total_size
  if not self.scale_fn then self.scale_mode = scales[self.mode][2] end
  if self.cycle_momentum then
    self.momentum_name = momentum_name(optimizer, "CyclicLR")
    self.base_momentums = for_groups(optimizer, self.base_momentum)
    self.max_momentums = for_groups(optimizer, self.max_momentum)
  end
  for i, group in ipairs(optimizer.param_groups) do
    if self.last_epoch == -1 then Schedule.set_rate(group, self.base_lrs[i]) end
  end
end

function CyclicLR:chained(group, base, i)
  local t = self.last_epoch
  local cycle = math.floor(1 + t / self.total_size)
  local x = 1 + t / self.total_size - cycle
  local height = x <= self.step_ratio and x / self.step_ratio or (x - 1) / (self.step_ratio - 1)
  local at = self.scale_mode == "cycle" and cycle or t
  local share = height * (self.scale_fn and self.scale_fn(at) or scales[self.mode][1](self, at))
  if self.cycle_momentum then
    local most = self.max_momentums[i]
    set_momentum(group, self.momentum_name, most - (most - self.base_momentums[i]) * share)
  end
  return base + (self.max_lrs[i] - base) * share
end

local OneCycleLR = Schedule.class("OneCycleLR", reader("OneCycleLR", "optimizer", "max_lr", {"total_steps"}, {"epochs"},
  {"steps_per_epoch"}, {"pct_start", 0.3}, {"anneal_strategy", "cos"}, {"cycle_momentum", true},
  {"base_momentum", 0.85}, {"max_momentum", 0.95}, {"div_factor", 25.0}, {"final_div_factor", 1e4},
  {"three_phase", false}, {"last_epoch", -1}))

local anneal = {
  cos = function(first, last, share) return last + (first - last) / 2 * (math.cos(math.pi * share) + 1) end,
  linear = function(first, last, share) return (last - first) * share + first end,
}

-- Each phase has its last step and the values at its start and end, for the rate and for the momentum.
local function phases_of(self)
  local up, last = self.pct_start * self.total_steps - 1, self.total_steps - 1
  if self.three_phase then
    return {
      {up, "initial_lr", "max_lr", "max_momentum", "base_momentum"},
      {2 * up, "max_lr", "initial_lr", "base_momentum", "max_momentum"},
      {last, "initial_lr", "min_lr", "max_momentum", "max_momentum"},
    }
  end
  return {
    {up, "initial_lr", "max_lr", "max_momentum", "base_momentum"},
    {last, "max_lr", "min_lr", "base_momentum", "max_momentum"},
  }
end

function OneCycleLR:begin()
  if not self.total_steps then
    if not (self.epochs and self.steps_per_epoch) then
      fail("OneCycleLR: total_steps is needed, or epochs and steps_per_epoch")
    end
    self.total_steps = self.epochs * self.steps_per_epoch
  end
  Schedule.need_count("OneCycleLR", "total_steps", self.total_steps)
  if not (self.pct_start >= 0 and self.pct_start <= 1) then
    fail(("OneCycleLR: pct_start must lie in [0, 1] (got %g)"):format(self.pct_start))
  elseif not anneal[self.anneal_strategy] then
    fail(("OneCycleLR: anneal_strategy must be 'cos' or 'linear' (got '%s')"):format(tostring(self.anneal_strategy)))
  end
  if self.cycle_momentum then self.momentum_name = momentum_name(self.optimizer, "OneCycleLR") end
  -- The values between which each group's rate and momentum move.
  local max, base, most = for_groups(self.optimizer, self.max_lr), for_groups(self.optimizer, self.base_momentum),
    for_groups(self.optimizer, self.max_momentum)
  self.limits, self.phases = {}, phases_of(self)
  for i, group in ipairs(self.optimizer.param_groups) do
    local initial = max[i] / self.div_factor
    self.limits[i] = {initial_lr = initial, max_lr = max[i], min_lr = initial / self.final_div_factor,
      base_momentum = base[i], max_momentum = most[i]}
    if self.last_epoch == -1 then
      group.initial_lr = initial
      if self.cycle_momentum then set_momentum(group, self.momentum_name, most[i]) end
    end
  end
end

function OneCycleLR:chained(group, _, i)
  local t, limits, first = self.last_epoch, self.limits[i], 0
  if t > self.total_steps then
    fail(("OneCycleLR: step %d, where total_steps is %d"):format(t, self.total_steps))
  end
  for number, phase in ipairs(self.phases) do
    local last, from, to, momentum_from, momentum_to = table.unpack(phase)
    if t <= last or number == #self.phases then
      local share, curve = (t - first) / (last - first), anneal[self.anneal_strategy]
      if self.cycle_momentum then
        set_momentum(group, self.momentum_name, curve(limits[momentum_from], limits[momentum_to], share))
      end
      return curve(limits[from], limits[to], share)
    end
    first = last
  end
end

return {CyclicLR = CyclicLR, OneCycleLR = OneCycleLR}
