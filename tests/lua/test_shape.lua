-- Shape, sort, index, scan and linear algebra ops as scripts call them: positions from 1, PyTorch's argument order, numbers
-- and tables where PyTorch takes them.
local lg = require "lunagrad"
local expect = require "expect"

local x = lg.arange(6):reshape(2, 3)
local v = lg.tensor {1., 2., 3.}

-- Views and their dims.
expect.equal(x:movedim(1, 2), x:t())
expect.equal(lg.zeros(2, 3, 4):movedim({1, 2}, {-1, 1}):size(), {3, 4, 2})
expect.equal(x:diagonal(), lg.tensor {0, 4})
expect.equal(x:diagonal(1, 2, 1):tolist(), {3})
expect.equal(lg.arange(5):unfold(1, 2, 2), lg.tensor {{0, 1}, {2, 3}})
expect.equal(v:expand_as(lg.zeros(2, 3)):size(), {2, 3})
expect.equal(v:broadcast_to(2, 3):stride(), {0, 1})
expect.equal(x:view_as(lg.zeros(3, 2)):size(), {3, 2})
expect.equal(x:t():reshape_as(lg.zeros(6)), lg.tensor {0, 3, 1, 4, 2, 5})

-- Copies with reordered elements.
expect.equal(x:roll(1), lg.tensor {{5, 0, 1}, {2, 3, 4}})
expect.equal(x:roll({1, 1}, {1, 2}), lg.tensor {{5, 3, 4}, {2, 0, 1}})
expect.equal(x:flip(2), lg.tensor {{2, 1, 0}, {5, 4, 3}})
expect.equal(x:flip{1, 2}, lg.tensor {{5, 4, 3}, {2, 1, 0}})
expect.equal(lg.tensor {1, 2}:tile(2, 2), lg.tensor {{1, 2, 1, 2}, {1, 2, 1, 2}})
expect.equal(lg.tensor {1, 2}:repeat_interleave(2), lg.tensor {1, 1, 2, 2})
expect.equal(x:repeat_interleave(lg.tensor {0, 2}, 1), lg.tensor {{3, 4, 5}, {3, 4, 5}})
expect.equal(x:repeat_interleave(lg.tensor {1, 0, 2}, {dim = 2}), lg.tensor {{0, 2, 2}, {3, 5, 5}})
expect.equal(lg.diag(lg.tensor {1, 2}, 1), lg.tensor {{0, 1, 0}, {0, 0, 2}, {0, 0, 0}})
local rows, columns = lg.meshgrid(lg.tensor {1, 2}, lg.tensor {3, 4, 5})
expect.equal(rows, lg.tensor {{1, 1, 1}, {2, 2, 2}})
expect.equal(columns, lg.tensor {{3, 4, 5}, {3, 4, 5}})
expect.equal((lg.meshgrid({lg.tensor {1, 2}, lg.tensor {3}}, {indexing = "xy"})), lg.tensor {{1, 2}})
expect.equal(lg.hstack(lg.tensor {1}, lg.tensor {2, 3}), lg.tensor {1, 2, 3})
expect.equal(lg.vstack {lg.tensor {1, 2}, lg.tensor {3, 4}}, lg.tensor {{1, 2}, {3, 4}})
expect.equal(x:pad {1, 0}, lg.tensor {{0, 0, 1, 2}, {0, 3, 4, 5}})
expect.equal(x:pad({0, 1}, "constant", -1), lg.tensor {{0, 1, 2, -1}, {3, 4, 5, -1}})
expect.equal(x:pad({2, 1}, "reflect"), lg.tensor {{2, 1, 0, 1, 2, 1}, {5, 4, 3, 4, 5, 4}})
expect.equal(x:pad({1, 1, 1, 0}, {mode = "replicate"}), lg.tensor {{0, 0, 1, 2, 2}, {0, 0, 1, 2, 2}, {3, 3, 4, 5, 5}})
expect.equal(x:pad({1, 2}, "circular"), lg.tensor {{2, 0, 1, 2, 0, 1}, {5, 3, 4, 5, 3, 4}})

-- Ops that return tables of tensors.
local function sizes(pieces)
  local all = {}
  for i, piece in ipairs(pieces) do all[i] = piece:size(1) end
  return all
end
local seven = lg.arange(7)
expect.equal(sizes(seven:split(3)), {3, 3, 1})
expect.equal(sizes(seven:split {2, 5}), {2, 5})
expect.equal(sizes(seven:chunk(3)), {3, 3, 1})
expect.equal(sizes(seven:chunk(5)), {2, 2, 2, 1})
expect.equal(sizes(seven:chunk(math.maxinteger)), {1, 1, 1, 1, 1, 1, 1})
expect.equal(sizes(seven:tensor_split(3)), {3, 2, 2})
expect.equal(sizes(seven:tensor_split {2, 4}), {2, 2, 3})
expect.equal(#x:unbind(2), 3)
expect.equal(x:unbind(2)[3], lg.tensor {2, 5})
expect.equal(x:split(2, 2)[2], lg.tensor {{2}, {5}})

-- Index tensors count from 0; the source may be a number.
expect.equal(lg.zeros(2, 3):scatter(2, lg.tensor {{2}, {0}}, 1), lg.tensor {{0., 0., 1.}, {1., 0., 0.}})
expect.equal(lg.zeros(3):scatter(1, lg.tensor {2, 0}, lg.tensor {5., 6.}), lg.tensor {6., 0., 5.})
expect.equal(x:index_copy(1, lg.tensor {0}, lg.tensor {{7, 8, 9}}), lg.tensor {{7, 8, 9}, {3, 4, 5}})
expect.equal(x:index_fill(2, lg.tensor {0, 2}, -1), lg.tensor {{-1, 1, -1}, {-1, 4, -1}})
-- Negative indices count from the end where PyTorch counts them.
expect.equal(x:index_fill(2, lg.tensor {-1, 0}, -1), lg.tensor {{-1, 1, -1}, {-1, 4, -1}})
expect.equal(x:index_fill(2, lg.tensor {-2}:expand(100), -1), lg.tensor {{0, -1, 2}, {3, -1, 5}})
expect.equal(lg.tensor(3):index_fill(1, lg.tensor {-1}, 7), lg.tensor(7))
do
  local leaf, value = lg.ones(2, 3):requires_grad_(), lg.tensor(2.):requires_grad_()
  leaf:index_fill(2, lg.tensor {-1}, value):sum():backward()
  expect.equal(leaf.grad, lg.tensor {{1., 1., 0.}, {1., 1., 0.}})
  expect.equal(value.grad:item(), 2.0)
end
for _, i in ipairs {-4, 3} do
  expect.raises(("index_fill: index %d at position 2 is out of range"):format(i), function()
    return x:index_fill(2, lg.tensor {0, i}, 1):tolist()
  end)
end
for name, f in pairs {
  take = function(i) return x:take(i) end, put = function(i) return x:put(i, lg.tensor {1, 2}) end,
  take_along_dim = function(i) return x:take_along_dim(i:reshape(1, 2), 2) end,
  index_select = function(i) return x:index_select(2, i) end, index = function(i) return x[i] end,
  index_add = function(i) return x:index_add(1, i, x) end, gather = function(i) return x:gather(1, i:reshape(1, 2)) end,
  embedding_bag = function(i) return lg.nn.functional.embedding_bag(i:reshape(1, 2), x:float()) end,
} do
  -- When a device finds a fault, the error names the call that made the fault, not the call that waits for the device.
  expect.raises(name .. ":", function() return f(lg.tensor {0, 9}):to("cpu"):tolist() end)
end
expect.equal(x:take(lg.tensor {{5, 0}}), lg.tensor {{5, 0}})
expect.equal(x:take_along_dim(lg.tensor {{1}, {0}}, 2), lg.tensor {{1}, {3}})
expect.equal(x:take_along_dim(x:argsort(2, true), 2), lg.tensor {{2, 1, 0}, {5, 4, 3}})
expect.raises("scatter: the source is i64, the tensor f32", function()
  return lg.zeros(3):scatter(1, lg.tensor {0}, lg.tensor {1})
end)

-- Products.
local m = lg.tensor {{1., 2.}, {3., 4.}}
expect.equal(lg.einsum("ij,jk->ik", m, m), m:matmul(m))
expect.equal(lg.einsum("ii", {m}), m:trace())
expect.equal(lg.tensordot(m, m, 1), m:mm(m))
expect.equal(lg.tensordot(m, m, {{1}, {1}}), m:t():mm(m))
expect.equal(m:tensordot(m):item(), 30.)
expect.equal(v:outer(v)[3], lg.tensor {3., 6., 9.})
expect.equal(lg.baddbmm(m, m:unsqueeze(1), m:unsqueeze(1), {beta = 2, alpha = 0})[1], m * 2)
expect.close(lg.vector_norm(m, 1, 2), {3, 7})
expect.close(m:norm(2, {1, 2}), math.sqrt(30))
expect.raises('einsum: the result of "ij->k" names \'k\', which no operand has', function()
  return lg.einsum("ij->k", m)
end)

-- The long forms of ops under their short names.
expect.equal(lg.add(v, v, {alpha = 2}), lg.tensor {3., 6., 9.})
expect.equal(lg.add(1, v, {alpha = 2}), lg.tensor {3., 5., 7.})
expect.equal(x:add(x, 3), x * 4)
expect.equal(v:sub(1, {alpha = 2}), lg.tensor {-1., 0., 1.})
expect.equal(v:clone():add_(v, {alpha = -1}), lg.zeros(3))
expect.raises("add: for integers alpha must be an integer (got 0.5)", function() return x:add(x, {alpha = .5}) end)
local a = lg.tensor {-7, 7}
expect.equal(a:div(2, {rounding_mode = "trunc"}), lg.tensor {-3, 3})
expect.equal(a:div(2, "floor"), lg.tensor {-4, 3})
expect.equal(a:div(2), lg.tensor {-3.5, 3.5})
expect.equal(a:clone():div_(2, {rounding_mode = "trunc"}), lg.tensor {-3, 3})
expect.equal(lg.tensor {-3.5}:div_(2, {rounding_mode = "floor"}), lg.tensor {-2.})
expect.raises("div_: a result of type f32 cannot be written into a tensor of type i64", function() a:div_(2) end)
expect.equal(v:clamp(lg.tensor {2., 0., 0.}, 2.5), lg.tensor {2., 2., 2.5})
expect.equal(v:clamp {max = lg.tensor {0., 5., 5.}}, lg.tensor {0., 2., 3.})
expect.equal(v:clone():clamp_(lg.tensor {2., 2., 2.}), lg.tensor {2., 2., 3.})
expect.equal(v:clamp(2), lg.tensor {2., 2., 3.})
expect.equal(x:clamp(1, 3), lg.tensor {{1, 1, 2}, {3, 3, 3}})
expect.raises("clamp: min, max or both are needed", function() return v:clamp() end)
expect.equal(x:sum({dtype = "f64"}), lg.tensor(15., {dtype = "f64"}))
expect.equal(x:sum(1, true, "f32"), lg.tensor {{3., 5., 7.}})
expect.equal(x:mean({dtype = "f32"}), lg.tensor(2.5))
expect.equal(lg.tensor {1.9, 2.}:prod({dtype = "i64"}), lg.tensor(2))
expect.equal(x:cumsum(2, {dtype = "f32"}), lg.tensor {{0., 1., 3.}, {3., 7., 12.}})
expect.equal(v:cumprod(1), lg.tensor {1., 2., 6.})
expect.equal(lg.tensor {1., 0.}:all(), lg.tensor(false))
expect.equal(lg.tensor {0, 2}:any(), lg.tensor(true))
expect.equal(lg.tensor {1, 2}:eq(lg.tensor {1., 2.5}), lg.tensor {true, false})

-- Activations.
expect.close(lg.tensor {2., 0.}:glu(), {1})
expect.close(lg.tensor {-2., 4.}:prelu(lg.tensor {0.5}), {-1, 4})
expect.close(lg.tensor {0., 0.}:softmin(1), {0.5, 0.5})

-- Comparisons that return Lua booleans.
assert(lg.equal(v, v:clone()) == true and v:equal(v + 1) == false and v:equal(lg.zeros(2)) == false)
assert(lg.equal(lg.zeros(0), lg.zeros(0)) == true)
assert(v:allclose(v + 1e-7) == true and lg.allclose(v, v + 0.1) == false)
assert(lg.allclose(v, v + 0.1, {atol = 0.2}) == true)
local nan = lg.tensor {0 / 0}
assert(nan:allclose(nan) == false and nan:allclose(nan, {equal_nan = true}) == true)
expect.equal(v:isclose(lg.tensor {1., 2.1, 3.}), lg.tensor {true, false, true})

-- Draws.
lg.manual_seed(3)
local drawn = lg.tensor {0., 1., 0.}:multinomial(4, true)
expect.equal(drawn, lg.tensor {1, 1, 1, 1})
expect.equal(lg.ones(2, 5):multinomial(5):sort(2), lg.arange(5):expand(2, 5))

-- Matrices of one row, whose row stride is arbitrary, in contiguous, expanded and overlapping batches.
do
  local rows, weight = lg.randn(3, 50), lg.randn(26, 50)
  local one_each, wanted = rows:view(3, 1, 50), lg.matmul(rows, weight:t())
  local overlapping = lg.randn(52):unfold(1, 50, 1)
  for _, case in ipairs {
    {one_each:narrow(2, 1, 1):expand(3, 1, 50), wanted},
    {rows:narrow(1, 1, 1):expand(3, 50):unsqueeze(2), wanted:narrow(1, 1, 1):expand(3, 26)},
    {overlapping:unsqueeze(2), lg.matmul(overlapping:clone(), weight:t())},
  } do
    expect.close(lg.nn.functional.linear(case[1], weight):squeeze(2), case[2], 1e-5)
    expect.close(lg.matmul(case[1], weight:t()):squeeze(2), case[2], 1e-5)
  end
end

-- The option is accepted and stored; the CPU computes all three in f32.
expect.equal(lg.matmul_precision(), "highest")
lg.set_matmul_precision("high")
expect.equal(lg.matmul_precision(), "high")
lg.set_matmul_precision("highest")
expect.raises("bad argument #1 to 'set_matmul_precision' (one of 'highest', 'high', 'medium' expected, got 'low')",
  function() lg.set_matmul_precision("low") end)

-- Functions that are written in Lua refuse a list with a __len metamethod, too.
do
  local fake = setmetatable({2, 3}, {__len = function() return 1 end})
  for _, f in ipairs {function() lg.broadcast_shapes(fake, {2, 1}) end, function() lg.zeros(1):new_zeros(fake) end,
    function() lg.zeros(2, 3):sum_to_size(fake) end, function() lg.empty_strided(fake, {3, 1}) end,
    function() lg.unravel_index(lg.tensor {1}, fake) end, function() lg.nn.MaxPool2d(fake) end} do
    expect.raises("plain table expected", f)
  end
end

-- The pieces of a tensor are outputs of one node, or of a tree of nodes with eight outputs each, whose gradients are joined.
-- Pieces without a gradient have zeros, and gradients have gradients.
for _, n in ipairs {1, 2, 8, 9, 64, 65} do
  for _, take in ipairs {function(y) return y:unbind(2) end, function(y) return y:split(1, 2) end} do
    local y = lg.randn(3, n, {dtype = "f64", requires_grad = true})
    local pieces = take(y)
    assert(#pieces == n)
    local sum, weight = 0, lg.zeros(3, n, {dtype = "f64"})
    for i = 1, n, 2 do
      sum = sum + (pieces[i] ^ 3):sum() * i
      weight:select(2, i):fill_(i)
    end
    local g = lg.grad(sum, y, {create_graph = true})
    assert(lg.allclose(g:detach(), 3 * weight * y:detach() ^ 2))
    assert(lg.allclose(lg.grad(g:sum(), y), 6 * weight * y:detach()))
  end
end
do
  local y = lg.randn(20, 2, {requires_grad = true})
  assert(y:unbind(1)[20].grad_fn == y:squeeze(1).grad_fn)
  local changed = y * 1
  local pieces = changed:unbind(1)
  pieces[20]:mul_(3)
  changed:sum():backward()
  expect.equal(y.grad[20], lg.tensor {3., 3.})
  expect.equal(y.grad[19], lg.tensor {1., 1.})
end
