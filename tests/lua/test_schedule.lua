local lg = require "lunagrad"
local expect = require "expect"
local schedules = lg.optim.lr_scheduler

-- test_reference.lua compares the rates of single schedules with PyTorch's; this file tests everything else.
local function optimizer(options)
  return lg.optim.SGD({lg.zeros(1, {requires_grad = true})}, options or {lr = 0.2, momentum = 0.9})
end

-- The values of `read` before each of `count` steps.
local function trace(count, step, read)
  local values = {}
  for i = 1, count do
    values[i] = read()
    step()
  end
  return values
end

-- PyTorch's values: SequentialLR, two schedules on one optimizer, fractional epochs, and cycled momentum.
local o = optimizer()
local s = schedules.SequentialLR(o,
  {schedules.ConstantLR(o, 0.5, 3), schedules.ExponentialLR(o, 0.9), schedules.StepLR(o, 2, 0.1)}, {3, 6})
local function rate() return o.param_groups[1].lr end
local function momentum() return o.param_groups[1].momentum end
local function step() s:step() end
expect.close(trace(10, step, rate), {0.1, 0.1, 0.1, 0.2, 0.18, 0.162, 0.2, 0.2, 0.02, 0.02}, 1e-12)
expect.close(s:get_last_lr(), {0.002}, 1e-12)
o = optimizer()
local first, second = schedules.StepLR(o, 2, 0.5), schedules.CosineAnnealingLR(o, 4, 0.01)
expect.close(trace(6, function() first:step() second:step() end, rate),
  {0.2, 0.172175144212722, 0.05457106781186548, 0.023054563517369946, 0.01, 0.03782485578727798}, 1e-12)
o = optimizer()
s = schedules.CosineAnnealingWarmRestarts(o, 3, 2, 0.01)
local epoch = -0.7
expect.close(trace(9, function() epoch = epoch + 0.7 s:step(epoch) end, rate),
  {0.2, 0.2, 0.17559875842035247, 0.11493020401042708, 0.0491604010322151, 0.012075977930288459, 0.19676295349746148,
    0.18185661446562004, 0.1567407083264276}, 1e-12)
o = optimizer()
s = schedules.OneCycleLR(o, {max_lr = 1, total_steps = 8})
expect.close(trace(8, step, momentum), {0.95, 0.8688255099070633, 0.8528058334845816, 0.8688255099070633,
  0.8944017761948346, 0.9216941869558779, 0.9423362099614142, 0.95}, 1e-12)
o = optimizer()
s = schedules.CyclicLR(o, 0.05, 0.5, {step_size_up = 2})
expect.close(trace(6, step, momentum), {0.9, 0.85, 0.8, 0.85, 0.9, 0.85}, 1e-12)

-- In Adam beta1 is cycled; an optimizer without momentum is an error.
local adam = lg.optim.Adam({lg.zeros(1, {requires_grad = true})})
schedules.OneCycleLR(adam, {max_lr = 1, total_steps = 8})
expect.equal(adam.param_groups[1].betas, {0.95, 0.999})
expect.raises("CyclicLR: the optimizer has no momentum; pass {cycle_momentum = false}", function()
  schedules.CyclicLR(lg.optim.Adagrad({lg.zeros(1, {requires_grad = true})}), 0.1, 1)
end)

-- A milestone of 0: the second schedule begins immediately. Each schedule begins at the initial rate.
local function rates_of(make, count)
  local one = optimizer {lr = 1}
  local schedule = make(one)
  return trace(count, function() schedule:step() end, function() return one.param_groups[1].lr end)
end
expect.close(rates_of(function(one)
  return schedules.SequentialLR(one, {schedules.ConstantLR(one, 0.1, 5), schedules.ExponentialLR(one, 0.5)}, {0})
end, 4), {1, 0.5, 0.25, 0.125}, 1e-12)
expect.close(rates_of(function(one)
  return schedules.SequentialLR(one,
    {schedules.ConstantLR(one, 0.1, 5), schedules.ExponentialLR(one, 0.5), schedules.LinearLR(one, 0.25, 1, 3)}, {0, 2})
end, 6), {1, 0.5, 0.25, 0.5, 0.75, 1}, 1e-12)
expect.close(rates_of(function(one)
  return schedules.SequentialLR(one,
    {schedules.ConstantLR(one, 0.1, 5), schedules.StepLR(one, 1, 0.1), schedules.ExponentialLR(one, 0.5)}, {0, 0})
end, 3), {1, 0.5, 0.25}, 1e-12)

-- A sequence and a chain inside of a sequence begin at the initial rate, too, as the first schedule and as a later one.
local function inner(one)
  return schedules.SequentialLR(one, {schedules.ConstantLR(one, 0.1, 9), schedules.ExponentialLR(one, 0.5)}, {2})
end
local function chain(one) return schedules.ChainedScheduler {schedules.ConstantLR(one, 0.1, 2), schedules.ExponentialLR(one, 0.5)} end
expect.close(rates_of(function(one) return schedules.SequentialLR(one, {inner(one), schedules.StepLR(one, 1, 0.1)}, {4}) end, 6),
  {0.1, 0.1, 1, 0.5, 1, 0.1}, 1e-12)
expect.close(rates_of(function(one) return schedules.SequentialLR(one, {schedules.StepLR(one, 1, 0.1), inner(one)}, {2}) end, 7),
  {1, 0.1, 0.1, 0.1, 1, 0.5, 0.25}, 1e-12)
expect.close(rates_of(function(one) return schedules.SequentialLR(one, {chain(one), schedules.StepLR(one, 1, 0.1)}, {3}) end, 5),
  {0.1, 0.05, 0.25, 1, 0.1}, 1e-12)
expect.close(rates_of(function(one) return schedules.SequentialLR(one, {schedules.StepLR(one, 1, 0.1), chain(one)}, {1}) end, 5),
  {1, 0.1, 0.05, 0.25, 0.125}, 1e-12)
for _, name in ipairs {"SequentialLR", "ChainedScheduler"} do
  expect.raises(name .. ": scheduler 2, ReduceLROnPlateau, needs a metric at each step; step it by itself", function()
    local one = optimizer()
    local list = {schedules.StepLR(one, 1), schedules.ReduceLROnPlateau(one)}
    if name == "SequentialLR" then schedules.SequentialLR(one, list, {3}) else schedules.ChainedScheduler(list) end
  end)
end

-- A relative threshold of a plateau is a share of the size of the best metric.
local function plateau(options, metrics)
  local one = optimizer {lr = 1}
  local schedule, rates = schedules.ReduceLROnPlateau(one, options), {}
  for i, metric in ipairs(metrics) do
    schedule:step(metric)
    rates[i] = one.param_groups[1].lr
  end
  return rates, schedule.best
end
local rates, best = plateau({threshold = 0.1, patience = 5}, {-1, -0.95})
assert(best == -1 and rates[2] == 1)
rates, best = plateau({threshold = 0.1, patience = 5}, {-1, -1.05, -1.2})
assert(best == -1.2)
expect.close(plateau({patience = 1, factor = 0.5}, {-1, -1, -1, -1, -1}), {1, 1, 0.5, 0.5, 0.25}, 1e-12)
expect.close(plateau({mode = "max", patience = 1, factor = 0.5}, {-1, -1, -1, -1, -1}), {1, 1, 0.5, 0.5, 0.25}, 1e-12)
expect.close(plateau({mode = "max", threshold = 0.1, patience = 0, factor = 0.5}, {-1, -0.95, -0.8, -0.85}), {1, 0.5, 0.5, 0.25}, 1e-12)
expect.close(plateau({patience = 1, factor = 0.5}, {0, 0, 0, -1, -1}), {1, 1, 0.5, 0.5, 0.5}, 1e-12)

-- A function of the step, one for each group.
local p, q = lg.zeros(1, {requires_grad = true}), lg.zeros(1, {requires_grad = true})
o = lg.optim.SGD({{params = {p}}, {params = {q}, lr = 0.5}}, {lr = 0.1})
s = schedules.LambdaLR(o, {function(t) return 1 / (t + 1) end, function(t) return 0.5 ^ t end})
s:step()
expect.close(s:get_last_lr(), {0.05, 0.25}, 1e-12)

-- MultiplicativeLR multiplies the rate by its function at each step but the first.
o = optimizer()
s = schedules.MultiplicativeLR(o, function(t) return 1 / (t + 1) end)
expect.close(trace(4, step, rate), {0.2, 0.1, 0.1 / 3, 0.025 / 3}, 1e-12)

-- A rate that is a function stays a function: the schedule multiplies its values.
local base = 0.4
o = optimizer {lr = function() return base end}
s = schedules.ExponentialLR(o, 0.5)
s:step()
expect.close(o.param_groups[1].lr(), 0.2, 1e-12)
base = 0.8
expect.close(o.param_groups[1].lr(), 0.4, 1e-12)
o.param_groups[1].params[1].grad = lg.ones(1)
o:step()
expect.close(o.param_groups[1].params[1]:item(), -0.4, 1e-6)

-- Every schedule of the reference values, and those that take functions, continue from their states and the optimizer's.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local cases = dofile(here .. "/../reference/optimizers.lua").schedulers
for _, name in ipairs {"LambdaLR", "MultiplicativeLR"} do
  cases[#cases + 1] = {name = name, options = {lr_lambda = function(t) return 1 / (t + 1) end}}
end
for _, case in ipairs(cases) do
  local name, options = case.name, case.options
  local one, two = optimizer(), optimizer()
  local a, b = schedules[name](one, options), schedules[name](two, options)
  local metric = name == "ReduceLROnPlateau" and 1 or nil
  for _ = 1, 3 do a:step(metric) end
  two:load_state_dict(one:state_dict())
  b:load_state_dict(a:state_dict())
  for _ = 1, 4 do
    a:step(metric)
    b:step(metric)
    expect.equal(b:get_last_lr(), a:get_last_lr(), name)
  end
end

-- A rate that a schedule made from a function or a handle is restored with its state.
do
  local rate = 0.2
  local function made()
    local one = optimizer {lr = function() return rate end}
    return one, schedules.StepLR(one, 2, 0.5)
  end
  local first, schedule = made()
  for _ = 1, 5 do schedule:step() end
  rate = 0.4
  assert(first.param_groups[1].lr() == 0.1)
  local second, again = made()
  again:load_state_dict(schedule:state_dict())
  assert(second.param_groups[1].lr() == 0.1)
  for _ = 1, 3 do schedule:step() again:step() end
  assert(second.param_groups[1].lr() == first.param_groups[1].lr())
end

-- Mistakes.
expect.raises("StepLR: an optimizer expected (got number)", function() schedules.StepLR(3, 2) end)
expect.raises("StepLR: step_size must be a positive integer (got 0)", function() schedules.StepLR(optimizer(), 0) end)
expect.raises("ConstantLR: factor must lie in [0, 1] (got 2)", function() schedules.ConstantLR(optimizer(), 2) end)
expect.raises("LambdaLR: 1 groups of parameters need as many functions (got 2)", function()
  schedules.LambdaLR(optimizer(), {print, print})
end)
expect.raises("SequentialLR: 1 schedulers need 0 milestones (got 2)", function()
  local one = optimizer()
  schedules.SequentialLR(one, {schedules.ConstantLR(one)}, {1, 2})
end)
expect.raises("OneCycleLR: total_steps is needed, or epochs and steps_per_epoch", function()
  schedules.OneCycleLR(optimizer(), 1)
end)
expect.raises("OneCycleLR: step 3, where total_steps is 2", function()
  local one = schedules.OneCycleLR(optimizer(), 1, 2)
  for _ = 1, 3 do one:step() end
end)
expect.raises("CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range' (got 'square')", function()
  schedules.CyclicLR(optimizer(), 0.1, 1, {mode = "square"})
end)
expect.raises("ReduceLROnPlateau: factor must be below 1 (got 1)", function()
  schedules.ReduceLROnPlateau(optimizer(), {factor = 1})
end)
expect.raises("ReduceLROnPlateau: step(metric) needs a number (got nil)", function()
  schedules.ReduceLROnPlateau(optimizer()):step()
end)
expect.raises("ExponentialLR: last_epoch is given, but the optimizer's groups have no initial_lr", function()
  schedules.ExponentialLR(optimizer(), 0.5, 4)
end)

-- A state is loaded as a whole or not at all: a missing, unknown or misshapen entry is named.
do
  local function refused(make, change, ...)
    local one = optimizer()
    local schedule = make(one)
    local state, before = schedule:state_dict(), schedule:state_dict()
    change(state)
    for _, part in ipairs {...} do expect.raises(part, function() schedule:load_state_dict(state) end) end
    expect.equal(schedule:state_dict(), before)
  end
  local function step(one) return schedules.StepLR(one, 3) end
  refused(step, function(state) state.last_epoch, state.last_epok = nil, 7 end,
    "load_state_dict: the state does not fit StepLR", "'last_epoch' is missing", "unknown key 'last_epok'; did you mean 'last_epoch'?")
  refused(step, function(state) state.gamma = nil end, "'gamma' is missing")
  refused(step, function(state) state.last_epoch = "7" end, "'last_epoch' is a string, not a number")
  refused(step, function(state) state.base_lrs = {0.1, 0.2} end, "'base_lrs' has 2 values for 1 groups of parameters")
  refused(function(one) return schedules.ReduceLROnPlateau(one) end, function(state) state.num_bad_epoch = 1 end,
    "unknown key 'num_bad_epoch'")
  local function sequence(one) return schedules.SequentialLR(one, {step(one), schedules.ExponentialLR(one, 0.5)}, {2}) end
  refused(sequence, function(state) state._schedulers[2].gamma = nil end, "scheduler 2 (ExponentialLR): 'gamma' is missing")
  refused(sequence, function(state) state._schedulers[2] = nil end, "1 schedulers in the state, 2 here")
  refused(sequence, function(state) state._schedulers = nil end, "'_schedulers' is missing")
  expect.raises("load_state_dict is called with a colon", function() step(optimizer()).load_state_dict({}) end)
  expect.raises("the state of StepLR is a table", function() step(optimizer()):load_state_dict(3) end)
  -- Entries that PyTorch's schedules keep for their own use are ignored.
  local one = step(optimizer())
  local state = one:state_dict()
  state.verbose, state._get_lr_called_within_step = false, false
  one:load_state_dict(state)
  assert(rawget(one, "verbose") == nil)
end
