-- kl_divergence(p, q) and register_kl(P, Q, f), with PyTorch's pairs. Formulas follow from E_p[log p - log q]; the
-- divergence is infinite if the support of p is not within the support of q.
local base = require "lunagrad.distributions.base"
local core = require "lunagrad.core"
local special = require "lunagrad.distributions.special"

local fail = core._fail
local lgamma, digamma, lbeta, xlogy = core.lgamma, core.digamma, special.lbeta, core.xlogy
local kEuler = 0.57721566490153286061

local formulas = {}  -- by the names of both classes
local function pair(p, q, f) formulas[p .. " " .. q] = f end

local function infinite(p, q)
  local shape = base.broadcast_shapes("kl_divergence", p.batch_shape, q.batch_shape)
  local like = p:example()
  return core.full(shape, math.huge, {dtype = like:dtype(), device = like:device()})
end
local function infinite_pairs(p, ...)
  for _, q in ipairs {...} do pair(p, q, infinite) end
end

-- t log(t / s) + ..., with t = 0 giving 0
local function t_log_ratio(t, s) return xlogy(t, t) - xlogy(t, s) end

-- --- pairs of one family ---

pair("Normal", "Normal", function(p, q)
  local ratio = (p.scale / q.scale):square()
  return 0.5 * (ratio + ((p.loc - q.loc) / q.scale):square() - 1 - ratio:log())
end)
pair("HalfNormal", "HalfNormal", function(p, q)
  local ratio = (p.scale / q.scale):square()
  return 0.5 * (ratio - 1 - ratio:log())
end)
pair("Laplace", "Laplace", function(p, q)
  local ratio, apart = p.scale / q.scale, (p.loc - q.loc):abs()
  return -ratio:log() + apart / q.scale + ratio * (-apart / p.scale):exp() - 1
end)
-- F. Chyzak and F. Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions" (2019)
pair("Cauchy", "Cauchy", function(p, q)
  return (((p.scale + q.scale):square() + (p.loc - q.loc):square()):log() - (4 * p.scale * q.scale):log())
end)
pair("Gumbel", "Gumbel", function(p, q)
  local ratio, apart = p.scale / q.scale, (q.loc - p.loc) / q.scale
  return -ratio:log() - apart + (apart + lgamma(1 + ratio)):exp() + kEuler * ratio - (1 + kEuler)
end)
pair("Uniform", "Uniform", function(p, q)
  local result = ((q.high - q.low) / (p.high - p.low)):log()
  return core.where(q.low:gt(p.low):logical_or(q.high:lt(p.high)), core.full_like(result, math.huge), result)
end)
pair("Exponential", "Exponential", function(p, q)
  local ratio = q.rate / p.rate
  return -ratio:log() + ratio - 1
end)
pair("Gamma", "Gamma", function(p, q)
  return q.concentration * (p.rate / q.rate):log() + lgamma(q.concentration) - lgamma(p.concentration)
    + (p.concentration - q.concentration) * digamma(p.concentration) + (q.rate - p.rate) * (p.concentration / p.rate)
end)
pair("Beta", "Beta", function(p, q)
  local a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
  return lbeta(c, d) - lbeta(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b) + (c + d - a - b) * digamma(a + b)
end)
pair("Dirichlet", "Dirichlet", function(p, q)
  local a, b = p.concentration, q.concentration
  local total = a:sum(-1)
  return lgamma(total) - lgamma(b:sum(-1)) - (lgamma(a) - lgamma(b)):sum(-1)
    + ((a - b) * (digamma(a) - digamma(total):unsqueeze(-1))):sum(-1)
end)
pair("Bernoulli", "Bernoulli", special.success_divergence)
pair("Binomial", "Binomial", function(p, q)
  if core._is_batched and (core._is_batched(p.total_count) or core._is_batched(q.total_count)) then
    fail("kl_divergence: the total_count of a Binomial cannot differ between the samples of vmap")
  end
  if p.total_count:lt(q.total_count):any():item() then
    fail("kl_divergence: Binomial with a total_count smaller than the other's has no known formula")
  end
  local kl = special.weighted(p.total_count, special.success_divergence(p, q))
  return core.where(p.total_count:gt(q.total_count), core.full_like(kl, math.huge), kl)
end)
pair("Geometric", "Geometric", function(p, q)
  return special.success_divergence(p, q) / p.probs
end)
pair("Poisson", "Poisson", function(p, q) return t_log_ratio(p.rate, q.rate) - (p.rate - q.rate) end)
local function classes(p, q)
  if p._classes ~= q._classes then
    fail(("kl_divergence: %s with %d classes and %s with %d"):format(p.__name, p._classes, q.__name, q._classes))
  end
  return special.weighted(p.probs, p.logits - q.logits):sum(-1)
end
pair("Categorical", "Categorical", classes)
pair("OneHotCategorical", "OneHotCategorical", classes)
pair("MultivariateNormal", "MultivariateNormal", function(p, q)
  if p.event_shape[1] ~= q.event_shape[1] then
    fail(("kl_divergence: MultivariateNormals of %d and %d dims"):format(p.event_shape[1], q.event_shape[1]))
  end
  local half_log = core.diagonal(q.scale_tril, 0, -2, -1):log():sum(-1)
    - core.diagonal(p.scale_tril, 0, -2, -1):log():sum(-1)
  -- |L_q^-1 L_p|^2: each column of L_p is solved for by itself.
  local spread = special.solve_lower(q.scale_tril, p.scale_tril):square():sum({-2, -1})
  local apart = special.solve_lower_vector(q.scale_tril, q.loc - p.loc):square():sum(-1)
  return half_log + 0.5 * (spread + apart - p.event_shape[1])
end)

-- --- pairs of two families ---

pair("Bernoulli", "Poisson", function(p, q) return -p:entropy() - xlogy(p.probs, q.rate) + q.rate end)
pair("Beta", "Exponential", function(p, q)
  return -p:entropy() - q.rate:log() + q.rate * (p.concentration1 / (p.concentration1 + p.concentration0))
end)
pair("Beta", "Gamma", function(p, q)
  local a, total = p.concentration1, p.concentration1 + p.concentration0
  return -p:entropy() - q.concentration * q.rate:log() + lgamma(q.concentration)
    - (q.concentration - 1) * (digamma(a) - digamma(total)) + q.rate * a / total
end)
-- E_p[-log N(x)] from the mean and the variance of p.
local function to_normal(p, q, mean, variance)
  return -p:entropy() + 0.5 * (2 * math.pi * q.scale:square()):log()
    + 0.5 * (variance + (mean - q.loc):square()) / q.scale:square()
end
for _, name in ipairs {"Beta", "Exponential", "Gamma", "Gumbel", "Laplace", "Uniform"} do
  pair(name, "Normal", function(p, q) return to_normal(p, q, p.mean, p.variance) end)
end
pair("Beta", "Uniform", function(p, q)
  local result = -p:entropy() + (q.high - q.low):log()
  return core.where(q.low:gt(0):logical_or(q.high:lt(1)), core.full_like(result, math.huge), result)
end)
pair("Exponential", "Gamma", function(p, q)
  local ratio = q.rate / p.rate
  return -q.concentration * ratio:log() + ratio + lgamma(q.concentration) + q.concentration * kEuler - (1 + kEuler)
end)
pair("Exponential", "Gumbel", function(p, q)
  local product, loc = p.rate * q.scale, q.loc / q.scale
  return product:log() - 1 + product:reciprocal() - loc + (loc + product:log() - (product + 1):log()):exp()
end)
pair("Gamma", "Exponential", function(p, q)
  return -p:entropy() - q.rate:log() + q.rate * p.concentration / p.rate
end)
pair("Gamma", "Gumbel", function(p, q)
  local product, loc = p.rate * q.scale, q.loc / q.scale
  return (p.concentration - 1) * digamma(p.concentration) - lgamma(p.concentration) - p.concentration
    + product:log() + p.concentration / product - loc + (loc - p.concentration * product:reciprocal():log1p()):exp()
end)
pair("Normal", "Gumbel", function(p, q)
  local mean, variance, loc = p.loc / q.scale, (p.scale / q.scale):square(), q.loc / q.scale
  return -(p.scale / q.scale):log() + mean - loc + (-mean + 0.5 * variance + loc):exp()
    - 0.5 * (1 + math.log(2 * math.pi))
end)
pair("Normal", "Laplace", function(p, q)
  local apart = p.loc - q.loc
  local ratio, z = p.scale / q.scale, apart / p.scale
  return -ratio:log() + math.log(2) - 0.5 * (1 + math.log(2 * math.pi))
    + (math.sqrt(2 / math.pi) * p.scale * (-0.5 * z:square()):exp() + apart * (math.sqrt(0.5) * z):erf()) / q.scale
end)
pair("Uniform", "Beta", function(p, q)
  local width = p.high - p.low
  local function integral(x) return xlogy(x, x) - x end
  local result = -width:log()
    + (q.concentration1 - 1) * (integral(p.low) - integral(p.high)) / width
    + (q.concentration0 - 1) * (integral(1 - p.high) - integral(1 - p.low)) / width
    + lbeta(q.concentration1, q.concentration0)
  return core.where(p.high:gt(1):logical_or(p.low:lt(0)), core.full_like(result, math.huge), result)
end)
pair("Uniform", "Exponential", function(p, q)
  local result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate):log()
  return core.where(p.low:lt(0), core.full_like(result, math.huge), result)
end)
pair("Uniform", "Gamma", function(p, q)
  local width = p.high - p.low
  local result = -width:log() - q.concentration * q.rate:log() + lgamma(q.concentration)
    + (1 - q.concentration) * ((xlogy(p.high, p.high) - p.high) - (xlogy(p.low, p.low) - p.low)) / width
    + q.rate * (p.high + p.low) / 2
  return core.where(p.low:lt(0), core.full_like(result, math.huge), result)
end)
pair("Uniform", "Gumbel", function(p, q)
  local product = q.scale / (p.high - p.low)
  local low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
  return product:log() + 0.5 * (low + high) - product * ((-high):exp() - (-low):exp())
end)

infinite_pairs("Exponential", "Beta", "Uniform")
infinite_pairs("Gamma", "Beta", "Uniform")
infinite_pairs("Poisson", "Bernoulli", "Binomial")
for _, name in ipairs {"Gumbel", "Laplace", "Normal"} do infinite_pairs(name, "Beta", "Exponential", "Gamma", "Uniform") end

-- --- distributions made of others ---

local kl_divergence

pair("Independent", "Independent", function(p, q)
  if p.reinterpreted_batch_ndims ~= q.reinterpreted_batch_ndims then
    fail("kl_divergence: Independents with different reinterpreted_batch_ndims")
  end
  local kl = kl_divergence(p.base_dist, q.base_dist)
  for _ = 1, p.reinterpreted_batch_ndims do kl = kl:sum(-1) end
  return kl
end)

local function same_transform(a, b)
  if getmetatable(a) ~= getmetatable(b) then return false end
  if a.parts then
    if #a.parts ~= #b.parts then return false end
    for i, part in ipairs(a.parts) do
      if not same_transform(part, b.parts[i]) then return false end
    end
  end
  for _, name in ipairs {"loc", "scale"} do
    local x, y = rawget(a, name), rawget(b, name)
    if core.is_tensor(x) and core.is_tensor(y) then
      if not core.equal(x, y) then return false end
    elseif not rawequal(x, y) and x ~= y then
      return false
    end
  end
  return true
end
pair("TransformedDistribution", "TransformedDistribution", function(p, q)
  local same = #p.transforms == #q.transforms
  for i, transform in ipairs(p.transforms) do same = same and same_transform(transform, q.transforms[i]) end
  if not same then fail("kl_divergence: distributions with different transforms have no known formula") end
  local kl = kl_divergence(p.base_dist, q.base_dist)
  for _ = 1, #p.event_shape - #p.base_dist.event_shape do kl = kl:sum(-1) end
  return kl
end)

-- The names of a class and of its parent classes.
local function lineage(distribution)
  local names, class = {}, getmetatable(distribution)
  while class and class.__name ~= "Distribution" do
    names[#names + 1] = class.__name
    local above = getmetatable(class)
    class = above and above.__index
  end
  return names
end

function kl_divergence(p, q)
  for _, value in ipairs {p, q} do
    if not base.is_distribution(value) then
      fail(("kl_divergence: two distributions expected (got a %s)"):format(type(value)))
    end
  end
  for _, first in ipairs(lineage(p)) do
    for _, second in ipairs(lineage(q)) do
      local formula = formulas[first .. " " .. second]
      if formula then return formula(p, q) end
    end
  end
  fail(("kl_divergence: no formula for %s and %s; register_kl adds one"):format(p.__name, q.__name))
end

-- register_kl("Normal", "MyDistribution", f): f(p, q) is used for these classes and classes derived from them.
local function register_kl(p, q, f)
  if type(p) ~= "string" or type(q) ~= "string" or type(f) ~= "function" then
    fail("register_kl: the names of two classes and a function expected")
  end
  pair(p, q, f)
end

return {kl_divergence = kl_divergence, register_kl = register_kl}
