-- batch_norm of 16-bit inputs with f32 weights and statistics: types, values and gradients as in PyTorch 1.13, and in a region
-- of autocast.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

local function ramp(factor, modulus, shift, scale, dtype)
  return ((((lg.arange(24) * factor) % modulus) - shift) * scale):to(dtype):view(2, 3, 4)
end
local values = {
  y = {-1.73832, 0.3779, -0.83137, 1.28484, 1.19451, 0.50293, 1.71319, 1.02161, 2.12372, -2.24829, 0.25, 2.74829, 0.3779,
    -0.83137, 1.28484, 0.07558, 0.50293, 1.71319, 1.02161, 0.33004, -2.24829, 0.25, 2.74829, -1.62372},
  dx = {-0.34811, 0.37142, 0.08983, -0.24876, 0.26062, 0.00633, -0.02412, -0.27841, -0.24292, -0.41779, 0.66361, -0.441,
    0.22026, -0.06133, -0.39991, 0.3766, -0.08012, -0.11056, 0.24027, -0.01402, -0.1055, 0.9759, -0.12871, -0.30358},
  eval_y = {-2.9985, 0.49975, -1.49925, 1.999, 1.5302, 0.82327, 2.0604, 1.35347, 5.90121, -3.9884, 1.6628, 7.31401, 0.49975,
    -1.49925, 1.999, 0.0, 0.82327, 2.0604, 1.35347, 0.64653, -3.9884, 1.6628, 7.31401, -2.5756},
}
for _, dtype in ipairs {"f32", "bf16", "f16"} do
  local near = dtype == "f32" and 2e-5 or dtype == "f16" and 4e-3 or 3e-2
  local x = ramp(7, 11, 5, 0.5, dtype):requires_grad_()
  local w = lg.tensor({1, 0.5, -2.0}, {requires_grad = true})
  local b = lg.tensor({0, 1, 0.25}, {requires_grad = true})
  local mean, var = lg.tensor {0.5, -1, 0}, lg.tensor {1, 2, 0.5}
  local evaluated = F.batch_norm(x, mean, var, w, b, false, 0.25, 1e-3)
  assert(evaluated:dtype() == dtype)
  expect.close(evaluated:to("f32"):flatten(), values.eval_y, near)
  local y = F.batch_norm(x, mean, var, w, b, true, 0.25, 1e-3)
  y:backward(ramp(5, 7, 3, 0.25, dtype))
  assert(y:dtype() == dtype and x.grad:dtype() == dtype and w.grad:dtype() == "f32" and b.grad:dtype() == "f32")
  expect.close(y:to("f32"):flatten(), values.y, near)
  expect.close(x.grad:to("f32"):flatten(), values.dx, near / 2)
  -- The sums are of f32 numbers, also for inputs of 16 bits.
  expect.close(w.grad, {0.226737, -1.361538, -2.342149}, 2e-6)
  expect.close(b.grad, {-1, 0.5, 0.25}, 1e-6)
  expect.close(mean, {0.46875, -0.765625, -0.125}, 1e-6)
  expect.close(var, {1.53125, 2.0970983, 1.1071429}, 1e-6)
end

-- Weights of 16 bits have gradients of 16 bits.
local w = lg.ones(3, {dtype = "bf16", requires_grad = true})
F.batch_norm(ramp(7, 11, 5, 0.5, "bf16"), nil, nil, w, nil, true):square():sum():backward()
assert(w.grad:dtype() == "bf16")

-- In a region of autocast batch_norm and instance_norm keep the type of their input; group_norm and layer_norm run in f32.
local conv, image = nn.Conv2d(3, 4, 3), lg.randn(2, 3, 6, 6)
local norms = {
  bf16 = {nn.BatchNorm2d(4), nn.BatchNorm2d(4, {affine = false}), nn.SyncBatchNorm(4), nn.InstanceNorm2d(4, {affine = true}),
    nn.InstanceNorm2d(4, {affine = true, track_running_stats = true})},
  f32 = {nn.GroupNorm(2, 4), nn.LayerNorm {4, 4, 4}},
}
for dtype, list in pairs(norms) do
  for _, norm in ipairs(list) do
    for _, training in ipairs {true, false} do
      norm:train(training)
      local plain = norm(conv(image))
      local y = lg.autocast("bf16", function() return norm(conv(image)) end)
      assert(y:dtype() == dtype, ("%s gives %s"):format(norm, y:dtype()))
      expect.close(y:to("f32"), plain, 0.06)
      y:to("f32"):square():sum():backward()
      for _, p in ipairs(norm:parameters()) do assert(p.grad:dtype() == "f32") end
      if lg.has(norm, "running_mean") then assert(norm.running_mean:dtype() == "f32" and norm.running_var:dtype() == "f32") end
      assert(conv.weight.grad:dtype() == "f32")
    end
    -- f32 stays f32.
    assert(lg.autocast("bf16", function() return norm(lg.randn(2, 4, 4, 4)) end):dtype() == "f32")
  end
end
-- In ONNX a batch norm of 16-bit inputs has the type of its statistics, between casts.
local path = os.tmpname()
local halves = nn.Sequential(nn.BatchNorm2d(4, {affine = false})):eval()
local tall = (lg.randn(2, 4, 3, 3) * 2):to("f16")
lg.io.onnx_export(path, halves, tall)
local read = lg.io.onnx_import(path)(tall)
assert(read:dtype() == "f16")
expect.close(read:to("f32"), halves(tall):to("f32"), 2e-3)
os.remove(path)

local sampled = lg.autocast("bf16", function()
  return F.grid_sample(image:to("bf16"), lg.rand(2, 4, 4, 2, {dtype = "bf16"})):dtype() .. " "
    .. F.grid_sample(image:to("bf16"), lg.rand(2, 4, 4, 2)):dtype()
end)
assert(sampled == "bf16 f32", sampled)

-- A model in mixed precision trains as in f32.
local function train(region)
  lg.manual_seed(2)
  local net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(128, 2))
  local data = lg.randn(32, 1, 6, 6)
  local labels = data:sum({2, 3, 4}):gt(0):to("i64")
  local optimizer, loss = lg.optim.Adam(net:parameters(), {lr = 0.01}), nil
  for _ = 1, 15 do
    optimizer:zero_grad()
    loss = region(function() return lg.cross_entropy(net(data), labels) end)
    loss:backward()
    optimizer:step()
  end
  return loss:item(), net[2].running_var
end
local exact, exact_var = train(function(f) return f() end)
local loss, var = train(function(f) return lg.autocast("bf16", f) end)
assert(math.abs(loss - exact) < 0.15 * exact + 0.03, ("%g, f32: %g"):format(loss, exact))
expect.close(var, exact_var, 0.05)
