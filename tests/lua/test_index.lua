local lg = require "lunagrad.core"

local function list(x) return x:tolist() end
local function same(a, b)
  if type(b) ~= "table" then return assert(a == b, ("%s where %s was expected"):format(a, b)) end
  assert(#a == #b)
  for i = 1, #b do same(a[i], b[i]) end
end

local x = lg.arange(12):reshape(3, 4)

-- Positions count from 1; negative ones count from the end.
same(list(x[1]), { 0, 1, 2, 3 })
same(list(x[-1]), { 8, 9, 10, 11 })
same(x[3][4]:item(), 11)
same(x[{ 2, 3 }]:item(), 6)
same(list(x[{ {}, 1 }]), { 0, 4, 8 })
same(list(x[{ { 2, 3 }, { 1, 2 } }]), { { 4, 5 }, { 8, 9 } })
same(list(x[{ 2, { 1, 4, 2 } }]), { 4, 6 })
same(list(x[{ { -2, -1 }, -1 }]), { 7, 11 })
same(list(x[{ { 1, 1 } }]), { { 0, 1, 2, 3 } })
same(x[{ { 3, 2 } }]:size(), { 0, 4 })
same(x[{}]:size(), { 3, 4 })

-- A new dim, also at the end, among selected dims and before an index tensor.
local new = lg.newaxis
same(x[new]:size(), { 1, 3, 4 })
same(x[{ {}, {}, new, new }]:size(), { 3, 4, 1, 1 })
same(x[{ 2, new, { 1, 2 } }]:tolist(), { { 4, 5 } })
same(x[{ new, lg.tensor({ 2, 0 }), new }]:size(), { 1, 2, 1, 4 })
same(x[{ x:gt(4), new }]:size(), { 7, 1 })
do
  local y = lg.zeros(2, 3)
  y[{ {}, new, 1 }] = lg.tensor({ { 5. }, { 6. } })
  same(list(y), { { 5, 0, 0 }, { 6, 0, 0 } })
  assert(not pcall(function() return x[{ 1, 1, 1, new }] end))
end

-- Methods.
same(list(x:select(2, 2)), { 1, 5, 9 })
same(list(x:narrow(1, 2, 2)), { { 4, 5, 6, 7 }, { 8, 9, 10, 11 } })
same(list(x:slice(2, 2, 4, 2)), { { 1, 3 }, { 5, 7 }, { 9, 11 } })
same(list(x:slice(1, 3)), { { 8, 9, 10, 11 } })
same(list(x:slice(1, -2, -1)), { { 4, 5, 6, 7 }, { 8, 9, 10, 11 } })

-- Index tensors count from 0; masks select elements.
same(list(x[lg.tensor { 2, 0 }]), { { 8, 9, 10, 11 }, { 0, 1, 2, 3 } })
same(list(x:index_select(2, lg.tensor { 3 })), { { 3 }, { 7 }, { 11 } })
same(list(x[x:gt(9)]), { 10, 11 })
same(list(x[{ 1, lg.tensor { 0, 3 } }]), { 0, 3 })

-- Assignment writes through views.
local y = lg.zeros(3, 4)
y[1] = 5
y[{ 2, { 2, 3 } }] = lg.tensor { 1., 2. }
y[{ {}, 4 }] = -1
same(list(y), { { 5, 5, 5, -1 }, { 0, 1, 2, -1 }, { 0, 0, 0, -1 } })
y[y:lt(0)] = 9
same(list(y), { { 5, 5, 5, 9 }, { 0, 1, 2, 9 }, { 0, 0, 0, 9 } })
y[lg.tensor { 0, 2 }] = 0
same(list(y), { { 0, 0, 0, 0 }, { 0, 1, 2, 9 }, { 0, 0, 0, 0 } })
y[lg.tensor { 0, 1 }] = lg.tensor { { 1., 1., 1., 1. }, { 2., 2., 2., 2. } }
same(list(y[2]), { 2, 2, 2, 2 })
local z = lg.zeros(2, 3)
z[{}] = lg.tensor { 1., 2., 3. }
same(list(z), { { 1, 2, 3 }, { 1, 2, 3 } })

-- Gradients flow through indexing and through assignment.
local p = lg.tensor({ 1., 2., 3. }, { requires_grad = true })
p[{ { 1, 2 } }]:sum():backward()
same(list(p.grad), { 1, 1, 0 })
p.grad = nil
local q = lg.zeros(3)
q[2] = p[3] * 2
q:sum():backward()
same(list(p.grad), { 0, 0, 2 })
p.grad = nil
p[lg.tensor { 0, 0 }]:sum():backward()
same(list(p.grad), { 2, 0, 0 })

-- A mask without dims is a dim of size 1 (true) or 0 (false), as in PyTorch.
local yes, no, any = lg.tensor(true), lg.tensor(false), lg.arange(6):reshape(2, 3)
same(any[yes]:tolist(), { { { 0, 1, 2 }, { 3, 4, 5 } } })
same(any[no]:size(), { 0, 2, 3 })
same(any[{ yes }]:size(), { 1, 2, 3 })
same(list(any[{ yes, 2 }]), { { 3, 4, 5 } })
same(any[{ no, 2 }]:size(), { 0, 3 })
same(list(any[{ 2, yes }]), { { 3, 4, 5 } })
same(any[{ {}, yes }]:size(), { 2, 1, 3 })
same(list(any[{ yes, lg.tensor { 1, 0 } }]), { { 3, 4, 5 }, { 0, 1, 2 } })
same(list(any[{ {}, yes, lg.tensor { 0, 2 } }]), { { 0, 2 }, { 3, 5 } })
same(list(lg.tensor(5)[yes]), { 5 })
same(lg.tensor(5)[{ no }]:size(), { 0 })
local set = lg.zeros(2, 3)
set[no] = 7
set[{ no, 1 }] = 7
same(list(set), { { 0, 0, 0 }, { 0, 0, 0 } })
set[yes] = lg.tensor { 1., 2., 3. }
set[{ yes, 2 }] = 7
same(list(set), { { 1, 2, 3 }, { 7, 7, 7 } })
set[{ 1, yes }] = lg.tensor { { 4., 5., 6. } }
same(list(set[1]), { 4, 5, 6 })
local scalar = lg.tensor(5)
scalar[{ yes }] = 6
same(scalar:item(), 6)
local told, why = pcall(lg.index, any, lg.tensor(true), lg.tensor { 0 })
assert(not told and why:find("index: a mask without dims", 1, true), why)
