-- Times of programs with reductions of rows, written out in elementary operations, and with built-in norms between
-- other calls: eager, and deferred (lg.compile). The two take turns; the best of the rounds counts. Their results must
-- be equal.
--   lunagrad run tests/bench/rows.lua [--device vulkan] [--threads 1] [-- ROWS COLUMNS]
local lg = require "lunagrad"

local rows, columns = tonumber(arg and arg[1]) or 4096, tonumber(arg and arg[2]) or 1024
local x, slope = lg.randn(rows, columns), lg.randn(rows, columns)
local w, b = lg.randn(columns), lg.randn(columns)
local leaf = x:clone():requires_grad_()
local weight, bias = w:clone():requires_grad_(), b:clone():requires_grad_()

local function softmax(x)
  local e = (x - x:amax(-1, true)):exp()
  return e / e:sum(-1, true)
end
local function layer_norm(x)
  local apart = x - x:mean(-1, true)
  return apart * ((apart * apart):mean(-1, true) + 1e-5):rsqrt() * w + b
end
local function rms_norm_swiglu(x)
  local normed = x * ((x * x):mean(-1, true) + 1e-6):rsqrt() * w
  return normed * normed:sigmoid() * slope
end
local function attention_weights(x) return (x * 0.125 + b):softmax(-1) end
local function squared_error(x)
  local apart = x - slope
  return (apart * apart):mean()
end
local function built_in_layer_norm(x) return (x + slope):layer_norm({columns}, weight, bias):to("bf16") end
local function built_in_rms_norm(x) return (x + slope):rms_norm({columns}, weight):to("bf16") end
local function with_gradient(f)
  return function(x)
    leaf.grad, weight.grad, bias.grad = nil
    local y = f(leaf)
    y:backward(slope:to(y.dtype))
    return leaf.grad
  end
end

local function seconds(f)
  collectgarbage()
  local start = lg.clock()
  local y = f(x)
  lg.synchronize()
  return lg.clock() - start, y
end

for _, case in ipairs {{"softmax", softmax}, {"layer norm", layer_norm}, {"RMSNorm, SwiGLU", rms_norm_swiglu},
                       {"scaled, masked softmax", attention_weights}, {"mean squared error", squared_error}, {"softmax, gradient", with_gradient(softmax)},
                       {"layer norm, gradient", with_gradient(layer_norm)},
                       {"residual, built-in layer norm, cast", built_in_layer_norm}, {"its gradient", with_gradient(built_in_layer_norm)},
                       {"residual, built-in RMSNorm, cast", built_in_rms_norm}, {"its gradient", with_gradient(built_in_rms_norm)}} do
  local name, at_once = table.unpack(case)
  local deferred = lg.compile(at_once)
  assert(at_once(x):equal(deferred(x)), name)
  local best = {math.huge, math.huge}
  for _ = 1, 20 do
    for i, f in ipairs {at_once, deferred} do best[i] = math.min(best[i], (seconds(f))) end
  end
  print(("%-36s %8.3f ms  deferred %8.3f ms  %.2f times"):format(name, best[1] * 1e3, best[2] * 1e3, best[1] / best[2]))
end
