local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises
local grad = lg.grad

local function leaf(values) return lg.tensor(values, {requires_grad = true, dtype = "f64"}) end
local function plain(values) return lg.tensor(values, {dtype = "f64"}) end

-- f(x) = (x1 x2, sin x1), whose Jacobian is known.
local function f(x) return lg.stack({x[1] * x[2], x[1]:sin()}, 1) end
local x = plain {0.5, 3}
local wanted = {{3, 0.5}, {math.cos(0.5), 0}}
local J = grad.jacobian(f, x)
expect.equal(J:size(), {2, 2})
expect.close(J, wanted, 1e-12)
assert(not J.requires_grad and not x.requires_grad)

-- Lists of inputs, of outputs, and of both, nested as in PyTorch.
local a, b = plain {1, 2}, plain {3, 4}
local list = grad.jacobian(function(u, v) return u * v end, {a, b})
expect.close(list[1], {{3, 0}, {0, 4}}, 1e-12)
expect.close(list[2], {{1, 0}, {0, 2}}, 1e-12)
local outputs = grad.jacobian(function(u) return u * 2, u:sum() end, a)
expect.close(outputs[1], {{2, 0}, {0, 2}}, 1e-12)
expect.close(outputs[2], {1, 1}, 1e-12)
local both = grad.jacobian(function(u, v) return {u + v, u} end, {a, b})
expect.close(both[1][2], {{1, 0}, {0, 1}}, 1e-12)
expect.close(both[2][2], {{0, 0}, {0, 0}}, 0)
local matrix = grad.jacobian(function(u) return u:t() end, plain {{1, 2, 3}, {4, 5, 6}})
expect.equal(matrix:size(), {3, 2, 2, 3})
assert(matrix[{3, 1, 1, 3}]:item() == 1 and matrix:sum():item() == 6)
expect.equal(grad.jacobian(function(u) return u:sum() * u:sum() end, plain(2)):size(), {})

-- The function is called with gradients enabled, even inside no_grad.
lg.no_grad(function() expect.close(grad.jacobian(f, x), wanted, 1e-12) end)

-- vjp and jvp against the Jacobian.
local u, v = plain {2, -1}, plain {0.25, 4}
local y, back = grad.vjp(f, x, u)
expect.close(y, {1.5, math.sin(0.5)}, 1e-12)
expect.close(back, u:matmul(J), 1e-12)
local _, forth = grad.jvp(f, x, v)
expect.close(forth, J:matmul(v), 1e-12)
local _, scalar = grad.vjp(function(t) return (t * t):sum() end, x)
expect.close(scalar, {1, 6}, 1e-12)
local _, parts = grad.jvp(function(p, q) return p * q, p end, {a, b}, {plain {1, 0}, plain {0, 1}})
expect.close(parts[1], {3, 2}, 1e-12)
expect.close(parts[2], {1, 0}, 1e-12)
local _, pulled = grad.vjp(function(p, q) return p * q end, {a, b}, plain {1, 10})
expect.close(pulled[1], {3, 40}, 1e-12)
expect.close(pulled[2], {1, 20}, 1e-12)

-- hvp and hessian: f = x1^2 x2 + x2^3.
local function cubic(t) return t[1] ^ 2 * t[2] + t[2] ^ 3 end
local H = grad.hessian(cubic, plain {2, 5})
expect.close(H, {{10, 4}, {4, 30}}, 1e-12)
local value, product = grad.hvp(cubic, plain {2, 5}, plain {1, -1})
expect.close(value:item(), 145, 1e-12)
expect.close(product, {6, -26}, 1e-12)
local blocks = grad.hessian(function(p, q) return (p * p * q):sum() end, {a, b})
expect.close(blocks[1][1], {{6, 0}, {0, 8}}, 1e-12)
expect.close(blocks[1][2], {{2, 0}, {0, 4}}, 1e-12)
expect.close(blocks[2][2], {{0, 0}, {0, 0}}, 0)
expect.close(grad.hessian(function(p) return p:sum() end, a), {{0, 0}, {0, 0}}, 0)

-- create_graph: third derivatives, and gradients of the results with respect to the originals.
local z = leaf {2}
local second = grad.hessian(function(t) return (t ^ 4):sum() end, z, {create_graph = true})
expect.close(grad(second:sum(), z), {48}, 1e-12)
local _, jv = grad.jvp(function(t) return t ^ 3 end, z, plain {1}, {create_graph = true})
expect.close(grad(jv:sum(), z), {12}, 1e-12)
local _, hv = grad.hvp(function(t) return (t ^ 3):sum() end, z, plain {1}, {create_graph = true})
expect.close(grad(hv:sum(), z), {6}, 1e-12)
assert(z.grad == nil)

-- The option strict, and errors.
local function constant(p) return p:detach() * 2 end
expect.close(grad.jacobian(constant, a), {{0, 0}, {0, 0}}, 0)
raises("jacobian: output 1 does not depend on the inputs", grad.jacobian, constant, a, {strict = true})
raises("the outputs do not depend on input 2", grad.vjp, function(p) return p * 1 end, {a, b}, u, {strict = true})
raises("vjp: v has shape [3] where the output has [2]", grad.vjp, f, x, plain {1, 2, 3})
raises("vjp: v may be left out only when", grad.vjp, f, x)
raises("jvp: v may be left out only when", grad.jvp, f, x)
raises("hvp: the function must return one element (got shape [2])", grad.hvp, f, x, v)
raises("hessian: the function must return one element (got 2 tensors)", grad.hessian,
  function(p) return p, p end, a)
raises("jacobian: inputs must be a tensor or a list of tensors (got a number)", grad.jacobian, f, 3)
raises("jacobian: inputs 2 is a number, not a tensor", grad.jacobian, f, {a, 3})
raises("jacobian: what the function returns must be a tensor", grad.jacobian, function() return 3 end, a)
raises("jacobian: unknown option 'vectorize'", grad.jacobian, f, x, {vectorize = true})

-- Checks against central differences, to the second order, with several inputs and outputs.
assert(grad.check(function(p, q) return (p * q):tanh(), p:exp() end, {leaf {.5, .2}, leaf {.3, .4}}))
assert(grad.checkgrad2(function(p, q) return (p * q):tanh(), p:exp() end, {leaf {.5, .2}, leaf {.3, .4}}))
local ok, why = grad.checkgrad2(function(p) return p * p:detach() * p end, {leaf {1, 2}})
assert(not ok and why:find "central difference")

-- Gradients as a value (GradStore): of leaves and of intermediate results; .grad is unchanged.
local w = leaf {1, 2}
local h = w * w
local loss = (h * 3):sum()
local g = loss:gradients {retain_graph = true}
expect.close(g[w], {6, 12}, 1e-12)
expect.close(g[h], {3, 3}, 1e-12)
expect.close(g:get(loss):item(), 1, 0)
assert(w.grad == nil and #g == 4 and tostring(g):find "4 tensors")
assert(g[plain {1, 2}] == nil and g[leaf {1}] == nil)
h:retain_grad()
local more = loss:gradients()
assert(h.grad == nil)
assert(rawequal(g:merge(more), g))
expect.close(g[w], {12, 24}, 1e-12)
expect.close(more[w], {6, 12}, 1e-12)
g:merge(g)
expect.close(g[h], {12, 12}, 1e-12)
expect.close(g:accumulate(w, plain {1, 1}):get(w), {25, 49}, 1e-12)
raises("retain_graph", loss.gradients, loss)
raises("a gradient of shape [3] for a tensor of shape [2]", g.accumulate, g, w, plain {1, 2, 3})
raises("a gradient of type f32 for a tensor of type f64", g.accumulate, g, w, lg.ones(2))
raises("does not require grad", g.accumulate, g, plain {1, 2}, plain {1, 2})
raises("GradStore: it is indexed with a tensor", function() return g.nothing end)
local seeded = (w * w):gradients(plain {1, 10})
expect.close(seeded[w], {2, 40}, 1e-12)
local curve = (w ^ 3):sum():gradients {create_graph = true}
expect.close(grad(curve[w]:sum(), w), {6, 12}, 1e-12)
-- Hooks act on it as on backward.
local hooked = leaf {1}
hooked:register_hook(function(gradient) return gradient * 5 end)
expect.close((hooked * 2):sum():gradients()[hooked], {10}, 0)

-- Hooks of results are freed with the graph, even if a hook references its own tensor.
local watcher = setmetatable({}, {__mode = "k"})
do
  local middle = leaf {1} * 2
  watcher[middle] = true
  middle:register_hook(function() return middle:size() and nil end)
  local out = middle * middle
  out:sum():backward()
  middle, out = nil, nil
end
collectgarbage()
collectgarbage()
assert(next(watcher) == nil)
local kept = leaf {1} * 2
kept:register_hook(function() end)
local total = (kept + 1):sum()
total:backward {retain_graph = true}
total:backward()
raises("retain_graph", total.backward, total)

-- detach_ also detaches the views of a tensor.
local base = leaf {1, 2} * 2
local part = base[{{1, 1}}]
base:detach_()
assert(not part.requires_grad and not base.requires_grad)

-- Every record of the tape has every field; the tape as JSON and as an image.
local Doubled = lg.nn.class("Doubled")
function Doubled:forward(t) return (t * 2):sum() end
local tape = lg.tape(Doubled()(leaf {1, 2}))
for _, node in ipairs(tape) do
  for _, field in ipairs {"id", "op", "attrs", "inputs", "outputs", "shape", "dtype", "device", "saved", "file", "line",
    "module", "forward_ns", "backward_ns", "bytes"} do
    assert(node[field] ~= nil or node.op == "leaf" and field == "module", field)
  end
end
local json = tape:json()
assert(json:find '"op":"mul"' and json:find '"attrs":{}' and json:sub(1, 1) == "[" and json:sub(-1) == "]")
local drawn, message = pcall(tape.svg, tape, "/nowhere/tape.svg")  -- with or without Graphviz
assert(not drawn)
assert(message:find("could not draw the tape into /nowhere/tape.svg", 1, true) or message:find "graphviz")
