-- The workloads of `lunagrad bench --device`: bench.lua's workloads are too small for a GPU. The rows have two more
-- fields than in bench.lua. `calls`: how often a workload is called before waiting for the device, as in a training
-- loop; a single call would include the round trip to the device, which takes longer than most kernels. `host`: the
-- time that the calls take on the host is measured.
-- tests/bench/workloads_cuda.py has the same rows for PyTorch, except the row that measures two things at once.
local lg = require "lunagrad"
local bench = require "lunagrad.bench"
local nn, F = lg.nn, lg.nn.functional
local training, uniform, labels = bench.training, bench.uniform, bench.labels

local function unary(f, n)
  return function()
    local x = lg.rand(n or 2 ^ 28 // 1)
    return function() return f(x) end
  end
end

local function binary(f)
  return function()
    local a, b = lg.rand(2 ^ 28 // 1), lg.rand(2 ^ 28 // 1)
    return function() return f(a, b) end
  end
end

local function rows(f)
  return function()
    local x = lg.randn(65536, 1024)
    return function() return f(x) end
  end
end

local weight, bias
local function layer_norm(x)
  weight, bias = weight or lg.ones(1024, {requires_grad = true}), bias or lg.zeros(1024, {requires_grad = true})
  return F.layer_norm(x, {1024}, weight, bias)
end

local function layer_norm_backward()
  local x, g = lg.randn(65536, 1024, {requires_grad = true}), lg.ones(65536, 1024)
  return function()
    x.grad = nil
    layer_norm(x):backward(g)
  end
end

local function product(n, dtype, precision)
  return function()
    local a, b = lg.randn(n, n):to(dtype), lg.randn(n, n):to(dtype)
    return function()
      if precision then lg.set_matmul_precision(precision) end
      local c = a:matmul(b)
      lg.set_matmul_precision("highest")
      return c
    end
  end
end

-- The same call with matrix products in bf16.
local function autocast(setup)
  return function()
    local call = setup()
    return function() lg.autocast("bf16", call) end
  end
end

local function conv2d()
  local x, w = lg.randn(64, 64, 56, 56), lg.randn(64, 64, 3, 3)
  return function() return F.conv2d(x, w, nil, {padding = 1}) end
end

local function conv2d_backward()
  local x, w = lg.randn(64, 64, 56, 56, {requires_grad = true}), lg.randn(64, 64, 3, 3, {requires_grad = true})
  local g = lg.ones(64, 64, 56, 56)
  return function()
    x.grad, w.grad = nil, nil
    F.conv2d(x, w, nil, {padding = 1}):backward(g)
  end
end

local function tiny_add()
  local a, b = lg.ones(4, {requires_grad = true}), lg.ones(4)
  return function()
    for _ = 1, 1000 do local _ = a + b end
  end
end

local function mlp()
  return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
end

local function adamw(parameters) return lg.optim.AdamW(parameters, {lr = 1e-4}) end

-- An upload, and matrix products that take about as long. Overlapped, they should take little longer than the longer of
-- the two.
local function upload_beside_matmul(n)
  return function()
    local host = lg.rand(2 ^ 26 // 1, {device = "cpu"})
    local a, b = lg.randn(n, n), lg.randn(n, n)
    local function upload() return host:to(lg.device()) end
    local function products(count)
      local c
      for _ = 1, count do c = a:matmul(b) end
      return c
    end
    bench.time(upload, 0.1)
    local up, product = bench.time(upload, 0.2), bench.time(function() products(1) end, 0.2)
    local count = math.max(1, (up / product + 0.5) // 1 | 0)
    local longer = math.max(up, (bench.time(function() products(count) end, 0.2)))
    return function()
      local c = products(count)
      return upload(), c
    end, longer
  end
end

local row = 65536 * 1024 * 4
local mlp_step = training(mlp, uniform(128, 784), labels(128, 10), F.cross_entropy)
local cnn_step = training(bench.cnn(32, 64), uniform(256, 1, 28, 28), labels(256, 10), F.cross_entropy)
local gpt_step = training(bench.gpt(256, 384, 6, 6, 0), function() return labels(64 * 256, 65)():view(64, 256) end,
  labels(64 * 256, 65), F.cross_entropy, adamw)

return {
  {"add 2^28", 1, binary(function(a, b) return a + b end), bytes = 3 * 2 ^ 30, calls = 20},
  {"gelu 2^28", 1, unary(F.gelu), bytes = 2 * 2 ^ 30, calls = 20},
  {"sum 2^28", 1, unary(function(x) return x:sum() end), bytes = 2 ^ 30, calls = 20},
  {"softmax 65536x1024", 1, rows(function(x) return x:softmax(2) end), bytes = 2 * row, calls = 20},
  {"layer_norm 65536x1024", 1, rows(layer_norm), bytes = 2 * row, calls = 20},
  {"layer_norm forward+backward", 1, layer_norm_backward, calls = 20},
  {"transposed copy 65536x1024", 1, rows(function(x) return x:t():contiguous() end), bytes = 2 * row, calls = 20},
  {"matmul 4096 f32", 1, product(4096, "f32"), flops = 2 * 4096 ^ 3, calls = 20},
  {"matmul 4096 f32, high beside TF32", 1, product(4096, "f32", "high"), flops = 2 * 4096 ^ 3, calls = 20},
  {"matmul 8192 f16", 1, product(8192, "f16"), flops = 2 * 8192 ^ 3, calls = 20},
  {"matmul 8192 bf16", 1, product(8192, "bf16"), flops = 2 * 8192 ^ 3, calls = 20},
  {"upload 256 MiB beside a matmul", 1, upload_beside_matmul(4096)},
  {"conv2d 64x64x56x56 3x3", 1, conv2d, flops = 2 * 64 * 64 * 56 * 56 * 64 * 9, calls = 20},
  {"conv2d forward+backward", 1, conv2d_backward, flops = 6 * 64 * 64 * 56 * 56 * 64 * 9, calls = 20},
  {"tiny add, grad", 1000, tiny_add, host = true},
  {"mlp step", 1, mlp_step, calls = 50},
  {"mlp step beside a CUDA graph", 1, mlp_step, calls = 50},
  {"cnn step", 1, cnn_step, calls = 20},
  {"cnn step beside a CUDA graph", 1, cnn_step, calls = 20},
  {"gpt step", 1, gpt_step, calls = 3},
  {"gpt step beside torch.compile", 1, gpt_step, calls = 3},
  {"gpt step bf16", 1, autocast(gpt_step), calls = 3},
  {"gpt step bf16 beside torch.compile", 1, autocast(gpt_step), calls = 3},
}
