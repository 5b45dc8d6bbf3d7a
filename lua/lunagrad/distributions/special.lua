-- Functions of the log densities.
local core = require "lunagrad.core"

local special = {}

-- log B(a, b)
function special.lbeta(a, b) return core.lgamma(a) + core.lgamma(b) - core.lgamma(a + b) end

-- log(n over k)
function special.log_choose(n, k)
  return core.lgamma(n + 1) - core.lgamma(k + 1) - core.lgamma(n - k + 1)
end

-- Probabilities and logits.
function special.clamp_probs(probs)
  local eps = (probs:dtype() == "f64") and 2.220446049250313e-16 or 1.1920928955078125e-07
  return probs:clamp(eps, 1 - eps)
end
function special.probs_to_logits(probs, is_binary)
  local clamped = special.clamp_probs(probs)
  return is_binary and clamped:log() - (-clamped):log1p() or clamped:log()
end
function special.logits_to_probs(logits, is_binary)
  return is_binary and logits:sigmoid() or logits:softmax(-1)
end

-- The lower triangular L with L L^T = a; `what` is for the error of a matrix that is not positive definite.
function special.cholesky(a, what)
  local ok, lower = pcall(core.linalg.cholesky, a)
  if ok then return lower end
  if tostring(lower):find("positive-definite", 1, true) then
    core._fail(("MultivariateNormal: %s must be positive definite"):format(what))
  end
  error(lower, 0)
end

-- x with lower x = b, for a lower triangular matrix and a matrix or, in the last dim, a vector b.
function special.solve_lower(lower, b) return core.linalg.solve_triangular(lower, b, {upper = false}) end
function special.solve_lower_vector(lower, b) return special.solve_lower(lower, b:unsqueeze(-1)):squeeze(-1) end

return special
