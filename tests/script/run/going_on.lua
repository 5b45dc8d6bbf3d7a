-- Trains ten steps with one optimizer under every schedule, together with what `with` names, and prints all states at
-- the end of each step, bit for bit. test_going_on.cpp and tests/distributed interrupt it. `order` says how the script
-- registers its objects.
local lg = require "lunagrad"
local nn, F, optim = lg.nn, lg.nn.functional, lg.optim
local schedules, swa = optim.lr_scheduler, optim.swa_utils
local which, with = lg.run.param("optimizer", "SGD"), lg.run.param("with", "none")
local order, ranks = lg.run.param("order", "plain"), lg.run.param("ranks", false)
local save, live = lg.run.param("save", false), lg.run.param("live", false)
if ranks then lg.distributed.init {timeout = 60} end
lg.manual_seed(5)

local settings = {
  SGD = {lr = 0.1, momentum = 0.9, nesterov = true}, Adam = {lr = 0.1, amsgrad = true}, RMSprop = {lr = 0.01, momentum = 0.5, centered = true},
  NAdam = {lr = 0.05}, LBFGS = {lr = 0.1, max_iter = 2, history_size = 3}, Adagrad = {lr = 0.1, initial_accumulator_value = 0.1},
  ASGD = {lr = 0.1, t0 = 3}, Rprop = {lr = 0.01},
}
local function decay(t) return 0.5 ^ (t // 2) end
local makers = {
  LambdaLR = function(o) return schedules.LambdaLR(o, function(t) return t < 4 and (t + 1) / 4 or 1 / t end) end,
  MultiplicativeLR = function(o) return schedules.MultiplicativeLR(o, function(t) return t % 3 == 0 and 0.5 or 1.1 end) end,
  StepLR = function(o) return schedules.StepLR(o, 2, 0.5) end,
  MultiStepLR = function(o) return schedules.MultiStepLR(o, {2, 5}, 0.1) end,
  ConstantLR = function(o) return schedules.ConstantLR(o, 0.25, 4) end,
  LinearLR = function(o) return schedules.LinearLR(o, {start_factor = 0.1, total_iters = 8}) end,
  ExponentialLR = function(o) return schedules.ExponentialLR(o, 0.9) end,
  PolynomialLR = function(o) return schedules.PolynomialLR(o, 7, 2) end,
  CosineAnnealingLR = function(o) return schedules.CosineAnnealingLR(o, 6, 0.01) end,
  CosineAnnealingWarmRestarts = function(o) return schedules.CosineAnnealingWarmRestarts(o, 3, 2) end,
  ReduceLROnPlateau = function(o) return schedules.ReduceLROnPlateau(o, {factor = 0.5, patience = 0, threshold = 0.2, cooldown = 1}) end,
  SequentialLR = function(o)
    return schedules.SequentialLR(o, {schedules.LinearLR(o, 0.1, 1, 3), schedules.ExponentialLR(o, 0.8), schedules.StepLR(o, 1, 0.5)}, {3, 7})
  end,
  SequentialOfCycle = function(o)
    return schedules.SequentialLR(o, {schedules.ExponentialLR(o, 0.8), schedules.OneCycleLR(o, {max_lr = 0.5, total_steps = 9, cycle_momentum = false})}, {4})
  end,
  ChainedScheduler = function(o)
    return schedules.ChainedScheduler {schedules.ConstantLR(o, 0.1, 4), schedules.LambdaLR(o, decay), schedules.ExponentialLR(o, 0.9)}
  end,
  SWALR = function(o) return swa.SWALR(o, 0.02, {anneal_epochs = 5}) end,
  SWALRAtOnce = function(o) return swa.SWALR(o, 0.02, {anneal_epochs = 0}) end,
}
-- Options of schedules that also change the momentum, where there is one.
local function cycles(o) return {cycle_momentum = (o.param_groups[1].momentum or o.param_groups[1].betas) ~= nil} end
makers.OneCycleLR = function(o)
  local options = cycles(o)
  options.max_lr, options.total_steps = 0.5, 12
  return schedules.OneCycleLR(o, options)
end
makers.CyclicLR = function(o)
  local options = cycles(o)
  options.step_size_up, options.mode = 2, "triangular2"
  return schedules.CyclicLR(o, 0.02, 0.3, options)
end

local handle = live and lg.run.live("rate", 0.1)
local orders = {}

function orders.plain(t, name, model, optimizer, schedule, more)
  t.model = lg.run.state(name .. ".model", model)
  t.optimizer = lg.run.state(name .. ".optimizer", optimizer)
  t.schedule = lg.run.state(name .. ".schedule", schedule)
  t.more = more and lg.run.state(name .. ".more", more)
end
-- The schedule before its optimizer, both made outside of lg.run.state.
function orders.schedule_first(t, name, model, optimizer, schedule, more)
  t.model = model()
  t.optimizer = optimizer()
  t.schedule = schedule()
  t.more = more and more()
  lg.run.state(name .. ".schedule", function() return t.schedule end)
  lg.run.state(name .. ".optimizer", function() return t.optimizer end)
  lg.run.state(name .. ".model", function() return t.model end)
  t.more = more and lg.run.state(name .. ".more", function() return t.more end)
end
-- The schedule is made between two states, the model's weights are set after its state, and a batch of zeros is cleared
-- away.
function orders.between(t, name, model, optimizer, schedule, more)
  t.model = lg.run.state(name .. ".model", model)
  t.optimizer = lg.run.state(name .. ".optimizer", optimizer)
  t.schedule = schedule()
  lg.run.state(name .. ".schedule", function() return t.schedule end)
  t.more = more and lg.run.state(name .. ".more", more)
  nn.init.uniform_(t.model.weight)
  F.mse_loss(t.model(lg.zeros(1, 3)), lg.zeros(1, 2)):backward()
  t.optimizer:zero_grad()
end
-- All in one table.
function orders.together(t, name, model, optimizer, schedule, more)
  local made = lg.run.state(name, function()
    t.model = model()
    t.optimizer = optimizer()
    return {model = t.model, optimizer = t.optimizer, schedule = schedule(), more = more and more()}
  end)
  t.schedule, t.more = made.schedule, made.more
end

local function extra(t)
  if with == "SWA" then return function() return swa.AveragedModel(t.model) end end
  if with == "EMA" then return function() return optim.EMA(t.model, 0.8) end end
  if with == "GradScaler" then
    return function() return lg.GradScaler {init_scale = 16, growth_interval = 2} end
  end
end

local trainings, names = {}, {}
for name in pairs(makers) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local t = {name = name}
  local function model()
    local made = nn.Linear(3, 2, {bias = which ~= "Muon"})
    return ranks and lg.distributed.data_parallel(made, {deterministic = true}) or made
  end
  local function optimizer()
    local options = {}
    for key, value in pairs(settings[which] or {}) do options[key] = value end
    if live then options.lr = handle end
    return optim[which](t.model:parameters(), options)
  end
  orders[order](t, name, model, optimizer, function() return makers[name](t.optimizer) end, extra(t))
  trainings[#trainings + 1] = t
end

local accumulates = with == "accumulation"

local function update(t, x, y, step)
  local function pass()
    local loss = F.mse_loss(t.model(x), y)
    if with == "GradScaler" then
      t.more:scale(loss):backward()
      if step == 4 then t.model.weight.grad:fill_(math.huge) end
    else
      loss:backward()
    end
    if with == "clipping" then nn.utils.clip_grad_norm_(t.model:parameters(), 0.05) end
    return loss
  end
  if which == "LBFGS" then
    return t.optimizer:step(function()
      t.optimizer:zero_grad()
      return pass()
    end)
  end
  local loss = pass()
  if with == "GradScaler" then
    t.more:step(t.optimizer)
    t.more:update()
  elseif not accumulates or step % 3 == 0 then
    t.optimizer:step()
  end
  if not accumulates or step % 3 == 0 then t.optimizer:zero_grad() end
  return loss
end

local function bits(value)
  if lg.is_tensor(value) then return bits(value:tolist()) end
  if type(value) == "number" then return ("%a"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, key in ipairs(keys) do parts[i] = tostring(key) .. "=" .. bits(value[key]) end
  return "{" .. table.concat(parts, " ") .. "}"
end

local data = lg.distributed
for step in lg.run.steps(10) do
  local x, y = lg.randn(8, 3), lg.randn(8, 2)
  if ranks then
    local each = 8 // data.size()
    x, y = x:narrow(1, data.rank() * each + 1, each), y:narrow(1, data.rank() * each + 1, each)
  end
  for _, t in ipairs(trainings) do
    local loss = update(t, x, y, step)
    t.schedule:step(t.name == "ReduceLROnPlateau" and ({3, 2, -1, -1, -1, -1.1, -5, -5, -5, -5})[step] or nil)
    if with == "SWA" then t.more:update_parameters(t.model) end
    if with == "EMA" then t.more:update() end
  end
  local lead = not ranks or data.rank() == 0
  for _, t in ipairs(lead and trainings or {}) do
    print(step, t.name, bits(t.model:state_dict()), bits(t.optimizer:state_dict()), bits(t.schedule:state_dict()),
      bits(t.more and t.more:state_dict() or {}))
  end
  if save then lg.run.checkpoint() end
end
