-- Normalization modules. Their ops: tests/samples/norm.cpp, tests/runtime/test_norm.cpp.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

local function keys_of(module)
  local keys = {}
  for key in pairs(module:state_dict()) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

-- BatchNorm: channel 1 holds 1, 3, 5, 7 (mean 4, unbiased variance 20 / 3), channel 2 is 10 everywhere.
local x = lg.tensor {{{1.0, 3}, {10, 10}}, {{5.0, 7}, {10, 10}}}
local bn = nn.BatchNorm1d(2)
expect.equal(keys_of(bn), {"bias", "num_batches_tracked", "running_mean", "running_var", "weight"})
local y = bn(x)
expect.close(y:select(2, 1):flatten(), {-1.341640, -0.447213, 0.447213, 1.341640}, 1e-4)
expect.close(bn.running_mean, {0.4, 1}, 1e-6)
expect.close(bn.running_var, {0.9 + 2 / 3, 0.9}, 1e-6)
assert(bn.num_batches_tracked:item() == 1 and bn.num_batches_tracked:dtype() == "i64")
assert(not bn.running_mean.requires_grad and #bn:parameters() == 2)

-- Evaluation uses the running statistics without updating them; its gradients treat them as constants.
bn:eval()
x:requires_grad_()
bn(x):sum():backward()
expect.close(bn.running_mean, {0.4, 1}, 1e-6)
expect.close(x.grad:select(2, 1):flatten(), lg.full({4}, 1 / math.sqrt(0.9 + 2 / 3 + 1e-5)), 1e-5)

-- The state dict contains the running statistics.
local other = nn.BatchNorm1d(2)
other:load_state_dict(bn:state_dict())
expect.equal(other:eval()(x):detach(), bn(x):detach())
bn:reset_running_stats()
expect.close(bn.running_var, {1, 1})

-- momentum = false: the average over all batches.
local average = nn.BatchNorm1d(1, {momentum = false})
for _, value in ipairs {1, 4, 10} do average(lg.full({2, 1}, value) + lg.tensor {{0.0}, {0}}) end
expect.close(average.running_mean, {5}, 1e-6)

-- Without running statistics or parameters.
local plain = nn.BatchNorm2d(3, {affine = false, track_running_stats = false})
expect.equal(keys_of(plain), {})
local image = lg.randn(4, 3, 5, 5)
expect.equal(plain:eval()(image), plain:train()(image))
expect.close(plain(image):mean({1, 3, 4}), {0, 0, 0}, 1e-5)
expect.raises("BatchNorm2d: an input of 4 dims expected (got shape [2, 3])", function() plain(lg.ones(2, 3)) end)
expect.raises("BatchNorm1d: an input of 2 or 3 dims expected", function() bn(lg.ones(2, 2, 2, 2)) end)
assert(tostring(bn) == "BatchNorm1d(2, eps = 1e-05, momentum = 0.1, affine = true, track_running_stats = true)"
  .. "  # 4 parameters", tostring(bn))

-- 16-bit inputs give a 16-bit result; the statistics stay f32.
local mixed = nn.BatchNorm1d(2)
local half = mixed(x:detach():to("f16"))
assert(half:dtype() == "f16" and mixed.running_mean:dtype() == "f32")

-- GroupNorm, InstanceNorm2d, LayerNorm and RMSNorm.
local group = nn.GroupNorm(2, 4)
expect.close(group(lg.randn(3, 4, 6)):view(3, 2, 12):mean(3), lg.zeros(3, 2), 1e-5)
expect.raises("GroupNorm: 5 channels do not divide into 2 groups", function() nn.GroupNorm(2, 5) end)
local instance = nn.InstanceNorm2d(3)
expect.equal(keys_of(instance), {})
expect.close(instance(image):mean({3, 4}), lg.zeros(4, 3), 1e-5)
expect.close(instance(image[1]), instance(image)[1], 1e-6)
local tracking = nn.InstanceNorm2d(3, {affine = true, track_running_stats = true})
expect.equal(keys_of(tracking), {"bias", "num_batches_tracked", "running_mean", "running_var", "weight"})
tracking(image)
expect.close(tracking.running_mean, image:mean({1, 3, 4}) * 0.1, 1e-6)
local rms = nn.RMSNorm(4, {eps = 1e-6})
expect.close(rms(lg.tensor {{2.0, -2, 2, 2}}), {{1, -1, 1, 1}}, 1e-5)
assert(tostring(nn.RMSNorm {4}):find("RMSNorm({4})", 1, true))
expect.close(nn.LayerNorm(4, {bias = false})(lg.tensor {{1.0, 2, 3, 4}}), {{-1.341635, -0.447212, 0.447212, 1.341635}},
  1e-5)
expect.close(F.normalize(lg.tensor {{3.0, 4}}), {{0.6, 0.8}})
expect.close(F.normalize(lg.tensor {{3.0, 4}}, {p = 1, dim = -1}), {{3 / 7, 4 / 7}})

-- A checkpoint runs the layer twice but counts the batch once.
local again = nn.BatchNorm1d(2)
local input = lg.randn(4, 2):requires_grad_()
lg.checkpoint(function(v) return again(v) end, input):sum():backward()
assert(again.num_batches_tracked:item() == 1 and input.grad)
expect.close(again.running_mean, input:detach():mean(1) * 0.1, 1e-6)
