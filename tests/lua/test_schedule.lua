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

-- What a schedule has made of a function or a handle comes back with its state.
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
