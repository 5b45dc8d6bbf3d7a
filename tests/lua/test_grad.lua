local lg = require "lunagrad.core"

local function same(a, b)
  if type(b) ~= "table" then return assert(a == b, ("%s where %s was expected"):format(a, b)) end
  assert(#a == #b)
  for i = 1, #b do same(a[i], b[i]) end
end
local function leaf(values) return lg.tensor(values, { requires_grad = true, dtype = "f64" }) end

-- Fields of leaf tensors and of results.
local x = leaf { 1, 2, 3 }
assert(x.requires_grad and x.is_leaf and x.grad == nil and x.grad_fn == nil)
local y = x * x
assert(y.requires_grad and not y.is_leaf and y.grad_fn == "mul")
assert(not x:detach().requires_grad and x:detach().is_leaf)

-- backward accumulates; a tensor used twice gets both gradients.
y:sum():backward()
same(x.grad:tolist(), { 2, 4, 6 });
(x * 3):sum():backward()
same(x.grad:tolist(), { 5, 7, 9 })
x.grad = nil
assert(x.grad == nil)
x.grad = lg.zeros(3, { dtype = "f64" })
same(x.grad:tolist(), { 0, 0, 0 })
x.grad = nil

-- Seeds, and retained graphs.
y = x * x
y:backward(lg.tensor({ 1., 10., 100. }, { dtype = "f64" }), { retain_graph = true })
same(x.grad:tolist(), { 2, 40, 600 })
x.grad = nil
y:sum():backward { retain_graph = true }
y:sum():backward()
same(x.grad:tolist(), { 4, 8, 12 })
x.grad = nil

-- Switching requires_grad.
local p = lg.zeros(2)
assert(not p.requires_grad)
assert(rawequal(p:requires_grad_(), p) and p.requires_grad)
p.requires_grad = false
assert(not p.requires_grad)
local d = (leaf { 1 } * 2):detach_()
assert(d.is_leaf and not d.requires_grad)

-- lg.grad: a tensor for a tensor, a table for a table; nothing is accumulated.
local a, b = leaf { 2 }, leaf { 3 }
same(lg.grad((a * b):sum(), a):tolist(), { 3 })
local g = lg.grad({ (a * b):sum() }, { a, b })
assert(#g == 2 and a.grad == nil)
same(g[2]:tolist(), { 2 })
same(lg.grad(a * b, a, { grad_outputs = lg.tensor({ 5. }, { dtype = "f64" }) }):tolist(), { 15 })
local unused = lg.grad({ (a * a):sum() }, { a, b }, { allow_unused = true })
assert(unused[1] and unused[2] == nil)

-- Second order.
local first = lg.grad((a * a * a):sum(), a, { create_graph = true })
same(lg.grad(first:sum(), a):tolist(), { 12 })

-- no_grad as a function and as a scope; enable inside.
local r1, r2 = lg.no_grad(function(u, v)
  assert(not lg.is_grad_enabled())
  lg.grad.enable(function() assert(lg.grad.is_enabled() and (a * 2).requires_grad) end)
  return (u * v).requires_grad, 7
end, a, b)
assert(r1 == false and r2 == 7 and lg.is_grad_enabled())
do
  local _ <close> = lg.no_grad()
  assert(not (a * b).requires_grad)
end
assert((a * b).requires_grad)
pcall(lg.no_grad, function() error("inside") end)
assert(lg.is_grad_enabled())
pcall(function()
  local _ <close> = lg.no_grad()
  error("inside")
end)
assert(lg.is_grad_enabled())

-- Hooks see a gradient and may replace it; their handle removes them.
local calls = 0
local h = leaf { 1, 2 }
local handle = h:register_hook(function(gradient)
  calls = calls + 1
  return gradient * 10
end)
h:sum():backward()
same(h.grad:tolist(), { 10, 10 })
handle:remove()
handle:remove()
h.grad = nil
h:sum():backward()
same(h.grad:tolist(), { 1, 1 })
assert(calls == 1)
local middle = h * 2
middle:retain_grad()
middle:register_hook(function() end)
middle:sum():backward()
same(middle.grad:tolist(), { 1, 1 })

-- A hook may run ops, backward and coroutines; it runs outside the coroutine that called backward.
local nested = leaf { 3 }
local seen
nested:register_hook(function(gradient)
  assert(not lg.is_grad_enabled())
  local inner = leaf { 4 }
  lg.grad.enable(function() (inner * inner):sum():backward() end)
  seen = inner.grad:item()
  coroutine.wrap(function() coroutine.yield() end)()
end)
coroutine.wrap(function() nested:sum():backward() end)()
assert(seen == 8)

-- Checks against central differences.
assert(lg.grad.check(function(u) return (u * u):sum() end, { leaf { 1, 2 } }))
assert(lg.grad.check(function(u, v) return u:mul(v):tanh() end, { leaf { .5, .2 }, leaf { .3, .4 } }))
assert(lg.grad.checkgrad2(function(u) return (u ^ 3):sum() end, { leaf { 1, 2 } }))
local ok, why = lg.grad.check(function(u) return (u * u:detach()):sum() end, { leaf { 1, 2 } })
assert(not ok and why:find "input 1")

-- The tape as data, newest node first, with the line that created each node.
local w = leaf { 1, 2 }
lg._set_name(w, "weight")
local loss = (w * 2):sum()
local nodes = lg.tape(loss)
assert(#nodes == 3)
assert(nodes[1].op == "sum" and nodes[2].op == "mul" and nodes[3].op == "leaf" and nodes[3].name == "weight")
assert(nodes[1].id > nodes[2].id)
assert(nodes[2].file:find "test_grad.lua$" and nodes[2].line == debug.getinfo(1, "l").currentline - 5)
assert(nodes[2].device == "cpu" and nodes[2].dtype == "f64")
assert(nodes[2].inputs[1].node == nodes[3].id and nodes[2].inputs[1].tensor == w:id())
assert(nodes[2].saved and not nodes[1].saved and nodes[2].bytes == 16 and nodes[2].forward_ns > 0)
same(nodes[2].shape, { 2 })
local reduced = lg.tape(leaf { { 1, 2 } }:sum(2))
assert(reduced[1].attrs.dim == "{2}" and reduced[1].attrs.keepdim == "false")
assert(nodes:dot():find "digraph" and nodes:dot():find "weight")
assert(#lg.tape(lg.zeros(1)) == 0)

-- Inputs have the names of the op's parameters; a list of tensors counts from 1.
local joined = lg.tape(lg.cat({w, w}))[1]
assert(joined.inputs[1].name == "tensors[1]" and joined.inputs[2].name == "tensors[2]")
assert(nodes[2].inputs[1].name == "input" and nodes[2].inputs[2].name == "other")

-- A store of gradients: pairs, remove, replace, clone and new.
do
  local a, b = leaf { 1, 2 }, leaf { 3, 4 }
  local product = a * b
  local store = product:sum():gradients()
  local nodes = {}
  for node, gradient, output in pairs(store) do
    assert(math.type(node) == "integer" and lg.is_tensor(gradient) and output == 1)
    nodes[#nodes + 1] = node
  end
  assert(#nodes == #store and #store == 4)
  for i = 2, #nodes do assert(nodes[i] > nodes[i - 1]) end
  local copy = store:clone()
  same(copy[a]:tolist(), { 3, 4 })
  copy[a]:zero_()
  same(store[a]:tolist(), { 3, 4 })
  same(store:remove(a):tolist(), { 3, 4 })
  assert(store[a] == nil and store:remove(a) == nil and #store == 3 and #copy == 4)
  assert(store:replace(b, lg.ones(2, { dtype = "f64" })) == store)
  same(store[b]:tolist(), { 1, 1 })
  assert(not pcall(store.replace, store, b, lg.ones(2)))
  assert(not pcall(store.replace, store, b, lg.ones(3, { dtype = "f64" })))
  assert(not pcall(store.replace, store, lg.ones(2), lg.ones(2)))
  local sum = lg.GradStore.new()
  assert(#sum == 0 and next({}) == nil)
  for _ in pairs(sum) do error("an empty store has no gradients") end
  sum:merge(copy):accumulate(b, lg.ones(2, { dtype = "f64" }))
  same(sum[b]:tolist(), { 2, 3 })
  for _, gradient in pairs(sum) do assert(gradient) end
  -- Gradients may be removed during the loop.
  for _ in pairs(copy) do copy:remove(a) end
  assert(#copy == 3)
end
