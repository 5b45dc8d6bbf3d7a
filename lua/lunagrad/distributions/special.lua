-- Functions of the log densities. Each is an op of the engine if it has the op, else made of other ops.
local core = require "lunagrad.core"

local special = {}

-- x log y, 0 where x is 0.
special.xlogy = core.xlogy or function(x, y)
  local zero = x:eq(0)
  return core.where(zero, core.zeros_like(x), x * core.where(zero, core.ones_like(y), y):log())
end

-- For x > 0 by Stirling's series at x + 8: lgamma(x) = lgamma(x + 8) - log(x (x + 1) ... (x + 7)) (Abramowitz and Stegun 6.1.15,
-- 6.1.41). Its derivatives are those of lgamma, to the same accuracy.
local kShift = 8
local kStirling = {1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156}

local function large_lgamma(z)
  local inverse = z:reciprocal()
  local square = inverse * inverse
  local series = core.zeros_like(z)
  for i = #kStirling, 1, -1 do series = series * square + kStirling[i] end
  return (z - 0.5) * z:log() - z + 0.5 * math.log(2 * math.pi) + series * inverse
end

special.lgamma = core.lgamma or function(x)
  local small = x:clamp(nil, kShift)
  local product = small
  for k = 1, kShift - 1 do product = product * (small + k) end
  return core.where(x:lt(kShift), large_lgamma(small + kShift) - product:log(), large_lgamma(x:clamp(kShift)))
end

local kDigamma = {-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12}

local function large_digamma(z)
  local inverse = z:reciprocal()
  local square = inverse * inverse
  local series = core.zeros_like(z)
  for i = #kDigamma, 1, -1 do series = (series + kDigamma[i]) * square end
  return z:log() - 0.5 * inverse + series
end

special.digamma = core.digamma or function(x)
  local small = x:clamp(nil, kShift)
  local sum = small:reciprocal()
  for k = 1, kShift - 1 do sum = sum + (small + k):reciprocal() end
  return core.where(x:lt(kShift), large_digamma(small + kShift) - sum, large_digamma(x:clamp(kShift)))
end

-- The first terms of W. J. Giles, "Approximating the erfinv function" (2010), and three steps of Newton's method, of which
-- the derivative is that of erfinv.
special.erfinv = core.erfinv or function(x)
  local bounded = x:clamp(-1 + 1e-7, 1 - 1e-7)
  local log = (1 - bounded * bounded):log()
  local a = 2 / (math.pi * 0.147)
  local b = log * 0.5 + a
  local y = bounded:sign() * ((b * b - log / 0.147):sqrt() - b):clamp(1e-30):sqrt()
  local edge = x:abs():ge(1)
  local inside = core.where(edge, core.zeros_like(x), x)
  y = core.where(edge, core.zeros_like(y), y)
  for _ = 1, 4 do y = y - (y:erf() - inside) * (y * y):exp() * (math.sqrt(math.pi) / 2) end
  local outside = core.where(x:gt(1):logical_or(x:lt(-1)), x * 0 + 0 / 0, x:sign() * math.huge)
  return core.where(edge, outside, y)
end

-- log B(a, b)
function special.lbeta(a, b) return special.lgamma(a) + special.lgamma(b) - special.lgamma(a + b) end

-- log(n over k)
function special.log_choose(n, k)
  return special.lgamma(n + 1) - special.lgamma(k + 1) - special.lgamma(n - k + 1)
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

-- Lower triangular L with L L^T = a, column by column.
function special.cholesky(a)
  local n = a:size(-1)
  local columns = {}
  local rest = a
  for j = 1, n do
    local column = rest:select(-1, j)
    local scaled = column / column:narrow(-1, j, 1):sqrt()
    if j > 1 then scaled = core.cat({core.zeros_like(scaled:narrow(-1, 1, j - 1)), scaled:narrow(-1, j, n - j + 1)}, -1) end
    columns[j] = scaled
    rest = rest - scaled:unsqueeze(-1) * scaled:unsqueeze(-2)
  end
  return core.stack(columns, -1)
end

-- x with lower x = b, for a lower triangular matrix and a vector b in the last dim.
function special.solve_lower(lower, b)
  local n = lower:size(-1)
  local found = {}
  for i = 1, n do
    local row = lower:select(-2, i)
    local right = b:select(-1, i)
    if i > 1 then
      right = right - (row:narrow(-1, 1, i - 1) * core.stack(found, -1)):sum(-1)
    end
    found[i] = right / row:select(-1, i)
  end
  return core.stack(found, -1)
end

return special
