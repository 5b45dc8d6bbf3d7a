-- Gamma Chi2 Beta Dirichlet: their samples have gradients by implicit reparameterisation (standard_gamma.lua).
local base = require "lunagrad.distributions.base"
local constraints = require "lunagrad.distributions.constraints"
local core = require "lunagrad.core"
local special = require "lunagrad.distributions.special"
local standard_gamma = require("lunagrad.distributions.standard_gamma").sample

local positive = constraints.positive
local lgamma, digamma = core.lgamma, core.digamma

local Gamma = base.define("Gamma", {"concentration", "rate"}, {concentration = positive, rate = positive})
Gamma._has_rsample = true
function Gamma:init(given) self:take(given, {"concentration", "rate"}) end
function Gamma.properties:support() return constraints.nonnegative end
function Gamma.properties:mean() return self.concentration / self.rate end
function Gamma.properties:mode() return ((self.concentration - 1) / self.rate):clamp(0) end
function Gamma.properties:variance() return self.concentration / self.rate:square() end
function Gamma:draw(shape) return standard_gamma(self.concentration:expand(self:extended(shape))) / self.rate end
function Gamma:log_prob(value)
  value = self:check_value(value)
  return core.xlogy(self.concentration, self.rate) + core.xlogy(self.concentration - 1, value) - self.rate * value
    - lgamma(self.concentration)
end
function Gamma:entropy()
  local a = self.concentration
  return a - self.rate:log() + lgamma(a) + (1 - a) * digamma(a)
end

local Chi2 = base.define("Chi2", {"df"}, {df = positive}, Gamma)
function Chi2:init(given)
  self:take(given, {"df"})
  rawset(self, "concentration", self.df * 0.5)
  rawset(self, "rate", core.full_like(self.df, 0.5))
end
function Chi2:expand(...)
  local other = base.Distribution.expand(self, ...)
  rawset(other, "concentration", other.df * 0.5)
  rawset(other, "rate", core.full_like(other.df, 0.5))
  return other
end

local Dirichlet = base.define("Dirichlet", {"concentration"}, {concentration = constraints.positive_vector})
Dirichlet._has_rsample = true
Dirichlet._event_dims = {concentration = 1}
function Dirichlet:init(given)
  local tensors, shape = base.broadcast("Dirichlet", {"concentration"}, given)
  if #shape < 1 then core._fail("Dirichlet: concentration needs at least 1 dim (got shape [])") end
  rawset(self, "concentration", tensors.concentration)
  self.batch_shape, self.event_shape = base.split_shape(shape, 1)
end
function Dirichlet.properties:support() return constraints.simplex end
function Dirichlet.properties:mean() return self.concentration / self.concentration:sum(-1, true) end
function Dirichlet.properties:mode()
  local above = (self.concentration - 1):clamp(0)
  local mode = above / above:sum(-1, true)
  local flat = self.concentration:lt(1):all(-1, true)
  -- if there are several corners, PyTorch takes the first
  local first = core.zeros_like(flat:squeeze(-1), {dtype = "i64"})
  local corner = core.one_hot(first, self.concentration:size(-1)):to(mode:dtype())
  return core.where(flat, corner, mode)
end
function Dirichlet.properties:variance()
  local total = self.concentration:sum(-1, true)
  return self.concentration * (total - self.concentration) / (total:square() * (total + 1))
end
function Dirichlet:draw(shape)
  local parts = standard_gamma(self.concentration:expand(self:extended(shape)))
  return parts / parts:sum(-1, true)
end
function Dirichlet:log_prob(value)
  value = self:check_value(value)
  local a = self.concentration
  return core.xlogy(a - 1, value):sum(-1) + lgamma(a:sum(-1)) - lgamma(a):sum(-1)
end
function Dirichlet:entropy()
  local a = self.concentration
  local k, total = a:size(-1), a:sum(-1)
  return lgamma(a):sum(-1) - lgamma(total) - (k - total) * digamma(total) - ((a - 1) * digamma(a)):sum(-1)
end

local Beta = base.define("Beta", {"concentration1", "concentration0"},
  {concentration1 = positive, concentration0 = positive})
Beta._has_rsample = true
function Beta:init(given) self:take(given, {"concentration1", "concentration0"}) end
function Beta.properties:support() return constraints.unit_interval end
function Beta.properties:mean() return self.concentration1 / (self.concentration1 + self.concentration0) end
function Beta.properties:mode()
  local a, b = self.concentration1, self.concentration0
  local mode = (a - 1) / (a + b - 2)
  return core.where(a:lt(1):logical_and(b:lt(1)), core.ones_like(mode), mode:clamp(0, 1))
end
function Beta.properties:variance()
  local total = self.concentration1 + self.concentration0
  return self.concentration1 * self.concentration0 / (total:square() * (total + 1))
end
function Beta:draw(shape)
  local full = self:extended(shape)
  local a = standard_gamma(self.concentration1:expand(full))
  local b = standard_gamma(self.concentration0:expand(full))
  return a / (a + b)
end
function Beta:log_prob(value)
  value = self:check_value(value)
  local a, b = self.concentration1, self.concentration0
  return core.xlogy(a - 1, value) + core.xlogy(b - 1, 1 - value) - special.lbeta(a, b)
end
function Beta:entropy()
  local a, b = self.concentration1, self.concentration0
  return special.lbeta(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)
end

return {Gamma = Gamma, Chi2 = Chi2, Dirichlet = Dirichlet, Beta = Beta}
