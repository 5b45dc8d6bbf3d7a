-- MAML: the loss after a few steps of gradient descent is differentiated through these steps. Finn, Abbeel, Levine,
-- "Model-agnostic meta-learning for fast adaptation of deep networks", 2017.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Net = nn.class("Net")
function Net:init(s)
  self.weights = nn.ParameterList()
  local channels = 1
  for _ = 1, s.layers do
    self.weights:append(nn.Parameter(nn.init.kaiming_normal_(lg.empty(s.channels, channels, 3, 3))))
    self.weights:append(nn.Parameter(lg.zeros(s.channels)))
    channels = s.channels
  end
  local features = channels * (s.image >> s.layers) ^ 2 // 1 | 0
  self.weights:append(nn.Parameter(nn.init.kaiming_normal_(lg.empty(s.ways, features))))
  self.weights:append(nn.Parameter(lg.zeros(s.ways)))
end
function Net:forward(x, weights)
  weights = weights or self.weights
  local layers = #weights // 2 - 1
  for i = 1, layers do
    x = F.conv2d(x, weights[2 * i - 1], weights[2 * i], {padding = 1})
    x = F.max_pool2d(F.relu(x), 2)
  end
  return F.linear(x:flatten(2), weights[2 * layers + 1], weights[2 * layers + 2])
end

return function(zoo)
  local s = zoo.sizes
  local model = Net(s):to(zoo.device)
  local meta = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local shape = {s.tasks, s.ways * s.shots, 1, s.image, s.image}
  local support_x, query_x = zoo.wave(shape), zoo.wave(shape, 1)
  local support_y = zoo.ids({s.tasks, s.ways * s.shots}, s.ways)
  local query_y = zoo.ids({s.tasks, s.ways * s.shots}, s.ways, 1)

  local function task_loss(task)
    local weights = model:parameters()
    for _ = 1, s.inner do
      local loss = zoo.autocast(function() return F.cross_entropy(model(support_x[task], weights), support_y[task]) end)
      local grads = lg.grad(loss, weights, {create_graph = true})
      local updated = {}
      for i, w in ipairs(weights) do updated[i] = w - 0.01 * grads[i] end
      weights = updated
    end
    return zoo.autocast(function() return F.cross_entropy(model(query_x[task], weights), query_y[task]) end)
  end
  local function step()
    meta:zero_grad()
    local total = 0
    for task = 1, s.tasks do total = total + task_loss(task) end
    local loss = total / s.tasks
    loss:backward()
    meta:step()
    return loss
  end
  return {module = model, step = step, infer = function() return zoo.autocast(function() return model(query_x[1]) end) end}
end
