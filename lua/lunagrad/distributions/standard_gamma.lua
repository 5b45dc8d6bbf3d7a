-- Samples of the gamma distribution with rate 1, with the gradient with respect to the concentration.
local core = require "lunagrad.core"

-- Nodes and weights of Gauss and Legendre on [0, 1], by Newton's method on the Legendre polynomial.
local function gauss_legendre(n)
  local nodes, weights = {}, {}
  for i = 1, n do
    local x = math.cos(math.pi * (i - 0.25) / (n + 0.5))
    local slope
    for _ = 1, 100 do
      local p, before = 1, 0
      for k = 1, n do p, before = ((2 * k - 1) * x * p - (k - 1) * before) / k, p end
      slope = n * (x * p - before) / (x * x - 1)
      local step = p / slope
      x = x - step
      if math.abs(step) < 1e-15 then break end
    end
    nodes[i], weights[i] = (1 - x) / 2, 1 / ((1 - x * x) * slope * slope)
  end
  return nodes, weights
end

local kNodes = 64
local kDecay = 38  -- the integrand falls below e^-38
local nodes, weights = gauss_legendre(kNodes)

-- dz/da for z of Gamma(a, 1) by implicit reparameterisation (Figurnov, Mohamed and Mnih 2018): -(dF/da) / f(z), where
-- dF/da = integral from 0 to z of f(t) (log t - digamma(a)) dt. With t = z e^-u where log z < digamma(a), and t = z e^v
-- elsewhere, the integrand has one sign, so nothing cancels. Newton's method from the right finds where the integrand
-- has decayed: the exponent is concave.
local function gradient(a, z)
  local excess = z:log() - core.digamma(a)
  local below = excess:lt(0)
  local end_of_range
  do
    local _ <close> = core.no_grad()
    local u = (z + kDecay) / a
    local v = ((a - z) + ((a - z) * (a - z) + 2 * kDecay * z):sqrt()) / z
    v = v:minimum(((kDecay + a * v) / z):log1p())
    for _ = 1, 8 do
      local decayed = (-u):exp()
      u = u - (-a * u + z * (1 - decayed) + kDecay) / (z * decayed - a):clamp(nil, -1e-30)
      local grown = v:exp()
      v = v - (a * v - z * (grown - 1) + kDecay) / (a - z * grown):clamp(nil, -1e-30)
    end
    end_of_range = core.where(below, u, v):detach()
  end
  local options = {dtype = a:dtype(), device = a:device()}
  local u = end_of_range:unsqueeze(-1) * core.tensor(nodes, options)
  local side, wide, point = below:unsqueeze(-1), a:unsqueeze(-1), z:unsqueeze(-1)
  local signed = core.where(side, -u, u)
  local exponent = wide * signed - point * signed:expm1()
  local values = (excess:unsqueeze(-1):abs() + u) * exponent:exp() * core.tensor(weights, options)
  return values:sum(-1) * end_of_range * z
end

-- The identity on z; its derivative with respect to the concentration is dz/da.
local pathwise = core.custom_op {
  name = "standard_gamma",
  forward = function(ctx, a, z)
    local y = z:clone()
    ctx:save(a, y)
    return y
  end,
  backward = function(ctx, g)
    local a, y = ctx:saved()
    return g * gradient(a, y), nil
  end,
}

-- Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). A round accepts at least 95 % of the elements;
-- inside vmap, where the elements cannot be read, 20 rounds leave one in 10^26.
local kRounds = 20

local function draw(a)
  local options = {dtype = a:dtype(), device = a:device()}
  local shape = a:size()
  local boosted = a:lt(1)
  local d = core.where(boosted, a + 1, a) - 1 / 3
  local c = (9 * d):rsqrt()
  local result, missing = core.zeros_like(d), core.ones_like(d):gt(0)
  local batched = core._is_batched and core._is_batched(a)
  for round = 1, batched and kRounds or 1000 do
    local x = core.randn(shape, options)
    local v = 1 + c * x
    v = v * v * v
    local u = core.rand(shape, options):clamp(1e-38)
    local accepted = v:gt(0):logical_and(u:log():lt(0.5 * x * x + d - d * v + d * v:clamp(1e-38):log()))
    result = core.where(missing:logical_and(accepted), d * v, result)
    missing = missing:logical_and(accepted:logical_not())
    if not batched and not missing:any():item() then break end
    if round == 1000 then core._fail("Gamma: no sample was accepted; is a concentration NaN?") end
  end
  local u = core.rand(shape, options):clamp(1e-38)
  local tiny = a:dtype() == "f64" and 2.2250738585072014e-308 or 1.1754943508222875e-38
  return core.where(boosted, result * (u:log() / a):exp(), result):clamp(tiny)
end

local function sample(a)
  local z
  do
    local _ <close> = core.no_grad()
    z = draw(a:detach())
  end
  if not (core.is_grad_enabled() and a.requires_grad) then return z end
  return pathwise(a, z)
end

return {sample = sample, gradient = gradient}
