-- lg.linalg: the product of the factors, shapes and options, errors, batches, empty matrices, complex numbers, and
-- first and second derivatives. PyTorch's values are in tests/reference/cases/linalg.py.
local lg = require "lunagrad"
local expect = require "expect"
local la = lg.linalg

lg.manual_seed(1)
local f64 = {dtype = "f64"}

local function adjoint(x) return x:transpose(-1, -2):conj() end
local function complex_randn(...)
  return lg.complex(lg.randn(..., f64), lg.randn(..., f64))
end
local function near(found, wanted, tolerance)
  expect.equal(found:size(), wanted:size())
  if found:numel() == 0 then return end
  local distance = (found - wanted):abs():max():item()
  assert(distance <= (tolerance or 1e-10), ("the largest difference is %g"):format(distance))
end
local function positive(x) return x:matmul(adjoint(x)) + 3 * lg.eye(x:size(-1), x:size(-1), {dtype = x:dtype()}) end

-- Factors, for real and complex matrices, batches, tall and wide ones.
for _, make in ipairs {function(...) return lg.randn(..., f64) end, complex_randn} do
  for _, shape in ipairs {{4, 4}, {2, 3, 5, 3}, {3, 3, 6}, {1, 1}} do
    local a = make(shape)
    local u, s, vh = la.svd(a, false)
    near((u * s:unsqueeze(-2)):matmul(vh), a)
    near(la.svdvals(a), s)
    local full_u, _, full_vh = la.svd(a)
    local m, n = shape[#shape - 1], shape[#shape]
    expect.equal({full_u:size(-1), full_vh:size(-2)}, {m, n})
    near(adjoint(full_u):matmul(full_u), lg.zeros_like(full_u:matmul(full_u)) + lg.eye(m, m, {dtype = a:dtype()}))
    local q, r = la.qr(a)
    near(q:matmul(r), a)
    near(r, r:triu())
    local complete_q, complete_r = la.qr(a, "complete")
    expect.equal(complete_q:size(-1), m)
    near(complete_q:matmul(complete_r), a)
    local none, only_r = la.qr(a, {mode = "r"})
    expect.equal(none:numel(), 0)
    near(only_r, r)
    local p, l, upper = la.lu(a)
    near(p:matmul(l):matmul(upper), a)
    local pinv = la.pinv(a)
    near(a:matmul(pinv):matmul(a), a)
    near(adjoint(a:matmul(pinv)), a:matmul(pinv))
  end
  for _, shape in ipairs {{4, 4}, {2, 3, 3}} do
    local a = make(shape)
    local n = shape[#shape]
    local one = lg.eye(n, n, {dtype = a:dtype()})
    local h = positive(a)
    local l = la.cholesky(h)
    near(l:matmul(adjoint(l)), h)
    near(la.cholesky(h, {upper = true}), adjoint(l))
    near(lg.cholesky_inverse(l):matmul(h), one + lg.zeros_like(h))
    near(lg.cholesky_solve(a, l), la.solve(h, a))
    near(lg.cholesky_solve(a, adjoint(l), true), la.solve(h, a))
    local w, v = la.eigh(h)
    near(h:matmul(v), v * w:unsqueeze(-2))
    near(la.eigvalsh(h, "U"), w)
    local values, vectors = la.eig(a)
    assert(values:dtype() == "c128")
    near(a:to("c128"):matmul(vectors), vectors * values:unsqueeze(-2))
    near(la.eigvals(a):sum(-1):real(), a:diagonal(0, -2, -1):sum(-1):real())
    near(la.inv(a):matmul(a), one + lg.zeros_like(a))
    local sign, log = la.slogdet(a)
    near(sign * log:exp():to(a:dtype()), la.det(a))
    local b = make {shape[1] == 2 and 2 or 1, n, 2}
    near(a:matmul(la.solve(a, b)), b + lg.zeros_like(a:matmul(b)))
    local left = adjoint(b)
    near(la.solve(a, left, false):matmul(a), left + lg.zeros_like(left:matmul(a)))
    local lu, pivots = la.lu_factor(a)
    near(la.lu_solve(lu, pivots, b), la.solve(a, b))
    near(la.lu_solve(lu, pivots, b, {adjoint = true}), la.solve(adjoint(a), b))
    near(la.lu_solve(lu, pivots, left, {left = false}), la.solve(a, left, false))
    near(la.lu_solve(lu, pivots, left, {left = false, adjoint = true}), la.solve(adjoint(a), left, false))
    near(la.matrix_exp(a):matmul(la.matrix_exp(-a)), one + lg.zeros_like(a), 1e-8)
    near(la.matrix_power(a, -3), la.inv(a:matmul(a):matmul(a)), 1e-7)
  end
end

-- A large matrix is factored in blocks.
local big = positive(lg.randn(300, 300, f64) * 0.1)
local factor = la.cholesky(big)
near(factor:matmul(factor:t()), big)
local block_error = big:clone()
block_error[{290, 290}] = -1
expect.call_raises("linalg.cholesky: the matrix is not positive-definite: the leading minor of order 290", la.cholesky,
  block_error)

-- det of eigenvalues known in advance; the exponential of a rotation; matrices of known rank.
near(la.det(lg.tensor({{2, 0}, {7, 3}}, f64)), lg.tensor(6, f64))
near(la.matrix_exp(lg.tensor({{0, -20}, {20, 0}}, f64)),
  lg.tensor({{math.cos(20), -math.sin(20)}, {math.sin(20), math.cos(20)}}, f64), 1e-11)
expect.equal(la.matrix_rank(lg.ones(2, 3, 3)):tolist(), {1, 1})
expect.equal(la.matrix_rank(lg.diag(lg.tensor {1., 1e-3, 0.}), 1e-2):item(), 1)
expect.equal(la.matrix_rank(lg.diag(lg.tensor {1., -1e-3, 0.}), {hermitian = true}):item(), 2)
near(la.eigvals(lg.tensor({{0, -1}, {1, 0}}, f64)):imag():abs(), lg.ones(2, f64))

-- Least squares: PyTorch's four results.
local a, b = lg.randn(6, 3, f64), lg.randn(6, 2, f64)
for _, driver in ipairs {"gelsy", "gels", "gelsd", "gelss"} do
  local x, residuals, rank, values = la.lstsq(a, b, {driver = driver})
  near(x, la.pinv(a):matmul(b))
  near(residuals, (a:matmul(x) - b):square():sum(1))
  expect.equal(rank:item(), 3)
  if driver:find "gels[ds]" then near(values, la.svdvals(a)) else expect.equal(values:numel(), 0) end
end
local least, nothing = la.lstsq(a:t(), lg.randn(3, 2, f64))
expect.equal({least:size(1), nothing:numel()}, {6, 0})

-- Products.
near(la.multi_dot {a:t(), a, b:slice(1, 1, 3)}, a:t():matmul(a):matmul(b:slice(1, 1, 3)))
near(lg.chain_matmul(a, a:t(), b), a:matmul(a:t()):matmul(b))
expect.equal(lg.kron(lg.tensor {1, 2}, lg.tensor {1, 10}):tolist(), {1, 10, 2, 20})
expect.equal(lg.cross(lg.tensor {1, 0, 0}, lg.tensor {0, 1, 0}):tolist(), {0, 0, 1})
expect.equal(la.vander(lg.tensor {2, 3}, 3):tolist(), {{1, 2, 4}, {1, 3, 9}})
expect.equal(lg.vander(lg.tensor {2, 3}, 3):tolist(), {{4, 2, 1}, {9, 3, 1}})
expect.equal(lg.vdot(lg.complex(lg.tensor {0., 1.}, lg.tensor {1., 0.}), lg.tensor({1, 2}, {dtype = "c64"})):item(),
  {2.0, -1.0})
expect.equal(lg.trapezoid(lg.tensor {1., 2., 4.}):item(), 4.5)
expect.equal(lg.trapezoid(lg.tensor {1., 2., 4.}, lg.tensor {0., 1., 3.}):item(), 7.5)
expect.equal(lg.trapezoid(lg.tensor {1., 2., 4.}, {dx = 2}):item(), 9.0)
expect.equal(lg.cumulative_trapezoid(lg.tensor {1., 2., 4.}):tolist(), {1.5, 4.5})
expect.equal(lg.addr(lg.full({1}, 0 / 0), lg.ones(2), lg.ones(2), {beta = 0}):tolist(), {{1.0, 1.0}, {1.0, 1.0}})

-- Norms by name and by number.
local m = lg.tensor({{3, 0}, {0, 4}}, f64)
for ord, wanted in pairs {fro = 5, nuc = 7, [1] = 4, [2] = 4, [-2] = 3, [math.huge] = 4} do
  expect.close(la.norm(m, ord):item(), wanted, 1e-12)
  expect.close(la.matrix_norm(m, ord):item(), wanted, 1e-12)
end
expect.close(la.cond(m):item(), 4 / 3, 1e-12)
expect.close(la.cond(m, "fro"):item(), 5 * math.sqrt(1 / 9 + 1 / 16), 1e-12)
assert(la.cond(lg.ones(2, 2), 1):item() == math.huge)
expect.call_raises("one of 'fro', 'nuc' expected, got 'max'", la.norm, m, "max")

-- Distances: equal rows have distance 0 and no gradient, also through the matrix product.
local rows = lg.randn(40, 6) + 100
local distances = lg.cdist(rows, rows)
near(distances, (rows:unsqueeze(2) - rows:unsqueeze(1)):norm(2, -1), 1e-4)
near(distances:diagonal(), lg.zeros(40))
rows:requires_grad_()
local gradient = lg.grad(lg.cdist(rows, rows:detach()):sum(), rows)
assert(gradient:isfinite():all():item())

-- Errors name the op and the matrix.
expect.call_raises("linalg.cholesky: matrix 2 of the batch is not positive-definite: the leading minor of order 3",
  la.cholesky, lg.stack {lg.eye(3), lg.diag(lg.tensor {1., 1., -1.})})
expect.call_raises("linalg.inv: the matrix is singular: the pivot of column 2 is 0", la.inv, lg.ones(2, 2))
expect.call_raises("linalg.solve: matrix 2 of the batch is singular", la.solve, lg.stack {lg.eye(2), lg.ones(2, 2)}, lg.ones(2))
expect.call_raises("linalg.eig: A must be a square matrix", la.eig, lg.ones(2, 3))
expect.call_raises("linalg.svd: a floating or complex type is needed (got i64)", la.svd, lg.ones(2, 2, {dtype = "i64"}))
expect.call_raises("one of 'L', 'U', 'l', 'u' expected, got 'X'", la.eigh, lg.eye(2), "X")
for _, name in ipairs {"svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "pinv"} do
  for _, bad in ipairs {0 / 0, math.huge} do
    local hostile = lg.eye(3)
    hostile[{2, 2}] = bad
    expect.call_raises("linalg." .. name .. ": the input contains NaN or infinite values", la[name], hostile)
  end
end
expect.call_raises("is not positive-definite", la.cholesky, lg.eye(3) * (0 / 0))
assert(la.inv(lg.eye(2) * (0 / 0)):isnan():any():item())
assert(la.qr(lg.eye(2) * (0 / 0)):isnan():any():item())
assert(la.det(lg.eye(2) * (0 / 0)):isnan():item())

-- Empty matrices and batches.
for _, shape in ipairs {{0, 0}, {2, 0, 0}, {0, 3, 3}} do
  local empty = lg.zeros(shape)
  expect.equal(la.inv(empty):size(), shape)
  expect.equal(la.cholesky(empty):size(), shape)
  expect.equal(la.eigh(empty):size(), table.move(shape, 1, #shape - 1, 1, {}))
  expect.equal(la.matrix_exp(empty):size(), shape)
  expect.equal(la.pinv(empty):size(), shape)
end
expect.equal(la.det(lg.zeros(2, 0, 0)):tolist(), {1.0, 1.0})
expect.equal(select(2, la.slogdet(lg.zeros(0, 0))):item(), 0.0)
expect.equal(la.matrix_rank(lg.zeros(0, 3)):item(), 0)
expect.equal(la.svd(lg.zeros(3, 0)):tolist(), lg.eye(3):tolist())
expect.equal(la.qr(lg.zeros(3, 0), "complete"):tolist(), lg.eye(3):tolist())
expect.equal(la.solve(lg.zeros(0, 0), lg.zeros(0, 2)):size(), {0, 2})
expect.equal(la.lstsq(lg.zeros(0, 3), lg.zeros(0, 2)):tolist(), lg.zeros(3, 2):tolist())
expect.equal(lg.cdist(lg.zeros(2, 0), lg.zeros(3, 0)):tolist(), lg.zeros(2, 3):tolist())

-- Derivatives, first and second; of functions that do not depend on the signs and phases of singular vectors and
-- eigenvectors.
local function check(f, ...)
  local inputs = {...}
  for i, x in ipairs(inputs) do inputs[i] = x:clone():requires_grad_() end
  assert(lg.grad.check(f, inputs))
  assert(lg.grad.checkgrad2(f, inputs))
end
local function symmetric(x) return (x + adjoint(x)) * 0.5 end
local square_one, tall, wide = lg.randn(3, 3, f64), lg.randn(4, 3, f64), lg.randn(2, 2, 4, f64)
check(la.inv, square_one)
check(la.det, lg.randn(2, 3, 3, f64))
check(function(x) return select(2, la.slogdet(x)) end, square_one)
check(function(x) return la.cholesky(positive(x)) end, square_one)
check(function(x) return la.cholesky(positive(x), true) end, square_one)
check(la.solve, square_one, lg.randn(2, 3, 2, f64))
check(function(x, y) return la.solve(x, y, false) end, square_one, lg.randn(2, 3, f64))
check(function(x, y) return la.solve_triangular(x, y, false) end, positive(square_one), lg.randn(3, 2, f64))
check(function(x, y) return la.solve_triangular(x, y, true, false, true) end, square_one, lg.randn(2, 3, f64))
check(la.pinv, tall)
check(la.pinv, wide)
check(function(x, y) return la.lstsq(x, y) end, tall, lg.randn(4, 2, f64))
for _, x in ipairs {square_one, tall, wide} do
  check(la.qr, x)
  check(la.lu, x)
  check(la.svdvals, x)
  check(function(y)
    local u, s, vh = la.svd(y, false)
    return (u * s:exp():unsqueeze(-2)):matmul(vh), (u * s:unsqueeze(-2)):matmul(adjoint(u)), adjoint(vh):matmul(vh)
  end, x)
end
check(function(x)
  local w, v = la.eigh(symmetric(x))
  return w, (v * w:exp():unsqueeze(-2)):matmul(adjoint(v)), v:square()
end, square_one)
check(function(x) return la.eigvalsh(symmetric(x), "U") end, square_one)
local spread = lg.tensor({{1, 0.3, 0.2}, {0.1, 2, 0.4}, {-0.3, 0.2, 4}}, f64)
check(function(x)
  local w, v = la.eig(x)
  return w:real(), v:abs():square()
end, spread)
check(function(x) return la.eigvals(x):real() end, spread)
check(la.matrix_exp, square_one)
check(function(x) return la.matrix_power(x, -2) end, square_one)
check(function(x) return la.matrix_norm(x, "nuc"), la.matrix_norm(x, 2), la.cond(x) end, square_one)
check(la.householder_product, tall, lg.rand(3, f64))
for _, p in ipairs {1, 2, 3} do
  check(function(x, y) return lg.cdist(x, y, p) end, lg.randn(3, 2, f64), lg.randn(4, 2, f64))
end
check(lg.cdist, lg.randn(30, 2, f64):slice(1, 1, 3), lg.randn(27, 2, f64))
check(function(x, y) return la.multi_dot {x, y, x} end, lg.randn(2, 3, f64), lg.randn(3, 2, f64))

-- The same for complex numbers.
local function to_complex(x) return x:to("c128") end
for _, shape in ipairs {{3, 3}, {4, 2}, {2, 2, 3}} do
  local z = complex_randn(shape)
  check(la.qr, z)
  check(la.lu, z)
  check(la.pinv, z)
  check(la.svdvals, z)
  check(function(x)
    local u, s, vh = la.svd(x, false)
    return (u * to_complex(s:exp()):unsqueeze(-2)):matmul(vh), u:abs():square(), vh:abs():square()
  end, z)
end
local z = lg.complex(spread, lg.randn(3, 3, f64) * 0.3)
for _, f in ipairs {
  la.inv, la.det, la.slogdet, la.matrix_exp, la.eigvals,
  function(x) return la.cholesky(positive(x)) end,
  function(x) return la.solve(x, z, false) end,
  function(x) return la.solve_triangular(x, z, true) end,
  function(x) return (la.lstsq(x, z)) end,
  function(x) return la.householder_product(x, x[1]) end,
  function(x) return la.norm(x), la.matrix_norm(x, 1), la.cond(x) end,
  function(x)
    local w, v = la.eigh(symmetric(x))
    return w, (v * to_complex(w:exp()):unsqueeze(-2)):matmul(adjoint(v)), v:abs():square()
  end,
  function(x)
    local w, v = la.eig(x)
    return w, v:abs():square()
  end,
} do check(f, z) end

-- Repeated singular values and eigenvalues: the gradient of a function that has one is finite.
for _, f in ipairs {
  function(x) local u, s, vh = la.svd(x); return (u * s:unsqueeze(-2)):matmul(vh):square():sum() end,
  function(x) local w, v = la.eigh(x); return (v * w:unsqueeze(-2)):matmul(v:t()):square():sum() end,
} do
  local x = lg.eye(3, 3, f64):requires_grad_()
  near(lg.grad(f(x), x), 2 * lg.eye(3, 3, f64))
end
-- The determinant of a singular matrix has a gradient, its cofactors.
local singular = lg.tensor({{1, 2}, {2, 4}}, {dtype = "f64", requires_grad = true})
near(lg.grad(la.det(singular), singular), lg.tensor({{4, -2}, {-2, 1}}, f64))

-- The determinant is a polynomial: all its derivatives are right for any matrix. They are compared with the derivatives
-- of its expansion along the first row.
do
  local function expanded(x)
    local n = x:size(1)
    if n == 1 then return x[{1, 1}] end
    local sum = 0
    for j = 1, n do
      local rest = {}
      for k = 1, n do if k ~= j then rest[#rest + 1] = x[{{2, n}, {k}}] end end
      sum = sum + (j % 2 == 1 and 1 or -1) * x[{1, j}] * expanded(lg.cat(rest, 2))
    end
    return sum
  end
  local hessian = lg.func.hessian
  near(hessian(la.det)(lg.zeros(2, 2, f64)):reshape(4, 4),
    lg.tensor({{0, 0, 0, 1}, {0, 0, -1, 0}, {0, -1, 0, 0}, {1, 0, 0, 0}}, f64))
  local rank_one = lg.outer(lg.tensor({1, 2, -1}, f64), lg.tensor({2, 0.5, 1}, f64))
  local rank_two = rank_one + lg.outer(lg.tensor({0, 1, 1}, f64), lg.tensor({1, 0, -3}, f64))
  for _, x in ipairs {lg.zeros(3, 3, f64), rank_one, rank_two, lg.randn(3, 3, f64), lg.ones(4, 4, f64), lg.eye(3, f64) * 1e-9,
    lg.tensor({{0}}, f64)} do
    near(hessian(la.det)(x), hessian(expanded)(x))
    -- The third derivative, in some directions.
    local function slope(f)
      return function(y)
        local g = lg.grad(f(y), y, {create_graph = true})
        return (g * g:detach():add(1) * lg.arange(g:numel(), f64):reshape(g:size())):sum()
      end
    end
    local function third(f)
      local y = x:clone():requires_grad_()
      local g = lg.grad(slope(f)(y), y, {create_graph = true})
      return lg.grad((g * g:detach():add(1)):sum(), y)
    end
    if x:size(1) > 2 then near(third(la.det), third(expanded), 1e-8) end
  end
  -- A batch of regular and singular matrices, complex ones, and one of many rows whose rank is one too small.
  local batch = lg.stack {rank_one, lg.randn(3, 3, f64), lg.zeros(3, 3, f64)}:requires_grad_()
  local g = lg.grad(la.det(batch):sum(), batch, {create_graph = true})
  local second = lg.grad((g * g:detach():cos()):sum(), batch)
  for i = 1, 3 do
    local x = batch[i]:detach():requires_grad_()
    local own = lg.grad(expanded(x), x, {create_graph = true})
    near(second[i], lg.grad((own * own:detach():cos()):sum(), x))
  end
  local z = complex_randn {3, 1}
  assert(lg.grad.checkgrad2(la.det, {z:matmul(complex_randn {1, 3}):requires_grad_()}))
  local wide = lg.randn(30, 29, f64):matmul(lg.randn(29, 30, f64)) / 30
  assert(lg.grad.checkgrad2(function(x) return la.det(wide + x * lg.eye(30, f64)) end, {lg.tensor(0, {dtype = "f64", requires_grad = true})}))
end

-- There the gradient of log|det| is infinite, with the signs of the cofactors; regular matrices in the same batch have
-- finite gradients.
do
  local both = lg.tensor({{{1, 2}, {2, 4}}, {{2, 0}, {0, 4}}}, {dtype = "f64", requires_grad = true})
  local sign, size = la.slogdet(both)
  expect.equal(sign:abs():tolist(), {0.0, 1.0})
  expect.equal(size[1]:item(), -math.huge)
  size:sum():backward()
  expect.equal(both.grad[1]:abs():tolist(), {{math.huge, math.huge}, {math.huge, math.huge}})
  expect.equal((both.grad[1]:sign() * both.grad[1][{1, 1}]:sign()):tolist(), {{1.0, -1.0}, {-1.0, 1.0}})
  near(both.grad[2], lg.tensor({{0.5, 0}, {0, 0.25}}, f64))
end

-- LU factors of matrices that are factored panel by panel: wide, tall, singular, with NaN; the same bits for any
-- number of threads.
for _, dtype in ipairs {"f32", "f64", "c64", "c128"} do
  for _, size in ipairs {{193, 193}, {450, 200}, {200, 450}, {385, 384}} do
    local a = lg.randn(size[1], size[2], {dtype = dtype})
    local p, l, u = lg.linalg.lu(a)
    local bound = (dtype == "f32" or dtype == "c64") and 2e-3 or 1e-11
    assert((p:matmul(l):matmul(u) - a):abs():max():item() < bound, "LU of " .. dtype)
    lg.set_num_threads(1)
    local alone, pivots = lg.linalg.lu_factor(a)
    lg.set_num_threads(3)
    local shared, same_pivots = lg.linalg.lu_factor(a)
    lg.set_num_threads(2)
    assert(alone:equal(shared) and pivots:equal(same_pivots), "LU by several threads")
  end
end
do
  local a = lg.randn(300, 300, {dtype = "f64"})
  local regular = lg.linalg.det(a / 11):abs():item()
  a:select(2, 250):copy_(a:select(2, 20))
  assert(lg.linalg.det(a / 11):abs():item() < 1e-9 * regular, "determinant of equal columns")
  local zero = lg.eye(300)
  zero:select(1, 250):zero_()
  expect.raises("linalg.inv: the matrix is singular: the pivot of column 250 is 0", function() lg.linalg.inv(zero) end)
  a[200][3] = 0 / 0
  local packed = lg.linalg.lu_factor(a)
  assert(packed:isnan():all():item(), "LU of NaN")
end

-- Singular vectors of matrices that are computed in steps: tall, wide, of small rank, of numbers that need scaling.
for _, dtype in ipairs {"f32", "f64"} do
  local eps = dtype == "f32" and 1e-4 or 1e-12
  for _, size in ipairs {{128, 128}, {200, 140}, {140, 200}, {160, 128}} do
    local a = lg.randn(size[1], size[2], {dtype = dtype})
    local low = a:narrow(2, 1, 5):matmul(a:narrow(1, 1, 5))
    for _, x in ipairs {a, a * 1e-25, low} do
      local largest = x:abs():max():item()
      for _, full in ipairs {true, false} do
        local u, s, vh = la.svd(x, full)
        local k = math.min(size[1], size[2])
        local back = (u:narrow(2, 1, k) * s):matmul(vh:narrow(1, 1, k))
        assert((back - x):abs():max():item() < 20 * eps * largest, "svd multiplies to its matrix")
        for _, q in ipairs {u:t():matmul(u), vh:matmul(vh:t())} do
          assert((q - lg.eye(q:size(1), {dtype = dtype})):abs():max():item() < eps, "singular vectors are orthogonal")
        end
        assert((s - la.svdvals(x)):abs():max():item() < 20 * eps * largest, "singular values alone")
        lg.set_num_threads(1)
        local alone = la.svd(x, full)
        lg.set_num_threads(2)
        assert(alone:equal(u), "svd by one thread")
      end
    end
  end
end
