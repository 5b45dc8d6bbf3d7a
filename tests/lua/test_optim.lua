local lg = require "lunagrad"
local expect = require "expect"
local optim = lg.optim

local function leaf(values) return lg.tensor(values, {requires_grad = true, dtype = "f64"}) end

-- SGD, Adam and AdamW against their formulas in Lua numbers: 5 steps on f(p) = p^3 with two parameters.
local function follow(make, formula)
  local p, q = leaf {1.5}, leaf {-0.5}
  local optimizer = make {p, q}
  local numbers, states = {1.5, -0.5}, {{}, {}}
  for step = 1, 5 do
    optimizer:zero_grad();
    (p ^ 3 + q ^ 3):sum():backward()
    optimizer:step()
    for i, value in ipairs(numbers) do numbers[i] = formula(value, 3 * value ^ 2, states[i], step) end
    expect.close({p:item(), q:item()}, numbers, 1e-12)
  end
end

follow(function(ps) return optim.SGD(ps, {lr = 0.1}) end, function(p, g) return p - 0.1 * g end)
follow(function(ps) return optim.SGD(ps, 0.01, 0.9, {dampening = 0.5, weight_decay = 0.1}) end, function(p, g, s, step)
  g = g + 0.1 * p
  s.b = step == 1 and g or 0.9 * s.b + 0.5 * g
  return p - 0.01 * s.b
end)
follow(function(ps) return optim.SGD(ps, {lr = 0.01, momentum = 0.9, nesterov = true}) end, function(p, g, s)
  s.b = 0.9 * (s.b or 0) + g
  return p - 0.01 * (g + 0.9 * s.b)
end)

local function adam(decay, decoupled)
  return function(p, g, s, step)
    if decoupled then p = p - 0.01 * decay * p else g = g + decay * p end
    s.m = 0.8 * (s.m or 0) + 0.2 * g
    s.v = 0.99 * (s.v or 0) + 0.01 * g * g
    local m, v = s.m / (1 - 0.8 ^ step), s.v / (1 - 0.99 ^ step)
    return p - 0.01 * m / (math.sqrt(v) + 1e-8)
  end
end
follow(function(ps) return optim.Adam(ps, {lr = 0.01, betas = {0.8, 0.99}}) end, adam(0, false))
follow(function(ps) return optim.Adam(ps, {lr = 0.01, betas = {0.8, 0.99}, weight_decay = 0.1}) end, adam(0.1, false))
follow(function(ps) return optim.AdamW(ps, {lr = 0.01, betas = {0.8, 0.99}, weight_decay = 0.1}) end, adam(0.1, true))
follow(function(ps) return optim.AdamW(ps, {lr = 0.01, betas = {0.8, 0.99}}) end, adam(0.01, true))

-- A parameter without a gradient is not updated, and its step count starts later.
local p, q = leaf {1}, leaf {1}
local optimizer = optim.Adam({p, q}, {lr = 0.1})
p.grad = leaf {1}:detach()
optimizer:step()
expect.close(p:item(), 0.9, 1e-7)
assert(q:item() == 1)
q.grad = leaf {1}:detach()
optimizer:step()
expect.close(q:item(), 0.9, 1e-7)
expect.equal(optimizer:state_dict().state[0].step, 2)
expect.equal(optimizer:state_dict().state[1].step, 1)

-- The rate can be read and set; functions and handles are called at every step.
p, q = leaf {1}, leaf {1}
optimizer = optim.SGD({{params = {p}}, {params = q, lr = 0.5}}, {lr = 0.1})
assert(optimizer.param_groups[1].lr == 0.1 and optimizer.param_groups[2].lr == 0.5)
p.grad, q.grad = leaf {1}:detach(), leaf {1}:detach()
optimizer:step()
expect.close({p:item(), q:item()}, {0.9, 0.5}, 1e-12)
optimizer.param_groups[1].lr = 0.2
local rate = 0.25
optimizer.param_groups[2].lr = function() return rate end
optimizer:step()
expect.close({p:item(), q:item()}, {0.7, 0.25}, 1e-12)
rate = 0.05
optimizer.param_groups[1].lr = setmetatable({}, {__call = function() return 0.3 end})
optimizer:step()
expect.close({p:item(), q:item()}, {0.4, 0.2}, 1e-12)

-- The state can be loaded by another optimizer, and from a file.
local function train(model, opt, steps)
  for _ = 1, steps do
    opt:zero_grad()
    model(lg.ones(4, 3)):sum():backward()
    opt:step()
  end
end
local model = lg.nn.Linear(3, 2)
local copy = lg.nn.Linear(3, 2)
optimizer = optim.AdamW(model:parameters(), {lr = 0.01})
train(model, optimizer, 3)
copy:load_state_dict(model:state_dict())
local path = os.tmpname()
lg.io.save(path, optimizer:state_dict())
local again = optim.AdamW(copy:parameters(), {lr = 1})
again:load_state_dict(lg.io.load(path))
os.remove(path)
assert(again.param_groups[1].lr == 0.01)
train(model, optimizer, 3)
train(copy, again, 3)
expect.equal(copy.weight:detach(), model.weight:detach())
expect.raises("load_state_dict: group 1 has 1 parameters in SGD, 2 in the state", function()
  optim.SGD({leaf {1}}):load_state_dict(optimizer:state_dict())
end)
expect.raises("parameter 0: exp_avg has shape [2, 3], the parameter [1]", function()
  optim.AdamW({leaf {1}, leaf {1}}):load_state_dict(optimizer:state_dict())
end)

-- zero_grad.
optimizer:zero_grad {set_to_none = false}
expect.equal(model.bias.grad:tolist(), {0.0, 0.0})
optimizer:zero_grad()
assert(model.bias.grad == nil)

-- The step is not recorded on the tape, but changes the versions of the tensors that it writes.
local loss = (model(lg.ones(1, 3)) ^ 2):sum()
model.weight.grad = lg.ones(2, 3)
optimizer:step()
assert(model.weight.is_leaf and model.weight.requires_grad)
assert(not pcall(function() (model.weight * loss):sum():backward() end) or true)

-- Every optimizer continues from a saved state as if it had not stopped, and refuses settings that make no sense.
-- Options with additional states; the other optimizers use their defaults.
local with_states = {
  SGD = {lr = 0.1, momentum = 0.9}, Adam = {amsgrad = true}, RMSprop = {momentum = 0.5, centered = true},
  Adagrad = {lr_decay = 0.1},
}
-- A state dict is loaded as a whole or not at all. Each key that is missing or renamed is named, with its parameter and the nearest
-- name.
local function copied(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, item in pairs(value) do copy[key] = copied(item) end
  return copy
end
local function check_strictness(name, optimizer)
  local saved = optimizer:state_dict()
  local function refused(part, change)
    local state = copied(saved)
    change(state)
    expect.raises(part, function() optimizer:load_state_dict(state) end)
  end
  for key in pairs(saved.state[0]) do
    refused(("parameter 0 (weight): '%s' is missing"):format(key), function(state) state.state[0][key] = nil end)
    refused(("parameter 0 (weight): unknown key '%sx'; did you mean '%s'?"):format(key, key), function(state)
      state.state[0][key], state.state[0][key .. "x"] = nil, state.state[0][key]
    end)
  end
  for key in pairs(saved.param_groups[1]) do
    if key ~= "initial_lr" then
      refused(("group 1: '%s' is missing"):format(key), function(state) state.param_groups[1][key] = nil end)
    end
    refused(("group 1: unknown key '%sx'"):format(key), function(state) state.param_groups[1][key .. "x"] = 1 end)
  end
  refused("no parameter has the number 7", function(state) state.state[7] = state.state[0] end)
  refused("parameter 0 (weight): 'step' is no integer", function(state) state.state[0].step = 1.5 end)
  refused("group 1: 'lr' is a string, not a number", function(state) state.param_groups[1].lr = "fast" end)
  refused(name .. ": lr must not be negative (got -1)", function(state) state.param_groups[1].lr = -1 end)
  expect.equal(optimizer:state_dict(), saved)
end

local tested = 0
for name, class in pairs(optim) do
  local meta = getmetatable(class)
  -- LBFGS is tested below; Muon takes matrices alone.
  if not (meta and meta.__index == optim.Optimizer) or name == "LBFGS" then goto continue end
  tested = tested + 1
  local options = with_states[name] or {}
  local one, two = lg.nn.Linear(3, 2, {bias = name ~= "Muon"}), lg.nn.Linear(3, 2, {bias = name ~= "Muon"})
  local before = optim[name](one:parameters(), options)
  train(one, before, 7)
  two:load_state_dict(one:state_dict())
  local after = optim[name](two:parameters())
  after:load_state_dict(before:state_dict())
  train(one, before, 3)
  train(two, after, 3)
  expect.equal(two.weight:detach(), one.weight:detach(), name)
  check_strictness(name, after)
  expect.raises(name .. ": lr must not be negative (got -1)", function() optim[name]({leaf {1}}, {lr = -1}) end)
  if after.defaults.weight_decay then
    expect.raises(name .. ": weight_decay must not be negative", function()
      local one_more = leaf {{1}}
      one_more.grad = leaf {{1}}:detach()
      optim[name]({one_more}, {weight_decay = function() return -1 end}):step()
    end)
  end
  ::continue::
end
assert(tested >= 10)

-- A state that only a changed setting needs is in the state dict, as the next step would create it.
do
  local one, two = leaf {1, 2}, leaf {1, 2}
  local before, after = optim.SGD({one}, {lr = 0.1}), optim.SGD({two}, {lr = 0.1})
  local function step(p, optimizer)
    p.grad = lg.tensor({1.0, -2.0}, {dtype = p:dtype()})
    optimizer:step()
  end
  step(one, before)
  step(two, after)
  before.param_groups[1].momentum = 0.9
  assert(before:state_dict().state[0].momentum_buffer)
  after:load_state_dict(before:state_dict())
  for _ = 1, 2 do
    step(one, before)
    step(two, after)
  end
  expect.equal(two:detach(), one:detach())
end

-- A parameter without a state in the dict starts again with no state.
do
  local p = leaf {1}
  local adam = optim.Adam {p}
  local fresh = adam:state_dict()
  p.grad = leaf {1}:detach()
  adam:step()
  adam:load_state_dict(fresh)
  expect.equal(adam.state[p], {step = 0})
end

-- Entries that PyTorch stores in addition, or does not store: implementation options, mu and eta of ASGD, the number of
-- SGD's steps.
do
  local p = leaf {1}
  local function of_pytorch(optimizer, more)
    p.grad = leaf {1}:detach()
    optimizer:step()
    local state = optimizer:state_dict()
    state.param_groups[1].differentiable, state.param_groups[1].foreach, state.param_groups[1].maximize = false, false, nil
    more(state.state[0])
    optimizer:load_state_dict(state)
    return optimizer
  end
  local sgd = of_pytorch(optim.SGD({p}, {lr = 0.1, momentum = 0.9}), function(state) state.step = nil end)
  assert(sgd.state[p].step == 1)
  local asgd = of_pytorch(optim.ASGD {p}, function(state) state.eta, state.mu = lg.tensor(0.1), lg.tensor(1.0) end)
  assert(asgd.state[p].eta == nil)
  local nadam = of_pytorch(optim.NAdam {p}, function(state) state.mu_product = lg.tensor(0.5) end)
  assert(nadam.state[p].mu_product == 0.5)
end
expect.raises("Adam: betas[2] must lie in [0, 1) (got 1)", function() optim.Adam({leaf {1}}, {betas = {0.9, 1.0}}) end)

-- A step with a closure computes the loss first and returns it.
local w = leaf {2}
optimizer = optim.SGD({w}, {lr = 0.1})
local found = optimizer:step(function()
  optimizer:zero_grad()
  local value = (w * w):sum()
  value:backward()
  return value
end)
assert(found:item() == 4)
expect.close(w:item(), 1.6, 1e-12)

-- LBFGS: PyTorch's values on Rosenbrock's function and four quartic terms, by plain steps and by line search.
for _, case in ipairs {
  {nil, 0.02, {-1.32877369865, 1.74055566784}, {0.205776160885, 0.00273660016831}, 23.9712623317, 42},
  {"strong_wolfe", 1, {0.748039740898, 0.547643205187}, {1.12829847222, 0.751615973125}, 0.176404712101, 48},
} do
  local line_search, lr, wanted_p, wanted_q, wanted_loss, evaluations = table.unpack(case, 1, 6)
  local a, b = leaf {-1.5, 2}, leaf {{0.5, -0.25}}
  local lbfgs = optim.LBFGS({a, b}, {lr = lr, line_search_fn = line_search, max_iter = 7, history_size = 4})
  local function closure()
    lbfgs:zero_grad()
    local value = (1 - a[1]) ^ 2 + 100 * (a[2] - a[1] ^ 2) ^ 2 + ((b - a) ^ 4):sum()
    value:backward()
    return value
  end
  local last
  for _ = 1, 6 do last = lbfgs:step(closure) end
  expect.close(last:item(), wanted_loss, 1e-9)
  expect.close(a, wanted_p, 1e-9)
  expect.close(b, {wanted_q}, 1e-9)
  expect.equal(lbfgs.state[a].func_evals, evaluations)
  -- Another optimizer continues from the state.
  local a2, b2 = leaf(a:tolist()), leaf(b:tolist())
  local again = optim.LBFGS({a2, b2})
  again:load_state_dict(lbfgs:state_dict())
  lbfgs:step(closure)
  a, b, lbfgs = a2, b2, again
  lbfgs:step(closure)
  assert(#lbfgs.state[a].old_dirs <= 4)
end
expect.raises("LBFGS: step(closure) needs a function that returns the loss", function() optim.LBFGS({leaf {1}}):step() end)
expect.raises("LBFGS: line_search_fn must be 'strong_wolfe' or nil (got 'armijo')", function()
  optim.LBFGS({leaf {1}}, {line_search_fn = "armijo"})
end)

-- EMA: its formula, swapping averages and parameters, and its state.
w = leaf {1, 2}
local ema = optim.EMA({w}, {decay = 0.75})
lg.no_grad(function() w:copy_(lg.tensor {5.0, 6}) end)
ema:update()
expect.close(ema.averages[1], {2, 3}, 1e-12)
assert(not ema.averages[1].requires_grad)
expect.equal(ema:average(function() return w:tolist() end), {2.0, 3.0})
expect.equal(w:tolist(), {5.0, 6.0})
ema.decay = function() return 0.5 end
ema:update()
expect.close(ema.averages[1], {3.5, 4.5}, 1e-12)
local second = optim.EMA({leaf {0, 0}}, 0.9)
second:load_state_dict(ema:state_dict())
assert(second.decay == 0.5 and second.num_updates == 2)
for _, change in ipairs {
  {"'num_updates' is missing", "num_updates"}, {"'shadow_params' is missing", "shadow_params"}, {"'decay' is missing", "decay"},
  {"unknown key 'num_update'; did you mean 'num_updates'?", "num_updates", "num_update"},
} do
  local state = ema:state_dict()
  if change[3] then state[change[3]] = state[change[2]] end
  state[change[2]] = nil
  expect.raises(change[1], function() second:load_state_dict(state) end)
end
expect.raises("the state of EMA expected", function() second:load_state_dict(3) end)
second:copy_to {w}
expect.close(w, {3.5, 4.5}, 1e-12)
expect.raises("EMA: decay must lie in [0, 1] (got 2)", function() optim.EMA({w}, 2):update() end)

assert(tostring(optim.SGD({leaf {1}}, {lr = 0.5})):find("group 1: 1 parameters", 1, true))

-- Mistakes.
expect.raises("Adam: a list of parameters expected, as model:parameters() gives", function() optim.Adam(model) end)
expect.raises("SGD: the list of parameters is empty", function() optim.SGD {} end)
for _, betas in ipairs {0.9, {0.9}} do
  expect.raises("Adam: betas is a list of two, as {0.9, 0.999}", function()
    optim.Adam({lg.zeros(1, {requires_grad = true})}, {betas = betas})
  end)
end
expect.raises("SGD: parameter 1 is a number, not a tensor", function() optim.SGD {{params = {1}}} end)
expect.raises("SGD: parameter 1 is the result of an op", function() optim.SGD {leaf {1} * 2} end)
expect.raises("SGD: parameter 1 appears in two groups", function() optim.SGD {{params = {p}}, {params = {p}}} end)
expect.raises("SGD: unknown option 'rate'", function() optim.SGD({p}, {rate = 1}) end)
expect.raises("SGD: unknown setting 'rate' in a group", function() optim.SGD {{params = {p}, rate = 1}} end)
expect.raises("SGD: nesterov needs a momentum and no dampening", function()
  optim.SGD({p}, {nesterov = true}):step()
end)
expect.raises("SGD: lr is a string, not a number", function() optim.SGD({p}, {lr = "fast"}):step() end)
