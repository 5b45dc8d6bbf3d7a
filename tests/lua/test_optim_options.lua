-- Optimizers and schedulers: options, names, hooks, misspelt fields, averages of weights.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn, optim = lg.nn, lg.optim
local schedules, swa = optim.lr_scheduler, optim.swa_utils

local function leaf(values) return lg.tensor(values, {requires_grad = true, dtype = "f64"}) end

-- PyTorch's implementation options are accepted; the error for a differentiable step says what to write.
for _, option in ipairs {"foreach", "fused", "capturable"} do
  assert(optim.Adam({leaf {1}}, {lr = 0.1, [option] = true}).param_groups[1].lr == 0.1)
  assert(optim.SGD({leaf {1}}, {[option] = false}).param_groups[1].lr == 1e-3)
end
assert(optim.AdamW({leaf {1}}, {differentiable = false}))
expect.raises("SGD: a step is not differentiable; write the update with ops", function()
  optim.SGD({leaf {1}}, {differentiable = true})
end)
expect.raises("SparseAdam: there are no sparse tensors", function() optim.SparseAdam({leaf {1}}) end)

-- Adam with decoupled decay takes AdamW's step.
do
  local a, b = leaf {1, -2}, leaf {1, -2}
  for _, pair in ipairs {
    {a, optim.Adam({a}, {weight_decay = 0.1, lr = 0.1, decoupled_weight_decay = true})},
    {b, optim.AdamW({b}, {weight_decay = 0.1, lr = 0.1})},
  } do
    pair[1].grad = lg.tensor({0.5, 1}, {dtype = "f64"})
    pair[2]:step()
  end
  expect.equal(a:detach(), b:detach())
end

-- maximize climbs, with every optimizer that has it.
for name, class in pairs(optim) do
  local meta = getmetatable(class)
  if meta and meta.__index == optim.Optimizer then
    local p = leaf {{1, 2}}
    local ok, optimizer = pcall(optim[name], {p}, {lr = 0.01, maximize = true})
    if ok then
      p.grad = lg.ones_like(p:detach())
      optimizer:step()
      assert(p[{1, 1}]:item() > 1, name)
    else
      assert(name == "Muon" or name == "LBFGS", name)
    end
  end
end

-- Every setting may differ between groups; groups and parameters have names, which the state keeps.
do
  local model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
  local optimizer = optim.AdamW({
    {params = model[1]:parameters(), name = "body", weight_decay = 0.5, betas = {0.5, 0.6}},
    {params = model[2]:named_parameters(), lr = 0.5, eps = 1e-3, amsgrad = true},
  }, {lr = 0.1})
  local groups = optimizer.param_groups
  assert(groups[1].name == "body" and groups[1].weight_decay == 0.5 and groups[2].weight_decay == 0.01)
  expect.equal(groups[2].param_names, {"weight", "bias"})
  model(lg.ones(1, 2)):sum():backward()
  optimizer:step()
  assert(optimizer.state[model[2].weight].max_exp_avg_sq and not optimizer.state[model[1].weight].max_exp_avg_sq)
  assert(optimizer:state_dict().param_groups[1].name == "body" and tostring(optimizer):find("group 1 (body)", 1, true))
  local named = optim.SGD(model:named_parameters(), {lr = 0.1})
  expect.equal(named.param_groups[1].param_names, {"0.weight", "0.bias", "1.weight", "1.bias"})
  expect.raises("SGD: unknown setting 'weight_dacay' in a group of parameters (known: dampening, lr,", function()
    named:add_param_group {params = {leaf {1}}, weight_dacay = 1}
  end)
  expect.raises("SGD: a group {params = {…}} expected (got a tensor)", function() named:add_param_group(leaf {1}) end)
end

-- Hooks of the step and of the state.
do
  local p, calls = leaf {1}, {}
  local optimizer = optim.SGD({p}, {lr = 0.5})
  local pre = optimizer:register_step_pre_hook(function(o)
    assert(o == optimizer)
    calls[#calls + 1] = "pre " .. p:item()
  end)
  optimizer:register_step_post_hook(function() calls[#calls + 1] = "post " .. p:item() end)
  p.grad = lg.tensor({1}, {dtype = "f64"})
  optimizer:step()
  pre:remove()
  optimizer:step()
  expect.equal(calls, {"pre 1.0", "post 0.5", "post 0.0"})
  optimizer:register_state_dict_post_hook(function(_, state) state.note = "kept" end)
  local noted
  optimizer:register_load_state_dict_pre_hook(function(_, state) noted = state.note end)
  optimizer:load_state_dict(optimizer:state_dict())
  assert(noted == "kept")
  expect.raises("register_step_pre_hook: a function expected (got nil)", function() optimizer:register_step_pre_hook() end)
end

-- Misspelt and misplaced fields of optimizers and schedulers.
do
  local optimizer = optim.Adam({leaf {1}}, {lr = 0.1})
  local wanted = "Adam: lr is a setting of a group of parameters; write optimizer.param_groups[1].lr"
  expect.raises(wanted, function() optimizer.lr = 3 end)
  expect.raises(wanted, function() return optimizer.lr end)
  expect.raises("Adam has no field or method 'zero_grads'; did you mean 'zero_grad'?", function() optimizer:zero_grads() end)
  expect.raises("Adam has no field or method 'stpe'; did you mean 'step'?", function() optimizer:stpe() end)
  expect.raises("Adam has no field or method 'color'; rawset(object, name, value)", function() optimizer.color = 1 end)
  assert(rawget(optimizer, "lr") == nil)
  local scheduler = schedules.StepLR(optimizer, 3)
  expect.raises("StepLR has no field or method 'get_last_rl'; did you mean 'get_last_lr'?", function()
    scheduler:get_last_rl()
  end)
  expect.raises("StepLR: the rate is a setting of the optimizer: optimizer.param_groups[1].lr", function() scheduler.lr = 1 end)
  expect.raises("load_state_dict is called with a colon: optimizer:load_state_dict(state)", function()
    optimizer.load_state_dict({})
  end)
  expect.raises("load_state_dict: the state of Adam expected", function() optimizer:load_state_dict {} end)
  expect.raises("SGD: step(closure) takes a function that returns the loss (got number)", function()
    optim.SGD({leaf {1}}):step(1)
  end)
end

-- A group's settings are known too; rawset sets a user-defined field.
do
  local optimizer = optim.SGD({leaf {1}}, {lr = 0.1})
  local group = optimizer.param_groups[1]
  expect.raises("SGD: a group of parameters has no setting 'moment'; did you mean 'momentum'?", function() group.moment = 1 end)
  group.lr, group.name = 0.2, "all"
  rawset(group, "scale", 2)
  assert(group.scale == 2 and group.name == "all")
  local scheduler = schedules.StepLR(optimizer, 3)
  expect.raises("StepLR: step() takes the number of an epoch or nothing (got a tensor); ReduceLROnPlateau takes a metric",
    function() scheduler:step(lg.ones(1)) end)
  expect.raises("step is called with a colon: scheduler:step()", function() scheduler.step() end)
end
for _, name in ipairs {"Muon", "LAMB", "Adafactor"} do
  expect.raises(name .. ": c64 parameters are not taken", function()
    local p = lg.zeros(1, 1, {dtype = "c64", requires_grad = true})
    p.grad = lg.zeros_like(p:detach())
    optim[name]({p}):step()
  end)
end

-- Muon, Adafactor and LAMB refuse what makes no sense.
local function step(name, start, options)
  local p = leaf(start)
  p.grad = lg.ones_like(p:detach())
  optim[name]({p}, options):step()
end
expect.raises("Muon: weights of two dims expected (got shape [1]); give biases, norms and embeddings to AdamW", function()
  step("Muon", {1})
end)
expect.raises("Muon: adjust_lr_fn is 'original' or 'match_rms_adamw' (got 'big')", function()
  step("Muon", {{1}}, {adjust_lr_fn = "big"})
end)
expect.raises("Muon: ns_steps must be an integer from 1 to 99", function() step("Muon", {{1}}, {ns_steps = 1e9}) end)
expect.raises("Adafactor: beta2_decay must not be positive (got 1)", function() step("Adafactor", {1}, {beta2_decay = 1}) end)
expect.raises("Adafactor: d must be positive (got 0)", function() step("Adafactor", {1}, {d = 0}) end)
-- Muon's update has orthonormal rows, but for the tolerance of its iteration.
do
  local p = leaf {{0, 0, 0}, {0, 0, 0}}
  p.grad = lg.randn(2, 3, {dtype = "f64"})
  optim.Muon({p}, {lr = 1, weight_decay = 0}):step()
  for i, value in ipairs(p:detach():matmul(p:detach():t()):diagonal():tolist()) do
    assert(value > 0.3 and value < 1.6, ("row %d has length %g"):format(i, value))
  end
end

-- ChainedScheduler and SWALR: PyTorch's rates.
local function rates(make, lr, count)
  local optimizer = optim.SGD({leaf {1}}, {lr = lr})
  local scheduler, list = make(optimizer), {}
  for i = 1, count do
    list[i] = optimizer.param_groups[1].lr
    scheduler:step()
  end
  return list
end
expect.close(rates(function(o)
  return schedules.ChainedScheduler {schedules.ConstantLR(o, 0.1, 2), schedules.ExponentialLR(o, 0.9)}
end, 1, 5), {0.1, 0.09, 0.81, 0.729, 0.6561}, 1e-12)
expect.raises("ChainedScheduler: scheduler 2 has another optimizer", function()
  schedules.ChainedScheduler {
    schedules.ExponentialLR(optim.SGD({leaf {1}}), 0.9), schedules.ExponentialLR(optim.SGD({leaf {1}}), 0.9),
  }
end)
for _, case in ipairs {
  {{anneal_epochs = 3}, {0.5, 0.3875, 0.1625, 0.05, 0.05, 0.05, 0.05}},
  {{anneal_epochs = 4, anneal_strategy = "linear"}, {0.5, 0.3875, 0.275, 0.1625, 0.05, 0.05, 0.05}},
  {{anneal_epochs = 0}, {0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05}},
} do
  expect.close(rates(function(o) return swa.SWALR(o, 0.05, case[1]) end, 0.5, 7), case[2], 1e-12)
end

-- AveragedModel: the mean of the weights, or a user-defined average; buffers are copied.
do
  local model = nn.Sequential(nn.Linear(1, 1, {bias = false}), nn.BatchNorm1d(1))
  local mean = swa.AveragedModel(model)
  local ema = swa.AveragedModel(model, {avg_fn = swa.get_ema_avg_fn(0.75)})
  for _, value in ipairs {1, 2, 6} do
    lg.no_grad(function()
      model[1].weight:fill_(value)
      model[2].running_mean:fill_(value)
    end)
    mean:update_parameters(model)
    ema:update_parameters(model)
  end
  expect.close(mean.module[1].weight:item(), 3)
  expect.close(ema.module[1].weight:item(), (0.75 * 1 + 0.25 * 2) * 0.75 + 0.25 * 6)
  assert(mean.module[2].running_mean:item() == 6 and mean.n_averaged:item() == 3 and model[1].weight:item() == 6)
  expect.equal(mean(lg.ones(2, 1)):size(), {2, 1})
  local x = lg.randn(64, 1)
  swa.update_bn(lg.data.DataLoader(lg.data.TensorDataset(x), {batch_size = 64}), mean.module)
  expect.close(mean.module[2].running_mean:item(), (x * 3):mean():item(), 1e-4)
  assert(mean.module[2].momentum == 0.1 and mean.module[2].num_batches_tracked:item() == 1)
end

-- The moving average of optim.EMA follows its parameters.
do
  local layer = nn.Linear(1, 1)
  local ema = optim.EMA(layer:parameters(), {decay = 0.5})
  layer:double()
  ema:update()
  assert(ema.averages[1]:dtype() == "f64")
  ema:swap()
end
