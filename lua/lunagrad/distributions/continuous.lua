-- Distributions of one real number: Normal HalfNormal Laplace Cauchy Gumbel Uniform Exponential StudentT.
local base = require "lunagrad.distributions.base"
local constraints = require "lunagrad.distributions.constraints"
local core = require "lunagrad.core"
local special = require "lunagrad.distributions.special"
local standard_gamma = require("lunagrad.distributions.standard_gamma").sample

local real, positive, unit = constraints.real, constraints.positive, constraints.unit_interval
local kEuler = 0.57721566490153286061
local kHalfLog2Pi = 0.5 * math.log(2 * math.pi)

local all = {}

local function property(class, name, get) class.properties[name] = get end

-- A family with a location and a scale: value = loc + scale * standard value.
local function location_scale(name, support)
  local class = base.define(name, {"loc", "scale"}, {loc = real, scale = positive})
  function class:init(given) self:take(given, {"loc", "scale"}) end
  class._has_rsample = true
  property(class, "support", function() return support or real end)
  property(class, "mean", function(self) return self.loc end)
  property(class, "mode", function(self) return self.loc end)
  all[name] = class
  return class
end

-- The probability for cdf's inverse, as a tensor in [0, 1].
local function probability(self, p)
  if type(p) == "number" then
    p = core.tensor(p, {dtype = self:example():dtype(), device = self:example():device()})
  end
  if self._validate and not (core._is_batched and core._is_batched(p)) then
    local _ <close> = core.no_grad()
    if not unit.check(p):all():item() then core._fail(self.__name .. ": icdf takes probabilities in [0, 1]") end
  end
  return p
end

local Normal = location_scale("Normal")
property(Normal, "variance", function(self) return self.scale:square() end)
property(Normal, "stddev", function(self) return self.scale end)
function Normal:draw(shape) return self.loc + self.scale * self:normal(self:extended(shape)) end
function Normal:log_prob(value)
  local z = (self:check_value(value) - self.loc) / self.scale
  return -0.5 * z * z - self.scale:log() - kHalfLog2Pi
end
function Normal:entropy() return 0.5 + kHalfLog2Pi + self.scale:log() end
function Normal:cdf(value)
  return 0.5 * (1 + ((self:check_value(value) - self.loc) / (self.scale * math.sqrt(2))):erf())
end
function Normal:icdf(p) return self.loc + self.scale * core.erfinv(2 * probability(self, p) - 1) * math.sqrt(2) end

local Laplace = location_scale("Laplace")
property(Laplace, "variance", function(self) return 2 * self.scale:square() end)
property(Laplace, "stddev", function(self) return self.scale * math.sqrt(2) end)
function Laplace:draw(shape)
  local u = self:uniform(self:extended(shape)) * 2 - 1
  return self.loc - self.scale * u:sign() * (-u:abs():clamp(nil, 1 - 1e-7)):log1p()
end
function Laplace:log_prob(value)
  return -(2 * self.scale):log() - (self:check_value(value) - self.loc):abs() / self.scale
end
function Laplace:entropy() return 1 + (2 * self.scale):log() end
function Laplace:cdf(value)
  local from = self:check_value(value) - self.loc
  return 0.5 - 0.5 * from:sign() * (-from:abs() / self.scale):expm1()
end
function Laplace:icdf(p)
  local term = probability(self, p) - 0.5
  return self.loc - self.scale * term:sign() * (-2 * term:abs()):log1p()
end

local Cauchy = location_scale("Cauchy")
local function undefined(self) return core.full_like(self.loc, 0 / 0) end
property(Cauchy, "mean", undefined)
property(Cauchy, "variance", function(self) return core.full_like(self.loc, math.huge) end)
function Cauchy:draw(shape)
  return self.loc + self.scale * ((self:uniform(self:extended(shape)) - 0.5) * math.pi):tan()
end
function Cauchy:log_prob(value)
  local z = (self:check_value(value) - self.loc) / self.scale
  return -math.log(math.pi) - self.scale:log() - (z * z):log1p()
end
function Cauchy:entropy() return math.log(4 * math.pi) + self.scale:log() end
function Cauchy:cdf(value) return ((self:check_value(value) - self.loc) / self.scale):atan() / math.pi + 0.5 end
function Cauchy:icdf(p) return ((probability(self, p) - 0.5) * math.pi):tan() * self.scale + self.loc end

local Gumbel = location_scale("Gumbel")
property(Gumbel, "mean", function(self) return self.loc + self.scale * kEuler end)
property(Gumbel, "stddev", function(self) return self.scale * (math.pi / math.sqrt(6)) end)
property(Gumbel, "variance", function(self) return self.stddev:square() end)
function Gumbel:draw(shape)
  local u = self:uniform(self:extended(shape)):clamp(1e-38, 1 - 6e-8)
  return self.loc - self.scale * (-u:log()):log()
end
function Gumbel:log_prob(value)
  local y = (self.loc - self:check_value(value)) / self.scale
  return y - y:exp() - self.scale:log()
end
function Gumbel:entropy() return self.scale:log() + (1 + kEuler) end
function Gumbel:cdf(value) return (-((self.loc - self:check_value(value)) / self.scale):exp()):exp() end
function Gumbel:icdf(p) return self.loc - self.scale * (-probability(self, p):log()):log() end

local HalfNormal = base.define("HalfNormal", {"scale"}, {scale = positive})
all.HalfNormal = HalfNormal
HalfNormal._has_rsample = true
function HalfNormal:init(given) self:take(given, {"scale"}) end
property(HalfNormal, "support", function() return constraints.nonnegative end)
property(HalfNormal, "mean", function(self) return self.scale * math.sqrt(2 / math.pi) end)
property(HalfNormal, "mode", function(self) return core.zeros_like(self.scale) end)
property(HalfNormal, "variance", function(self) return self.scale:square() * (1 - 2 / math.pi) end)
function HalfNormal:draw(shape) return (self.scale * self:normal(self:extended(shape))):abs() end
function HalfNormal:log_prob(value)
  value = self:check_value(value)
  local z = value / self.scale
  local inside = -0.5 * z * z - self.scale:log() - kHalfLog2Pi + math.log(2)
  return core.where(value:ge(0), inside, -math.huge)
end
function HalfNormal:entropy() return 0.5 + kHalfLog2Pi - math.log(2) + self.scale:log() end
function HalfNormal:cdf(value) return (self:check_value(value) / (self.scale * math.sqrt(2))):erf() end
function HalfNormal:icdf(p) return self.scale * core.erfinv(probability(self, p)) * math.sqrt(2) end

local Uniform = base.define("Uniform", {"low", "high"}, {})
all.Uniform = Uniform
Uniform._has_rsample = true
function Uniform:init(given)
  self:take(given, {"low", "high"})
  if self._validate and not (core._is_batched and (core._is_batched(self.low) or core._is_batched(self.high)))
    and not self.low:detach():lt(self.high:detach()):all():item() then
    core._fail("Uniform: low must be smaller than high")
  end
end
property(Uniform, "support", function(self) return constraints.between(self.low, self.high) end)
property(Uniform, "mean", function(self) return (self.low + self.high) / 2 end)
property(Uniform, "mode", function(self) return core.full_like(self.low, 0 / 0) end)
property(Uniform, "variance", function(self) return (self.high - self.low):square() / 12 end)
function Uniform:draw(shape) return self.low + self:uniform(self:extended(shape)) * (self.high - self.low) end
function Uniform:log_prob(value)
  value = self:check_value(value)
  local inside = value:ge(self.low):logical_and(value:lt(self.high))
  return core.where(inside, core.zeros_like(value) - (self.high - self.low):log(), -math.huge)
end
function Uniform:entropy() return (self.high - self.low):log() end
function Uniform:cdf(value) return ((self:check_value(value) - self.low) / (self.high - self.low)):clamp(0, 1) end
function Uniform:icdf(p) return self.low + probability(self, p) * (self.high - self.low) end

local Exponential = base.define("Exponential", {"rate"}, {rate = positive})
all.Exponential = Exponential
Exponential._has_rsample = true
function Exponential:init(given) self:take(given, {"rate"}) end
property(Exponential, "support", function() return constraints.nonnegative end)
property(Exponential, "mean", function(self) return self.rate:reciprocal() end)
property(Exponential, "mode", function(self) return core.zeros_like(self.rate) end)
property(Exponential, "stddev", function(self) return self.rate:reciprocal() end)
property(Exponential, "variance", function(self) return self.rate:pow(-2) end)
function Exponential:draw(shape) return -(-self:uniform(self:extended(shape))):log1p() / self.rate end
function Exponential:log_prob(value) return self.rate:log() - self.rate * self:check_value(value) end
function Exponential:entropy() return 1 - self.rate:log() end
function Exponential:cdf(value) return -(-self.rate * self:check_value(value)):expm1() end
function Exponential:icdf(p) return -(-probability(self, p)):log1p() / self.rate end

local StudentT = base.define("StudentT", {"df", {"loc", 0.0}, {"scale", 1.0}}, {df = positive, loc = real, scale = positive})
all.StudentT = StudentT
StudentT._has_rsample = true
function StudentT:init(given) self:take(given, {"df", "loc", "scale"}) end
property(StudentT, "support", function() return real end)
property(StudentT, "mean", function(self) return core.where(self.df:gt(1), self.loc, 0 / 0) end)
property(StudentT, "mode", function(self) return self.loc end)
property(StudentT, "variance", function(self)
  local df = self.df
  local wide = core.where(df:gt(2), df, core.full_like(df, 3))
  local finite = self.scale:square() * wide / (wide - 2)
  return core.where(df:gt(2), finite, core.where(df:gt(1), core.full_like(df, math.huge), core.full_like(df, 0 / 0)))
end)
function StudentT:draw(shape)
  local full = self:extended(shape)
  local half = (self.df / 2):expand(full)
  return self.loc + self.scale * self:normal(full) * (half / standard_gamma(half)):sqrt()
end
function StudentT:log_prob(value)
  local y = (self:check_value(value) - self.loc) / self.scale
  local normalizer = self.scale:log() + 0.5 * self.df:log() + 0.5 * math.log(math.pi) + core.lgamma(0.5 * self.df)
    - core.lgamma(0.5 * (self.df + 1))
  return -0.5 * (self.df + 1) * (y * y / self.df):log1p() - normalizer
end
function StudentT:entropy()
  local half = self.df / 2
  return self.scale:log() + (half + 0.5) * (core.digamma(half + 0.5) - core.digamma(half)) + 0.5 * self.df:log()
    + special.lbeta(core.full_like(half, 0.5), half)
end

return all
