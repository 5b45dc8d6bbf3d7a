local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises
local nn = lg.nn

-- Autocast regions: as a function, as a scope, nested, and disabled inside another.
local w = lg.randn(3, 3, {requires_grad = true})
local x = lg.randn(2, 3)
local function dtype() return x:matmul(w):dtype() end
assert(not lg.is_autocast_enabled() and dtype() == "f32")
local a, b = lg.autocast("bf16", function(p, q)
  assert(lg.is_autocast_enabled() and lg.get_autocast_dtype() == "bf16")
  assert(lg.autocast("f16", dtype) == "f16" and lg.autocast(false, dtype) == "f32")
  return dtype(), p + q
end, 1, 2)
assert(a == "bf16" and b == 3 and dtype() == "f32" and lg.get_autocast_dtype() == nil)
do
  local _ <close> = lg.autocast("bf16")
  assert(dtype() == "bf16")
end
assert(dtype() == "f32")
pcall(lg.autocast, "bf16", error)
pcall(function()
  local _ <close> = lg.autocast("f16")
  error "inside"
end)
assert(dtype() == "f32")
raises("autocast: f16 or bf16 expected (got f32)", lg.autocast, "f32", dtype)
raises("bad argument #2 to 'autocast' (function expected, got number)", lg.autocast, "bf16", 3)

-- Weights, their gradients and losses are f32; a model trains about as well as in f32.
local function train(region)
  lg.manual_seed(4)
  local net = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3))
  local data, labels = lg.randn(64, 4), lg.randint(0, 3, 64)
  local optimizer = lg.optim.Adam(net:parameters(), {lr = 0.02})
  local loss
  for _ = 1, 60 do
    optimizer:zero_grad()
    loss = region(function() return lg.cross_entropy(net(data), labels) end)
    assert(loss:dtype() == "f32")
    loss:backward()
    assert(net[1].weight.grad:dtype() == "f32" and net[1].weight:dtype() == "f32")
    optimizer:step()
  end
  return loss:item()
end
local exact = train(function(fn) return fn() end)
for _, type in ipairs {"bf16", "f16"} do
  local loss = train(function(fn) return lg.autocast(type, fn) end)
  assert(math.abs(loss - exact) < 0.1 * exact + 0.02, ("%s: %g, f32: %g"):format(type, loss, exact))
end

-- A checkpoint in a region is recomputed in a region.
local function gradients(run)
  w.grad = nil
  lg.autocast("bf16", function() return run(function(t) return (t:matmul(w)):relu():matmul(w) end) end):sum():backward()
  return w.grad
end
expect.equal(gradients(function(f) return lg.checkpoint(f, x) end), gradients(function(f) return f(x) end))

-- A fused activation gives the same result as a separate one, in a region and in a checkpoint.
local layer = nn.Linear(3, 3, {activation = "tanh"})
local function trained(run)
  layer:zero_grad()
  local y = lg.autocast("bf16", function() return run() end)
  y:sum():backward()
  return y, layer.weight.grad
end
local y, gradient = trained(function() return layer(x) end)
for _, run in ipairs {
  function() return lg.linear(x, layer.weight, layer.bias):tanh() end,
  function() return lg.checkpoint(function(t) return layer(t) end, x) end,
} do
  local other, its = trained(run)
  assert(other:dtype() == "bf16")
  expect.equal(other, y)
  expect.equal(its, gradient)
end

-- A loss of class ids is f32 in a region, also inside vmap.
local logits, ids = lg.randn(3, 4, 5):to("bf16"), lg.tensor {{0, 1, 4, 2}, {3, 3, 0, 1}, {2, 4, 4, 0}}
for _, name in ipairs {"cross_entropy", "nll_loss"} do
  local losses = lg.autocast("bf16", function() return lg.func.vmap(lg[name])(logits, ids) end)
  assert(losses:dtype() == "f32")
  for i = 1, 3 do expect.close(losses[i], lg[name](logits[i]:float(), ids[i]), 1e-6) end
end

-- GradScaler: a step with NaN or Inf is skipped and lowers the scale; good steps raise it.
local p = lg.ones(2, {requires_grad = true})
local optimizer = lg.optim.SGD({p}, {lr = 1})
local scaler = lg.optim.GradScaler {init_scale = 8, growth_interval = 2}
local function step(factor)
  optimizer:zero_grad()
  scaler:scale((p * factor):sum()):backward()
  local made = scaler:step(optimizer)
  scaler:update()
  return made
end
assert(step(0.5) and scaler:get_scale() == 8)
expect.close(p, {0.5, 0.5}, 0)
assert(step(0.25) and scaler:get_scale() == 16)
assert(not step(math.huge) and scaler:get_scale() == 8)
expect.close(p, {0.25, 0.25}, 0)
assert(not step(0 / 0) and scaler:get_scale() == 4)

-- unscale_ is called once, before the step; gradients then have their true size.
optimizer:zero_grad()
scaler:scale((p * 3):sum()):backward()
expect.close(p.grad, {12, 12}, 0)
scaler:unscale_(optimizer)
expect.close(p.grad, {3, 3}, 0)
raises("unscale_: it has been called", scaler.unscale_, scaler, optimizer)
scaler:step(optimizer)
raises("step: it has been called", scaler.step, scaler, optimizer)
raises("unscale_: step() of this optimizer has been called", scaler.unscale_, scaler, optimizer)
scaler:update()
raises("update: no step() or unscale_() came before", scaler.update, scaler)
scaler:update(32)
assert(scaler:get_scale() == 32)

-- The state dict, and a disabled scaler.
local copy = lg.optim.GradScaler()
assert(copy:get_scale() == 65536)
local state = scaler:state_dict()
expect.equal(state, {scale = 32, growth_factor = 2., backoff_factor = .5, growth_interval = 2, _growth_tracker = 1})
copy:load_state_dict(state)
expect.equal(copy:state_dict(), state)
raises("load_state_dict: the state is empty, as a GradScaler gives that is not enabled", copy.load_state_dict, copy, {})
for _, name in ipairs {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"} do
  local state = copy:state_dict()
  state[name] = nil
  raises(("'%s' is missing"):format(name), copy.load_state_dict, copy, state)
  state[name] = "2"
  raises(("'%s' is a string, not a number"):format(name), copy.load_state_dict, copy, state)
end
do
  local state = copy:state_dict()
  state.growth_factr = 2
  raises("unknown key 'growth_factr'", copy.load_state_dict, copy, state)
end
local off = lg.optim.GradScaler {enabled = false}
local loss = p:sum()
assert(rawequal(off:scale(loss), loss) and off:get_scale() == 1 and next(off:state_dict()) == nil)
optimizer:zero_grad()
loss:backward()
assert(off:step(optimizer))
off:update()
raises("growth_factor must be above 1", lg.optim.GradScaler, {growth_factor = 1})
