-- Complex tensors in Lua: creation, access, printing, PyTorch's gradients, training a layer, files.
local lg = require "lunagrad"
local expect = require "expect"
local nn, optim = lg.nn, lg.optim

-- Creation and access.
local z = lg.complex(lg.tensor {1., 3.}, lg.tensor {2., -4.})
assert(z:dtype() == "c64")
expect.equal(z:tolist(), {{1.0, 2.0}, {3.0, -4.0}})
expect.equal(z:real():tolist(), {1.0, 3.0})
expect.equal(z:imag():tolist(), {2.0, -4.0})
expect.equal(z:conj():tolist(), {{1.0, -2.0}, {3.0, 4.0}})
expect.close(z:abs():tolist(), {math.sqrt(5), 5}, 1e-6)
expect.close(z:angle():tolist(), {math.atan(2, 1), math.atan(-4, 3)}, 1e-6)
expect.equal(z:norm_sq():tolist(), {5.0, 25.0})
expect.equal(z[1]:item(), {1.0, 2.0})
local i = lg.complex(0, 1)
assert(i:dtype() == "c64" and i:dim() == 0)
expect.equal((z * i):tolist(), {{-2.0, 1.0}, {4.0, 3.0}})
expect.equal((1 + 2 * i):item(), {1.0, 2.0})
expect.equal(lg.complex(lg.tensor {1., 2.}, 0):tolist(), {{1.0, 0.0}, {2.0, 0.0}})
expect.equal((z ^ 2):tolist(), {{-3.0, 4.0}, {-7.0, -24.0}})
assert(lg.complex(lg.zeros(2, {dtype = "f64"}), lg.zeros(2, {dtype = "f64"})):dtype() == "c128")
assert((z + lg.zeros(2, {dtype = "f64"})):dtype() == "c128")
expect.equal(lg.tensor({1, 2.5}, {dtype = "c64"}):tolist(), {{1.0, 0.0}, {2.5, 0.0}})
expect.equal(lg.view_as_complex(lg.tensor {{1., 2.}, {3., 4.}}):tolist(), {{1.0, 2.0}, {3.0, 4.0}})
expect.equal(lg.view_as_complex(lg.tensor(z:tolist())), z)
expect.equal(lg.eye(2, 2, {dtype = "c64"}):tolist(), {{{1.0, 0.0}, {0.0, 0.0}}, {{0.0, 0.0}, {1.0, 0.0}}})
assert(lg.randn(3, {dtype = "c128"}):dtype() == "c128")
expect.equal(lg.allclose(z, z:clone()), true)

-- Views of the parts, and writing.
local w = z:clone()
w:imag():fill_(1)
w[2] = 5 * i
expect.equal(w:tolist(), {{1.0, 1.0}, {0.0, 5.0}})
w:view_as_real()[{1, 2}] = 9
expect.equal(w[1]:item(), {1.0, 9.0})
w:mul_(i)
expect.equal(w:tolist(), {{-9.0, 1.0}, {-5.0, 0.0}})

-- Printing.
assert(tostring(lg.complex(1., -2.)):find("tensor(1. - 2.i, shape=[], dtype=c64", 1, true), tostring(lg.complex(1, -2)))
local text = tostring(lg.complex(lg.tensor {1.5, -2.25}, lg.tensor {2., -0.5}))
assert(text:find("tensor([ 1.5000 + 2.0000i, -2.2500 - 0.5000i], shape=[2], dtype=c64", 1, true), text)

-- Gradients: dL/dRe + i dL/dIm, as in PyTorch; |z|^2 gives 2 g z.
local p = z:clone():requires_grad_()
p:norm_sq():backward(lg.tensor {1., 2.})
expect.equal(p.grad:tolist(), {{2.0, 4.0}, {12.0, -16.0}})
p.grad = nil
local seen
local hook = p:register_hook(function(g) seen = g:tolist() end)
lg.sum(lg.abs(p * i)):backward()
expect.close(p.grad, p:detach() / p:detach():abs(), 1e-6)
expect.close(seen, p.grad:tolist(), 0)
hook:remove()
expect.close(lg.grad((p * p):real():sum(), p), (2 * p:detach()):conj(), 1e-6)
local pairs_of = lg.tensor({{1., 2.}, {3., -4.}}, {requires_grad = true})
lg.view_as_complex(pairs_of):norm_sq():sum():backward()
expect.equal(pairs_of.grad:tolist(), {{2.0, 4.0}, {6.0, -8.0}})
p.grad = nil
p:view_as_real():pow(2):sum():backward()
expect.close(p.grad, 2 * p:detach(), 1e-6)
local first = lg.grad(p:abs():pow(4):sum(), p, {create_graph = true})
expect.close(first, 4 * p:detach() * p:detach():norm_sq(), 1e-2)
local second = lg.grad(first:norm_sq():sum(), p)  -- of 16 |z|^6
expect.close(second, 96 * p:detach() * p:detach():norm_sq():pow(2), 2)
local twice = lg.custom_op {
  name = "twice",
  forward = function(_, x) return x * 2 end,
  backward = function(_, g) seen = g:tolist() return g * 2 end,
}
expect.close(lg.grad(twice(p):norm_sq():sum(), p), 8 * p:detach(), 1e-5)
expect.close(seen, (4 * p:detach()):tolist(), 1e-5)
local q = lg.tensor({1, 2}, {dtype = "c128"}):requires_grad_()
assert(lg.grad.check(function(x) return (x * x + 1):log():abs() end, {q}))
assert(lg.grad.checkgrad2(function(x) return (x * x + 1):log():abs() end, {q}))

-- Training a complex layer.
lg.manual_seed(1)
for _, make in ipairs {
  function(parameters) return optim.SGD(parameters, {lr = 0.2, momentum = 0.5}) end,
  function(parameters) return optim.Adam(parameters, {lr = 0.1}) end,
} do
  local layer, wanted = nn.Linear(3, 2, {dtype = "c64"}), nn.Linear(3, 2, {dtype = "c64"})
  assert(layer.weight:dtype() == "c64" and layer.weight:imag():abs():max():item() > 0)
  local x = lg.randn(64, 3, {dtype = "c64"})
  local y = wanted(x):detach()
  local optimizer, loss = make(layer:parameters()), nil
  for _ = 1, 250 do
    optimizer:zero_grad()
    loss = (layer(x) - y):norm_sq():mean()
    loss:backward()
    optimizer:step()
  end
  assert(loss:item() < 1e-3, loss:item())
  expect.close(layer.weight:detach():view_as_real(), wanted.weight:detach():view_as_real(), 0.05)
end
local g = lg.complex(lg.tensor {3.}, lg.tensor {4.})
local clipped = lg.zeros(1, {dtype = "c64", requires_grad = true})
clipped.grad = g:clone()
expect.close(nn.utils.clip_grad_norm_({clipped}, 1):item(), 5, 1e-6)
expect.close(clipped.grad:tolist(), {{0.6, 0.8}}, 1e-5)

-- LBFGS works on the parts.
local lbfgs_target = lg.complex(lg.tensor {1., -2.}, lg.tensor {0.5, 3.})
local point = lg.zeros(2, {dtype = "c64"}):requires_grad_()
local lbfgs = lg.optim.LBFGS({point}, {line_search_fn = "strong_wolfe"})
for _ = 1, 5 do
  lbfgs:step(function()
    lbfgs:zero_grad()
    local loss = (point - lbfgs_target):norm_sq():sum()
    loss:backward()
    return loss
  end)
end
expect.close(point:detach(), lbfgs_target, 1e-4)

-- Files.
local path = os.tmpname()
lg.io.safetensors.save(path, {z = z})
expect.equal(lg.io.safetensors.load(path).z, z)
expect.raises("the format has no type for c128", function() lg.io.safetensors.save(path, {z = z:to("c128")}) end)
for _, dtype in ipairs {"c64", "c128"} do
  lg.io.npy.save(path, z:to(dtype))
  expect.equal(lg.io.npy.load(path), z:to(dtype))
end
os.remove(path)

-- Errors.
expect.raises("to: a c64 tensor is not turned into f32", function() z:to("f32") end)
expect.raises("sort: complex numbers are not supported (got c64)", function() z:sort() end)
expect.raises("lt: complex numbers are not supported (got c64)", function() z:lt(1) end)
expect.raises("softmax: ", function() z:softmax(1) end)
expect.raises("imag: a complex tensor is needed (got f32)", function() lg.zeros(2):imag() end)
expect.raises("needs a seed", function() p:sum():backward() end)
expect.raises("bad argument #2 to 'complex'", function() lg.complex(1) end)
expect.raises("dtype 'c32'", function() z:to {dtype = "c32"} end)
