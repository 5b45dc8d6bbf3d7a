-- The workloads of `lunagrad bench`: a table of rows: a name, the number of operations in a call, and a
-- function that sets up and returns the call to be timed. tests/bench/workloads_torch.py has the same rows for PyTorch.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function tiny_add(requires_grad)
  return function()
    local a, b = lg.ones(4, {requires_grad = requires_grad}), lg.ones(4)
    return function()
      for _ = 1, 1000 do local _ = a + b end
    end
  end
end

local function chain(op, backward)
  return function()
    local a, b = lg.ones(4, {requires_grad = true}), lg.ones(4)
    return function()
      local x = a
      for _ = 1, 1000 do x = op(x, b) end
      if backward then
        a.grad = nil
        x:sum():backward()
      end
    end
  end
end

local M = {}

local function adam(parameters) return lg.optim.Adam(parameters, {lr = 1e-3}) end

-- A training step on the default device; `optimize` creates the optimizer for given parameters.
function M.training(build, x, y, loss, optimize)
  return function()
    local model, inputs, targets = build():to(lg.device()), x(), y()
    local optimizer = (optimize or adam)(model:parameters())
    return function()
      optimizer:zero_grad()
      loss(model(inputs), targets):backward()
      optimizer:step()
    end
  end
end
local training = M.training

local function mlp()
  return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
end

local function tiny_mlp()
  return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
end

-- A CNN for images of 28 x 28 pixels, with the given channels after each convolution.
function M.cnn(first, second)
  return function()
    return nn.Sequential(
      nn.Conv2d(1, first, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
      nn.Conv2d(first, second, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
      nn.Flatten(), nn.Linear(second * 7 * 7, 10))
  end
end

local Gpt = nn.class("Gpt")

function Gpt:init(vocabulary, length, width, layers, heads, dropout)
  self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
  self.blocks = nn.ModuleList {}
  for _ = 1, layers do
    self.blocks:append(nn.TransformerEncoderLayer(width, heads, {
      dim_feedforward = 4 * width, activation = "gelu", batch_first = true, norm_first = true, dropout = dropout,
    }))
  end
  self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
end

function Gpt:forward(ids)
  local x = self.tokens(ids) + self.positions.weight
  for _, block in ipairs(self.blocks) do x = block(x, {is_causal = true}) end
  return self.head(self.norm(x)):flatten(1, 2)
end

function M.gpt(length, width, layers, heads, dropout)
  return function() return Gpt(65, length, width, layers, heads, dropout) end
end

function M.uniform(...)
  local shape = {...}
  return function() return lg.rand(shape) end
end

local uniform = M.uniform

function M.labels(n, classes)
  return function() return lg.arange(n):remainder(classes) end
end

local labels = M.labels

local function elementwise(f)
  return function()
    local a, b = lg.rand(10000000), lg.rand(10000000)
    return function() return f(a, b) end
  end
end

local function forward_backward(f, backward)
  return function()
    local x = lg.randn(8192, 1024, {requires_grad = backward})
    return function()
      local y = f(x)
      if backward then
        x.grad = nil
        y:backward(y:dim() > 0 and lg.ones_like(y) or nil)
      end
    end
  end
end

local function softmax(x) return x:softmax(2) end

local weight, bias, targets
local function layer_norm(x)
  weight, bias = weight or lg.ones(1024), bias or lg.zeros(1024)
  return F.layer_norm(x, {1024}, weight, bias)
end

local function cross_entropy(x)
  targets = targets or labels(8192, 1024)()
  return F.cross_entropy(x, targets)
end

local function conv2d(backward)
  return function()
    local x = lg.randn(32, 32, 28, 28, {requires_grad = backward})
    local w = lg.randn(64, 32, 3, 3, {requires_grad = backward})
    local g = lg.ones(32, 64, 28, 28)
    return function()
      local y = F.conv2d(x, w, nil, {padding = 1})
      if backward then
        x.grad, w.grad = nil, nil
        y:backward(g)
      end
    end
  end
end

local function depthwise()
  local x = lg.randn(32, 64, 28, 28, {requires_grad = true})
  local w = lg.randn(64, 1, 3, 3, {requires_grad = true})
  local g = lg.ones(32, 64, 28, 28)
  return function()
    local y = F.conv2d(x, w, nil, {padding = 1, groups = 64})
    x.grad, w.grad = nil, nil
    y:backward(g)
  end
end

local function conv1d()
  local x = lg.randn(16, 64, 1024, {requires_grad = true})
  local w = lg.randn(64, 64, 5, {requires_grad = true})
  local g = lg.ones(16, 64, 1024)
  return function()
    local y = F.conv1d(x, w, nil, {padding = 2})
    x.grad, w.grad = nil, nil
    y:backward(g)
  end
end

local function pool(f)
  return function()
    local x = lg.randn(32, 64, 56, 56, {requires_grad = true})
    return function()
      local y = f(x)
      x.grad = nil
      y:backward(lg.ones_like(y))
    end
  end
end

local function attention(batch, heads, length, features)
  return function()
    local function operand() return lg.randn(batch, heads, length, features, {requires_grad = true}) end
    local q, k, v, g = operand(), operand(), operand(), lg.ones(batch, heads, length, features)
    return function()
      q.grad, k.grad, v.grad = nil, nil, nil
      F.scaled_dot_product_attention(q, k, v, {is_causal = true}):backward(g)
    end
  end
end

-- An LSTM of 128 units over 64 steps of 32 sequences, as a layer and as a loop over its cell.
local function lstm_layer()
  local lstm, x, g = nn.LSTM(128, 128), lg.randn(64, 32, 128), lg.ones(64, 32, 128)
  return function()
    lstm:zero_grad()
    lstm(x):backward(g)
  end
end

local function lstm_written_out()
  local input, hidden, x = nn.Linear(128, 512), nn.Linear(128, 512), lg.randn(64, 32, 128)
  return function()
    input:zero_grad()
    hidden:zero_grad()
    local h, c = lg.zeros(32, 128), lg.zeros(32, 128)
    for t = 1, 64 do
      local i, f, g, o = table.unpack((input(x[t]) + hidden(h)):chunk(4, 2))
      c = f:sigmoid() * c + i:sigmoid() * g:tanh()
      h = o:sigmoid() * c:tanh()
    end
    h:sum():backward()
  end
end

local function adam_large()
  local params = {}
  for i = 1, 8 do
    params[i] = lg.randn(1024, 1024, {requires_grad = true})
    params[i].grad = lg.randn(1024, 1024)
  end
  local optimizer = lg.optim.Adam(params, {lr = 1e-3})
  return function() optimizer:step() end
end

local function sgemm()
  local a, b = lg.randn(1024, 1024), lg.randn(1024, 1024)
  return function() return a:matmul(b) end
end

-- One operation on a tensor, which is made once.
local function on(make, f)
  return function()
    local x = make()
    return function() return f(x) end
  end
end

local function signal() return lg.randn(1 << 20, {dtype = "c64"}) end
local function square() return lg.randn(512, 512) end
local function positive()
  local x = lg.randn(1024, 1024)
  return x:matmul(x:t()) + 1024 * lg.eye(1024)
end
local function million() return lg.randn(1000000) end

local function add(a, b) return a + b end
local function mul(a, b) return a * b end

-- {name, operations per call, set-up, bytes or FLOPs per call (for a rate)}. A set-up that measures two things at once
-- also returns the seconds that the longer of the two takes alone.
M.workloads = {
  {"tiny add", 1000, tiny_add(false)},
  {"tiny add, grad", 1000, tiny_add(true)},
  {"add chain forward", 1000, chain(add, false)},
  {"add chain forward+backward", 1000, chain(add, true)},
  {"mul chain forward+backward", 1000, chain(mul, true)},
  {"mlp step", 1, training(mlp, uniform(128, 784), labels(128, 10), F.cross_entropy)},
  {"tiny mlp step", 1, training(tiny_mlp, uniform(64, 2), uniform(64, 1), F.mse_loss)},
  {"cnn step", 1, training(M.cnn(16, 32), uniform(64, 1, 28, 28), labels(64, 10), F.cross_entropy)},
  {"gpt step", 1, training(M.gpt(64, 128, 2, 4, 0.1), function() return labels(16 * 64, 65)():view(16, 64) end, labels(16 * 64, 65),
    F.cross_entropy)},
  {"add 1e7", 1, elementwise(add), bytes = 12e7},
  {"tanh 1e7", 1, elementwise(function(a) return a:tanh() end), bytes = 8e7},
  {"exp 1e7", 1, elementwise(function(a) return a:exp() end), bytes = 8e7},
  {"7-op chain 1e7", 1, elementwise(function(a, b) return ((a * b + a):tanh() * 2 - b):exp() + a end), bytes = 12e7},
  {"softmax forward", 1, forward_backward(softmax, false), bytes = 6.7e7},
  {"softmax forward+backward", 1, forward_backward(softmax, true)},
  {"layer_norm forward", 1, forward_backward(layer_norm, false), bytes = 6.7e7},
  {"layer_norm forward+backward", 1, forward_backward(layer_norm, true)},
  {"cross_entropy forward", 1, forward_backward(cross_entropy, false), bytes = 3.4e7},
  {"cross_entropy forward+backward", 1, forward_backward(cross_entropy, true)},
  {"gelu forward", 1, forward_backward(F.gelu, false), bytes = 6.7e7},
  {"gelu forward+backward", 1, forward_backward(F.gelu, true)},
  {"conv2d forward", 1, conv2d(false), flops = 32 * 28 * 28 * 64 * 32 * 9 * 2},
  {"conv2d forward+backward", 1, conv2d(true), flops = 3 * 32 * 28 * 28 * 64 * 32 * 9 * 2},
  {"conv1d forward+backward", 1, conv1d, flops = 3 * 16 * 1024 * 64 * 64 * 5 * 2},
  {"depthwise forward+backward", 1, depthwise},
  {"max_pool 3x3 forward+backward", 1, pool(function(x) return F.max_pool2d(x, 3, 2, 1) end)},
  {"avg_pool 3x3 forward+backward", 1, pool(function(x) return F.avg_pool2d(x, 3, 2, 1) end)},
  {"attention 16x4x64x32 forward+backward", 1, attention(16, 4, 64, 32)},
  {"attention 4x8x512x64 forward+backward", 1, attention(4, 8, 512, 64)},
  {"lstm forward+backward", 1, lstm_layer},
  {"lstm written out", 1, lstm_written_out},
  {"adam 8.4M", 1, adam_large, bytes = 8 * 2 ^ 20 * 28},
  {"sgemm 1024", 1, sgemm, flops = 2 * 1024 ^ 3},
  {"fft 2^20", 1, on(signal, lg.fft.fft), flops = 5 * 20 * 2 ^ 20},
  {"svd 512", 1, on(square, function(x) return lg.linalg.svd(x, false) end)},
  {"lu 512", 1, on(square, lg.linalg.lu_factor), flops = 2 / 3 * 512 ^ 3},
  {"cholesky 1024", 1, on(positive, lg.linalg.cholesky), flops = 1024 ^ 3 / 3},
  {"sort 1e6", 1, on(million, function(x) return x:sort() end)},
  {"unique 1e6", 1, on(million, function(x) return x:unique() end)},
  {"median 1e6", 1, on(million, function(x) return x:median() end)},
  {"topk 1000 of 1e6", 1, on(million, function(x) return x:topk(1000) end)},
}

-- The workloads for the default device.
local function workloads()
  return lg.device() == "cpu" and M.workloads or require "lunagrad.bench_device"
end

-- Best and median time of a call, in seconds, measured for about `seconds`. It waits for the device after every
-- `together` calls; with `host_alone` the wait is not counted. `clock` returns seconds; default: lg.clock.
function M.time(call, seconds, together, host_alone, clock)
  clock = clock or lg.clock
  local times, start = {}, clock()
  together = together or 1
  repeat
    local t = clock()
    for _ = 1, together do call() end
    local handed_over = clock()
    lg.synchronize()
    times[#times + 1] = ((host_alone and handed_over or clock()) - t) / together
  until #times >= 3 and clock() - start > seconds
  table.sort(times)
  return times[1], times[(#times + 1) // 2], #times
end

function M.find(name)
  local names = {}
  for i, workload in ipairs(workloads()) do
    if workload[1] == name then return workload end
    names[i] = workload[1]
  end
  error(("bench: no workload is called '%s'; there are:\n  %s"):format(name, table.concat(names, "\n  ")), 0)
end

local function duration(s)
  if s >= 1e-3 then return ("%9.3f ms"):format(s * 1e3) end
  return ("%9.3f µs"):format(s * 1e6)
end

local function rate(workload, best)
  if workload.bytes then return ("%7.1f GB/s"):format(workload.bytes / best / 1e9) end
  if workload.flops then return ("%7.1f GFLOP/s"):format(workload.flops / best / 1e9) end
  return ""
end

-- Times the given workloads (default: all) and prints a table.
function M.run(names)
  local chosen = workloads()
  if names and #names > 0 then
    chosen = {}
    for i, name in ipairs(names) do chosen[i] = M.find(name) end
  end
  print(("%-40s %12s %12s"):format("workload", "best", "median"))
  for _, workload in ipairs(chosen) do
    local name, count, setup = table.unpack(workload)
    local call, alone = setup()
    M.time(call, 0.1, workload.calls, workload.host)
    local best, median = M.time(call, 0.4, workload.calls, workload.host)
    local note = alone and ("%7.2f of the longer alone"):format(best / alone) or rate(workload, best)
    print(("%-40s %s %s  %s"):format(name, duration(best / count), duration(median / count), note))
  end
end

return M
