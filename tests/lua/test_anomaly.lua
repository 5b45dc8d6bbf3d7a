-- Reports of NaN and Inf: the op that produced them, its line, its operands, and a sentence on the cause.
local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises

local function leaf(values, dtype) return lg.tensor(values, {requires_grad = true, dtype = dtype or "f32"}) end
local function line() return debug.getinfo(2, "l").currentline end

-- f must fail in op mode with a message that has all parts, and pass without a guard.
local function caught(parts, f)
  f()
  lg.set_detect_anomaly("op")
  local ok, message = pcall(f)
  lg.set_detect_anomaly(false)
  assert(not ok, "nothing was found where this was expected: " .. parts[1])
  for _, part in ipairs(parts) do
    assert(message:find(part, 1, true), ("%q does not contain %q"):format(message, part))
  end
  return message
end

-- The complete message.
local here
local message = caught({"log: its result of shape [2, 3]: 2 -Inf among 6 elements, the first at [1, 3]",
  "\n  input: f32 [2, 3] from 0 to 5, mean 1.83333\n"}, function()
  here = line() + 1
  return lg.tensor {{1., 2., 0.}, {0., 3., 5.}}:log()
end)
assert(message:find("test_anomaly.lua:" .. here .. ": log", 1, true))
caught({"log: its result, a scalar: NaN\n  input: f32 scalar, -2\n"}, function() return lg.tensor(-2.):log() end)
caught({"log: its result of shape [1]: -Inf\n  input: f32 [1], 0\n"}, function() return lg.tensor {0.}:log() end)

-- Each cause in the forward pass and in the backward pass has its own sentence.
local forward = {
  {"the logarithm of 0 is -Inf", function() return lg.tensor {0.}:log() end},
  {"the logarithm of a negative number", function() return lg.tensor {-1.}:log() end},
  {"0 / 0 is NaN", function() return lg.tensor {0., 1.} / lg.tensor {0., 1.} end},
  {"a number divided by 0 is Inf", function() return lg.tensor {1., 1.} / lg.tensor {0., 1.} end},
  {"the root of a negative number", function() return lg.tensor {-1e-9}:sqrt() end},
  {"the exponential overflows", function() return lg.tensor {100.}:exp() end},
  {"a row is masked completely", function()
    local scores = lg.zeros(2, 2):masked_fill(lg.tensor {{true, true}, {false, false}}, -math.huge)
    return scores:softmax(-1)
  end},
  {"a negative number to a fractional power", function() return lg.tensor {-2.} ^ 0.5 end},
  {"0 to a negative power", function() return lg.tensor {0.} ^ -1.5 end},
  {"Inf - Inf is NaN", function()
    local masked = lg.full({1}, -math.huge)
    return masked - masked
  end},
  {"0 * Inf is NaN", function() return lg.full({1}, math.huge) * lg.tensor {0.} end},
  {"the function ends at -1 and 1", function() return lg.tensor {1.0001}:acos() end},
  {"acosh begins at 1", function() return lg.tensor {0.5}:acosh() end},
  {"log1p is finite above -1", function() return lg.tensor {-1.}:log1p() end},
  {"a mean of no elements", function() return lg.tensor {1.}:var() end},
  {"f16 ends at 65504", function() return lg.tensor({300.}, {dtype = "f16"}):square() end},
  {"the operands are huge", function() return lg.tensor {1e30}:square() end},
  {"the NaN was there before any op", function() return lg.tensor {0 / 0} * 2 end},
}
for _, case in ipairs(forward) do caught({case[1]}, case[2]) end

local sqrt_line
message = caught({"backward of sqrt (made at ", "the gradient of its input 1 ('input') of shape [3]: 1 Inf among 3 elements, the first at [2]",
  "arriving gradient: f32 [3] from 1 to 1", "the derivative of the root at 0 is infinite"}, function()
  sqrt_line = line() + 1
  local y = leaf {4., 0., 1.}:sqrt()
  return y:sum():backward()
end)
assert(message:find("test_anomaly.lua:" .. sqrt_line .. "): ", 1, true))
assert(message:find("test_anomaly.lua:" .. sqrt_line + 1 .. ": backward", 1, true))
caught({"backward of pow", "the derivative of a power below 1"}, function() (leaf {0., 1.} ^ 0.5):sum():backward() end)
caught({"backward of asin", "the derivative is infinite at the end"}, function() leaf {1.}:asin():sum():backward() end)
caught({"backward of reciprocal", "so small that it overflows"}, function() leaf {1e-30}:reciprocal():sum():backward() end)
caught({"the gradient arrived with NaN"}, function()
  local x = leaf {1., 2.}
  local y = x * x
  y:register_hook(function() return lg.tensor {0 / 0, 1.} end)
  y:sum():backward()
end)
-- An optimizer's step that overflows.
caught({"_sgd_step: its step left in tensor", "the optimizer's step itself overflowed"}, function()
  local p = leaf {1.}
  local optimizer = lg.optim.SGD({p}, {lr = 1e30});
  (p * -1e30):sum():backward()
  optimizer:step()
end)
-- In-place ops.
caught({"div_: what it wrote in place of shape [2]", "a number divided by 0"}, function()
  lg.ones(2):div_(lg.tensor {0., 1.})
end)

-- Values that the user created, and ops that only propagate them, are no error. The message names the op that produced the
-- value, not those that propagate it.
lg.set_detect_anomaly("op")
local scores = lg.zeros(2, 2):masked_fill(lg.tensor {{true, false}, {false, false}}, -math.huge)
expect.close(scores:softmax(-1), {{0, 1}, {.5, .5}}, 1e-6)
assert((scores * 2):exp():sum():item() == 3)
assert(lg.full({2}, 0 / 0):isnan():all():item())
lg.binary_cross_entropy(lg.tensor {0., 1.}, lg.tensor {0., 1.})
local x = leaf {0., 4.}
lg.where(x:gt(1), x, lg.ones(2)):sqrt():sum():backward()
lg.set_detect_anomaly("off")

-- Step mode checks the loss before backward and the gradients of the leaves after it.
lg.set_detect_anomaly("step")
local bad
message = raises("backward: the loss is 1 Inf, made by mean", function()
  bad = line() + 1
  local y = leaf {0., 1.}:log()
  local loss = (y * y):mean()
  loss:backward()
end)
assert(message:find("the earliest value on the tape that is not finite belongs to log", 1, true), message)
assert(message:find("test_anomaly.lua:" .. bad, 1, true) and message:find("--guard op", 1, true))
local weight = leaf {0., 1.}
require("lunagrad.core")._set_name(weight, "fc.weight")
raises("backward: the gradient of fc.weight (made at", function() weight:sqrt():sum():backward() end)
weight.grad = nil
weight:sum():backward()
lg.set_detect_anomaly(false)
raises("one of 'off', 'step', 'op' expected, got 'all'", lg.set_detect_anomaly, "all")
