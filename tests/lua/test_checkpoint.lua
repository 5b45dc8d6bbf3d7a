local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises
local nn = lg.nn

local function same_gradients(model, plain, saved, where)
  local wanted = {}
  lg.manual_seed(3)
  model:zero_grad()
  plain():backward()
  for name, p in model:named_parameters() do wanted[name] = p.grad end
  lg.manual_seed(3)
  model:zero_grad()
  saved():backward()
  for name, p in model:named_parameters() do expect.equal(p.grad, wanted[name], where .. " " .. name) end
end

-- Gradients are bit-identical: with dropout, several layers, inputs without gradient, and captured parameters.
lg.manual_seed(1)
local net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.5), nn.Linear(16, 16), nn.Tanh(), nn.Dropout(0.3),
  nn.Linear(16, 4))
local data = lg.randn(5, 8)
same_gradients(net, function() return (net(data) ^ 2):sum() end,
  function() return (lg.checkpoint(net, data) ^ 2):sum() end, "whole net")
for segments = 1, 7 do
  same_gradients(net, function() return (net(data) ^ 2):sum() end,
    function() return (lg.checkpoint_sequential(net, segments, data) ^ 2):sum() end, segments .. " segments")
end

-- Nested checkpoints, several results, and non-tensors among arguments and results.
local function two(x, factor, label)
  local h = net[1](x) * factor
  local inner, same = lg.checkpoint(function(t)
    local u = lg.checkpoint(function(s) return net[3](net[2](s)) end, t)
    return net[4](u), u:exp()
  end, h)
  return inner:tanh(), label, same * inner
end
local function loss_of(call)
  return function()
    local first, label, second = call(two, data, 0.5, "name")
    assert(label == "name")
    return (net[7](first) ^ 2):sum() + second:mean()
  end
end
same_gradients(net, loss_of(function(fn, ...) return fn(...) end), loss_of(lg.checkpoint), "nested")

-- Random numbers after a checkpoint equal those without a checkpoint; the recomputation restores the generator.
lg.manual_seed(7)
local out = lg.checkpoint(function(t) return net[3](t) end, data:clone():requires_grad_())
local after = lg.rand(3)
out:sum():backward()
local later = lg.rand(3)
lg.manual_seed(7)
net[3](data)
expect.equal(after, lg.rand(3))
expect.equal(later, lg.rand(3))

-- The recomputation uses the training flags, grad mode and module path of the first run, and restores the current ones.
local calls = {}
local Probe = nn.class("Probe")
function Probe:init() self.fc = nn.Linear(8, 8) end
function Probe:forward(x)
  calls[#calls + 1] = {self.training, lg.is_grad_enabled()}
  return self.fc(x):exp()
end
local probe = Probe()
local result = lg.checkpoint(probe, data)
probe:eval()
result:sum():backward()
expect.equal(calls, {{true, true}, {true, true}})
assert(probe.training == false and probe.fc.training == false and probe.fc.weight.grad)
assert(lg.tape(lg.checkpoint(probe, data))[1].module == "probe")

-- With gradients disabled it only calls the function.
local before = #calls
lg.no_grad(function() assert(not lg.checkpoint(probe, data).requires_grad) end)
assert(#calls == before + 1)

-- A retained graph is recomputed each time; second-order gradients; lg.grad; GradStore.
local x = lg.tensor({0.5, 2}, {dtype = "f64", requires_grad = true})
local runs = 0
local function cube(t)
  runs = runs + 1
  return t * t * t
end
local recomputing = require("lunagrad.core")._recomputing
local flags = {}
lg.checkpoint(function(t)
  flags[#flags + 1] = recomputing()
  return t:exp()
end, x):sum():backward()
expect.equal(flags, {false, true})
assert(not recomputing())
x.grad = nil
local y = lg.checkpoint(cube, x):sum()
y:backward {retain_graph = true}
y:backward()
expect.close(x.grad, {1.5, 24}, 1e-12)
assert(runs == 3)
raises("retain_graph", y.backward, y)
local first = lg.grad(lg.checkpoint(cube, x):sum(), x, {create_graph = true})
local second = lg.grad(first:sum(), x, {create_graph = true})
expect.close(second, {3, 12}, 1e-12)
expect.close(lg.grad(second:sum(), x), {6, 6}, 1e-12)
expect.close(lg.checkpoint(cube, x):sum():gradients()[x], {0.75, 12}, 1e-12)
assert(lg.grad.check(function(t) return lg.checkpoint(cube, t) end, {x}))
assert(lg.grad.checkgrad2(function(t) return lg.checkpoint(cube, t) end, {x}))

-- Errors in the recomputation carry their lines; a function that computes something else is an error.
local broken = false
local failing = lg.checkpoint(function(t)
  if broken then error "no second time" end
  return t:exp() * t
end, x)
broken = true
local message = raises("checkpoint: ", failing.sum(failing).backward, failing:sum())
assert(message:find("test_checkpoint.lua:%d+: no second time"))
local size = 2
local changing = lg.checkpoint(function(t) return t[{{1, size}}]:exp() end, x)
size = 1
message = raises("does not do the same when it runs again", function() changing:sum():backward() end)
assert(message:find "of shape %[2%]" and message:find "of shape %[1%]")
local extra = false
local growing = lg.checkpoint(function(t)
  local e = t:exp()
  if extra then e = e * t end
  return e
end, x)
extra = true
raises("more at its second run", function() growing:sum():backward() end)
extra = true
local shrinking = lg.checkpoint(function(t)
  local e = t:exp()
  if extra then e = e * t end
  return e
end, x)
extra = false
raises("less at its second run: 1 recorded ops where the first run had 2",
  function() shrinking:sum():backward() end)
local scale = lg.tensor({2., 3.}, {dtype = "f64"})
local captured = lg.checkpoint(function(t) return t * scale end, x)
scale = lg.tensor({4., 5.}, {dtype = "f64"})
raises("reads another tensor as input 2", function() captured:sum():backward() end)
local weight = lg.tensor({2., 3.}, {dtype = "f64"})
local mutated = lg.checkpoint(function(t) return t * weight end, x)
weight:add_(1)
message = raises("add_ changed in place at", function() mutated:sum():backward() end)
raises("bad argument #1 to 'checkpoint' (function expected, got number)", lg.checkpoint, 3)
raises("checkpoint_sequential: segments must be 1 … 7", lg.checkpoint_sequential, net, 8, data)
raises("checkpoint_sequential: a list of layers", lg.checkpoint_sequential, {}, 1, data)

-- A custom op inside a checkpoint is recomputed too.
local square = lg.custom_op {
  name = "square_",
  forward = function(ctx, t)
    ctx:save(t)
    return t * t
  end,
  backward = function(ctx, gradient) return gradient * ctx:saved() * 2 end,
}
x.grad = nil
lg.checkpoint(function(t) return square(square(t)) end, x):sum():backward()
expect.close(x.grad, {4 * 0.125, 32}, 1e-12)
assert(lg.grad.checkgrad2(function(t) return lg.checkpoint(function(s) return square(square(s)) end, t) end, {x}))

-- A function can ask whether it runs in a checkpoint: both times.
local asked = {}
assert(not lg.is_checkpointing())
x.grad = nil
lg.checkpoint(function(t)
  asked[#asked + 1] = lg.is_checkpointing()
  return t * t
end, x):sum():backward()
assert(#asked == 2 and asked[1] and asked[2] and not lg.is_checkpointing())
