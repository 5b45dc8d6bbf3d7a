-- Functions of matrices: adjoints, LU factors in one call, and factors of low rank by random projections (Halko, Martinsson,
-- Tropp, "Finding structure with randomness", 2011).
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local fail = core._fail
local functions, methods = {}, {}

function functions.adjoint(x) return x.mH end
methods.adjoint = functions.adjoint

-- lu(A, pivot, get_infos): packed factors and pivots, and with get_infos the numbers of the first pivots that are 0.
local read_lu = arguments.reader("lu", "A", {"pivot", true}, {"get_infos", false})
function functions.lu(...)
  local a = read_lu(...)
  if a.get_infos then return core.linalg.lu_factor_ex(a.A, a.pivot) end
  return core.linalg.lu_factor(a.A, a.pivot)
end
methods.lu = functions.lu

-- Q [m, q] with orthonormal columns, whose span nearly holds the columns of a: power iteration from random columns.
local function range_of(a, q, iterations)
  local n = a:size(-1)
  local size = a:size()
  size[#size - 1], size[#size] = n, q
  local basis = core.linalg.qr(a:matmul(core.randn(size, {dtype = a:dtype(), device = a:device()})))
  for _ = 1, iterations do
    basis = core.linalg.qr(a.mH:matmul(basis))
    basis = core.linalg.qr(a:matmul(basis))
  end
  return basis
end

local function low_rank(owner, a, q, iterations)
  if not core.is_tensor(a) or a:dim() < 2 then fail(owner .. ": a matrix is needed") end
  local most = math.min(a:size(-2), a:size(-1))
  q = q or math.min(6, most)
  if math.type(q) ~= "integer" or q < 1 or q > most then
    fail(("%s: q must be an integer from 1 to %d, the smaller side of the matrix (got %s)"):format(owner, most, tostring(q)))
  elseif math.type(iterations) ~= "integer" or iterations < 0 then
    fail(("%s: niter must be an integer of 0 or more (got %s)"):format(owner, tostring(iterations)))
  end
  local basis = range_of(a, q, iterations)
  local u, s, vh = core.linalg.svd(basis.mH:matmul(a), false)
  return basis:matmul(u), s, vh.mH
end

-- U, S and V of the q largest singular values of A, or of A - M.
local read_svd = arguments.reader("svd_lowrank", "A", {"q"}, {"niter", 2}, {"M"})
function functions.svd_lowrank(...)
  local a = read_svd(...)
  return low_rank("svd_lowrank", a.M and a.A - a.M or a.A, a.q, a.niter)
end

-- svd_lowrank of A with centred columns: V has the principal directions.
local read_pca = arguments.reader("pca_lowrank", "A", {"q"}, {"center", true}, {"niter", 2})
function functions.pca_lowrank(...)
  local a = read_pca(...)
  local x = a.A
  if a.center and core.is_tensor(x) and x:dim() >= 2 then x = x - x:mean(-2, true) end
  return low_rank("pca_lowrank", x, a.q, a.niter)
end

return {functions = functions, methods = methods}
