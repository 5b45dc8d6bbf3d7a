-- Functions of the log densities.
local core = require "lunagrad.core"

local special = {}

-- log B(a, b)
function special.lbeta(a, b) return core.lgamma(a) + core.lgamma(b) - core.lgamma(a + b) end

-- log(n over k)
function special.log_choose(n, k)
  return core.lgamma(n + 1) - core.lgamma(k + 1) - core.lgamma(n - k + 1)
end

-- log(p) and log(1 - p) of probabilities. Where they are -inf their gradient is 0.
local function log_of(p)
  local none = p:eq(0)
  return core.where(none, -math.huge, core.where(none, 1, p):log())
end
local function log_of_rest(p)
  local all = p:eq(1)
  return core.where(all, -math.huge, (-core.where(all, 0, p)):log1p())
end

-- w x, and 0 where w is 0, also for an infinite x.
function special.weighted(w, x) return core.where(w:eq(0), 0, x) * w end

-- Probabilities and logits.
function special.probs_to_logits(probs, is_binary)
  return is_binary and log_of(probs) - log_of_rest(probs) or log_of(probs)
end
function special.logits_to_probs(logits, is_binary)
  return is_binary and logits:sigmoid() or logits:softmax(-1)
end

-- log(p), log(1 - p) and 1 - p for the probability p of success, from the distribution's probs or logits, whichever was
-- given.
function special.success_logs(distribution)
  local probs = rawget(distribution, "probs")
  if probs then return log_of(probs), log_of_rest(probs), 1 - probs end
  local logits = rawget(distribution, "logits")
  return logits:logsigmoid(), (-logits):logsigmoid(), (-logits):sigmoid()
end
-- The entropy of one trial, and the divergence of one trial from another.
function special.success_entropy(distribution)
  local log_p, log_rest, rest = special.success_logs(distribution)
  return -(special.weighted(distribution.probs, log_p) + special.weighted(rest, log_rest))
end
function special.success_divergence(p, q)
  local log_p, log_rest, rest = special.success_logs(p)
  local log_q, log_rest_of_q = special.success_logs(q)
  return special.weighted(p.probs, log_p - log_q) + special.weighted(rest, log_rest - log_rest_of_q)
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
