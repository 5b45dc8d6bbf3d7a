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

-- A step below 0 selects in reverse order; what it selects is a copy. Assignment and gradients follow that order.
do
  local line = lg.arange(6)
  same(list(line[{ { -1, 1, -1 } }]), { 5, 4, 3, 2, 1, 0 })
  same(list(line[{ { 6, 1, -2 } }]), { 5, 3, 1 })
  same(list(line[{ { 5, 2, -3 } }]), { 4, 1 })
  same(list(line[{ { 4, 4, -1 } }]), { 3 })
  same(list(line[{ { 2, 5, -1 } }]), {})
  same(list(line[{ { 3, 1, math.mininteger } }]), { 2 })
  local wide = lg.arange(6):reshape(2, 3)
  same(list(wide[{ { 2, 1, -1 }, { -1, 1, -2 } }]), { { 5, 3 }, { 2, 0 } })
  same(list(wide[{ 2, { -1, 1, -1 } }]), { 5, 4, 3 })
  same(list(wide[{ lg.newaxis, { 2, 1, -1 }, 1 }]), { { 3, 0 } })
  same(list(wide[{ lg.tensor { 1, 0, 1 }, { -1, 1, -1 } }]), { { 5, 4, 3 }, { 2, 1, 0 }, { 5, 4, 3 } })
  same(list(wide[{ { 2, 1, -1 }, lg.tensor { true, false, true } }]), { { 3, 5 }, { 0, 2 } })
  line[{ { -1, 1, -1 } }] = lg.arange(6) * 10
  same(list(line), { 50, 40, 30, 20, 10, 0 })
  line[{ { -1, 1, -1 } }] = line
  same(list(line), { 0, 10, 20, 30, 40, 50 })
  line[{ { 5, 1, -2 } }] = 7
  same(list(line), { 7, 10, 7, 30, 7, 50 })
  wide[{ { 2, 1, -1 }, { 3, 2, -1 } }] = lg.tensor { { 1, 2 }, { 3, 4 } }
  same(list(wide), { { 0, 4, 3 }, { 3, 2, 1 } })
  wide[{ { 2, 1, -1 } }] = lg.tensor { 7, 8, 9 }
  same(list(wide), { { 7, 8, 9 }, { 7, 8, 9 } })
  wide[{ { 2, 1, -1 }, lg.tensor { 0, 2 } }] = lg.tensor { { 1, 2 }, { 3, 4 } }
  same(list(wide), { { 3, 8, 4 }, { 1, 8, 2 } })
  local x = lg.tensor({ 1.0, 2.0, 3.0 }, { requires_grad = true })
  ;(x[{ { -1, 1, -1 } }] * lg.tensor { 1.0, 10.0, 100.0 }):sum():backward()
  same(list(x.grad), { 100, 10, 1 })
  x.grad = nil
  local y = lg.zeros(3)
  y[{ { -1, 1, -1 } }] = x
  ;(y * lg.tensor { 1.0, 10.0, 100.0 }):sum():backward()
  same(list(x.grad), { 100, 10, 1 })
  for key, part in pairs { [{ { 7, 1, -1 } }] = "{7, 1} is out of range", [{ { 1, 3, 0 } }] = "a step must not be 0" } do
    local went, message = pcall(function() return line[key] end)
    assert(not went and message:find(part, 1, true), message)
  end
end

-- take and put count negative indices from the end of the flattened tensor.
do
  local x = lg.tensor({ { 1.0, 2.0 }, { 3.0, 4.0 } }, { requires_grad = true })
  local y = x:take(lg.tensor { { -1, 0 }, { -4, 1 } })
  same(list(y), { { 4, 1 }, { 1, 2 } })
  y:sum():backward()
  same(list(x.grad), { { 2, 1 }, { 0, 1 } })
  same(list(lg.take(x:detach(), lg.tensor({ -2 }, { dtype = "i32" }))), { 3 })
  same(list(lg.zeros(4):put(lg.tensor { -1, 1 }, lg.tensor { 5.0, 6.0 })), { 0, 6, 0, 5 })
  for _, index in ipairs { 4, -5 } do
    local went, message = pcall(lg.take, x, lg.tensor { 0, index })
    assert(not went and message:find(("take: index %d at position 2 is out of range for 4 elements"):format(index), 1, true), message)
  end
end

-- A list with a __len metamethod is refused.
do
  local fake = setmetatable({ 2, 3 }, { __len = function() return 1 end })
  for name, f in pairs { zeros = function() lg.zeros(fake) end, reshape = function() lg.arange(6):reshape(fake) end,
    sum = function() lg.zeros(2, 3):sum(setmetatable({ 1 }, getmetatable(fake))) end, tensor = function() lg.tensor(fake) end,
    nested = function() lg.tensor { fake } end, cat = function() lg.cat(setmetatable({ lg.ones(2) }, getmetatable(fake))) end,
    split = function() lg.arange(5):split(fake) end, index = function() return lg.arange(6)[{ fake }] end,
    entries = function() return lg.zeros(4, 4)[fake] end, expand = function() lg.zeros(1, 1):expand(fake) end,
    pool = function() lg.avg_pool2d(lg.zeros(1, 1, 4, 4), fake) end, randn = function() lg.randn(fake) end } do
    local went, message = pcall(f)
    assert(not went and message:find("__len", 1, true), name .. ": " .. tostring(message))
  end
  same(lg.zeros(lg.zeros(2, 3).shape):size(), { 2, 3 })
end
