-- Our side of tests/bench/steps: whole training steps of small models, on the default device.
--
--   lunagrad run steps.lua --device D -- WORKLOAD WAY
--
-- The way is `eager`, `deferred` or `captured` (lg.compile). First it prints "ready"; then each line on standard input is answered by the
-- seconds of the best step of a timed round.
local lg = require "lunagrad"
local bench = require "lunagrad.bench"
local nn, F = lg.nn, lg.nn.functional

local name, way = arg[1], arg[2]
local device = lg.device()

local function training(model, x, y, loss_of)
  model:to(device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  return function()
    optimizer:zero_grad()
    local loss = loss_of(model(x), y)
    loss:backward()
    optimizer:step()
    return loss
  end
end

-- An LSTM whose steps are a loop of the script.
local Loop = nn.class("Loop")
function Loop:init(inputs, width)
  self.input, self.state = nn.Linear(inputs, 4 * width), nn.Linear(width, 4 * width)
  self.head, self.width = nn.Linear(width, 1), width
end
function Loop:forward(x)
  local batch, length = x:size(1), x:size(2)
  local h, c = lg.zeros(batch, self.width), lg.zeros(batch, self.width)
  for t = 1, length do
    local i, f, g, o = table.unpack((self.input(x:select(2, t)) + self.state(h)):chunk(4, 2))
    c = f:sigmoid() * c + i:sigmoid() * g:tanh()
    h = o:sigmoid() * c:tanh()
  end
  return self.head(h)
end

-- Seven elementwise operations, without gradients.
local function chain()
  local n = device == "cpu" and 10000000 or 1 << 27
  local x, y = lg.randn(n), lg.randn(n)
  return function() return ((x * y + 1):relu() * 0.5 - y):abs() + x end
end

-- Products alone, so that deferring calls gains nothing.
local function products()
  local n = device == "cpu" and 256 or 1024
  local x, seed, weights = lg.randn(n, n), lg.randn(n, n), {}
  for i = 1, 4 do weights[i] = lg.randn(n, n, {requires_grad = true}) end
  return function()
    local y = x
    for _, w in ipairs(weights) do
      w.grad = nil
      y = y:matmul(w)
    end
    y:backward(seed)
    return y
  end
end

local function labels(n, classes) return lg.arange(n):remainder(classes) end

local workloads = {
  tiny = function()
    local net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    return training(net, lg.randn(32, 2), lg.randn(32, 1), F.mse_loss)
  end,
  chain = chain,
  products = products,
  loop = function() return training(Loop(16, 32), lg.randn(8, 20, 16), lg.randn(8, 1), F.mse_loss) end,
  mlp = function()
    local net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    return training(net, lg.rand(64, 784), labels(64, 10), F.cross_entropy)
  end,
  cnn = function()
    local net = nn.Sequential(
      nn.Conv2d(1, 32, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
      nn.Conv2d(32, 64, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
      nn.Flatten(), nn.Linear(64 * 7 * 7, 10))
    return training(net, lg.rand(64, 1, 28, 28), labels(64, 10), F.cross_entropy)
  end,
}
-- The workloads of `lunagrad bench` on a GPU: "mlp step", "gpt step bf16".
for _, row in ipairs(require "lunagrad.bench_device") do workloads[row[1]] = row[3] end

lg.manual_seed(1)
local step = workloads[name]()
if way == "deferred" then step = lg.compile(step) elseif way == "captured" then step = lg.compile(step, {capture_graph = true}) end
for _ = 1, 20 do step() end
lg.synchronize()
print "ready"
io.stdout:flush()
for _ in io.lines() do
  print(("%.9g"):format((bench.time(step, 0.3, 20))))
  io.stdout:flush()
end
