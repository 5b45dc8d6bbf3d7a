-- MAML on sines of random amplitude and phase: a start from which one step of gradient descent fits a new sine.
-- Finn, Abbeel, Levine, "Model-agnostic meta-learning for fast adaptation of deep networks", 2017.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local functional_call, vmap, grad = lg.func.functional_call, lg.func.vmap, lg.func.grad
local inner_lr, tasks, shots = 0.02, 8, 10

local model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
local meta_opt = lg.optim.Adam(model:parameters(), {lr = 3e-3})

local function sample_task()
  local amplitude, phase = lg.rand(1) * 4 + 1, lg.rand(1):mul(math.pi)
  return function(n)
    local x = lg.empty(n, 1):uniform_(-5, 5)
    return x, amplitude * lg.sin(x + phase)
  end
end

-- The parameters after one step; with create_graph the step itself is differentiated.
local function adapt(params, x, y, create_graph)
  local loss = F.mse_loss(functional_call(model, params, x), y)
  local names, list = {}, {}
  for name, p in pairs(params) do
    names[#names + 1], list[#list + 1] = name, p
  end
  local grads = lg.grad(loss, list, {create_graph = create_graph})
  local adapted = {}
  for i, name in ipairs(names) do adapted[name] = list[i] - inner_lr * grads[i] end
  return adapted
end

local function named()
  local params = {}
  for name, p in model:named_parameters() do params[name] = p end
  return params
end

local function test()
  local rng = lg.get_rng_state()
  lg.manual_seed(5)
  local before, after = 0, 0
  for _ = 1, 20 do
    local task = sample_task()
    local x, y = task(shots)
    local xq, yq = task(50)
    local adapted = adapt(named(), x, y, false)
    lg.no_grad(function()
      before = before + F.mse_loss(model(xq), yq):item() / 20
      after = after + F.mse_loss(functional_call(model, adapted, {xq}), yq):item() / 20
    end)
  end
  lg.set_rng_state(rng)
  return before, after
end

local _, untrained = test()
for _ = 1, 200 do
  meta_opt:zero_grad()
  local meta_loss = 0
  for _ = 1, tasks do
    local task = sample_task()
    local xs, ys = task(shots)
    local adapted = adapt(named(), xs, ys, true)
    local xq, yq = task(shots)
    meta_loss = meta_loss + F.mse_loss(functional_call(model, adapted, {xq}), yq)
  end
  meta_loss = meta_loss / tasks
  meta_loss:backward()
  meta_opt:step()
end
local before, after = test()
print(("loss of new sines after a step: %.2f untrained, %.2f trained (%.2f before)"):format(untrained, after, before))
assert(after < 0.75 * untrained and after < 0.9 * before)

-- The inner gradients of all tasks at once equal the gradients of each task.
local params = {}
for name, p in model:named_parameters() do params[name] = p:detach() end
local function loss_fn(p, x, y) return F.mse_loss(functional_call(model, p, x), y) end
local xs, ys = lg.randn(3, 5, 1), lg.randn(3, 5, 1)
local together = vmap(grad(loss_fn), {in_dims = {nil, 1, 1}})(params, xs, ys)
for i, x in ipairs(xs) do
  local alone = grad(loss_fn)(params, x, ys[i])
  for name, g in pairs(alone) do assert(lg.allclose(together[name][i], g, {atol = 1e-5, rtol = 1e-4}), name) end
end
