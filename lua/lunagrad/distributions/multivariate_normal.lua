-- MultivariateNormal(loc, {covariance_matrix =} or {precision_matrix =} or {scale_tril =}).
local base = require "lunagrad.distributions.base"
local constraints = require "lunagrad.distributions.constraints"
local core = require "lunagrad.core"
local special = require "lunagrad.distributions.special"

local fail, is_tensor = core._fail, core.is_tensor

local kMatrices = {"covariance_matrix", "precision_matrix", "scale_tril"}

local MultivariateNormal = base.define("MultivariateNormal",
  {"loc", {"covariance_matrix"}, {"precision_matrix"}, {"scale_tril"}},
  {loc = constraints.real_vector, covariance_matrix = constraints.symmetric, precision_matrix = constraints.symmetric,
    scale_tril = constraints.lower_triangular})
MultivariateNormal._has_rsample = true
MultivariateNormal._event_dims = {loc = 1, covariance_matrix = 2, precision_matrix = 2, scale_tril = 2, _lower = 2}

-- The lower triangular L with L L^T = the inverse of p: from the Cholesky factor of p with rows and columns reversed.
local function lower_of_precision(p)
  local reversed = special.cholesky(p:flip({-2, -1}), "precision_matrix")
  local upper = reversed:flip({-2, -1}):transpose(-2, -1)  -- lower triangular, with upper^T upper = p
  local eye = core.eye(p:size(-1), {dtype = p:dtype(), device = p:device()})
  return special.solve_lower(upper, eye)
end

function MultivariateNormal:init(given)
  local name
  for _, each in ipairs(kMatrices) do
    if given[each] ~= nil then
      if name then fail("MultivariateNormal: give exactly one of " .. table.concat(kMatrices, ", ")) end
      name = each
    end
  end
  if not name then fail("MultivariateNormal: give exactly one of " .. table.concat(kMatrices, ", ")) end
  local loc, matrix = given.loc, given[name]
  if not is_tensor(loc) or loc:dim() < 1 then fail("MultivariateNormal: loc must be a tensor with at least 1 dim") end
  if not is_tensor(matrix) or matrix:dim() < 2 then
    fail(("MultivariateNormal: %s must be a tensor with at least 2 dims"):format(name))
  end
  local n = loc:size(-1)
  if matrix:size(-1) ~= n or matrix:size(-2) ~= n then
    fail(("MultivariateNormal: %s has shape %s where loc has %s"):format(name, base.text(matrix:size()),
      base.text(loc:size())))
  end
  self.event_shape = {n}
  self.batch_shape = base.broadcast_shapes("MultivariateNormal", (base.split_shape(loc:size(), 1)),
    (base.split_shape(matrix:size(), 2)))
  rawset(self, "loc", loc:expand(base.concat(self.batch_shape, {n})))
  rawset(self, name, matrix:expand(base.concat(self.batch_shape, {n, n})))
  local lower = matrix
  if name == "covariance_matrix" then lower = special.cholesky(matrix, name) end
  if name == "precision_matrix" then lower = lower_of_precision(matrix) end
  rawset(self, "_lower", lower:expand(base.concat(self.batch_shape, {n, n})))
end
function MultivariateNormal:expand(...)
  local other = base.Distribution.expand(self, ...)
  local n = self.event_shape[1]
  rawset(other, "_lower", self._lower:expand(base.concat(other.batch_shape, {n, n})))
  return other
end
function MultivariateNormal.properties:support() return constraints.real_vector end
function MultivariateNormal.properties:scale_tril() return self._lower end
function MultivariateNormal.properties:covariance_matrix() return self._lower:matmul(self._lower:transpose(-2, -1)) end
function MultivariateNormal.properties:precision_matrix()
  local n = self.event_shape[1]
  local like = self.loc
  local eye = core.eye(n, {dtype = like:dtype(), device = like:device()})
  local inverse = special.solve_lower(self._lower, eye)
  return inverse:transpose(-2, -1):matmul(inverse)
end
function MultivariateNormal.properties:mean() return self.loc end
function MultivariateNormal.properties:mode() return self.loc end
function MultivariateNormal.properties:variance() return self._lower:square():sum(-1) end
function MultivariateNormal:draw(shape)
  local noise = self:normal(self:extended(shape))
  return self.loc + (self._lower * noise:unsqueeze(-2)):sum(-1)
end
local function log_diagonal(self) return core.diagonal(self._lower, 0, -2, -1):log():sum(-1) end
function MultivariateNormal:log_prob(value)
  local z = special.solve_lower_vector(self._lower, self:check_value(value) - self.loc)
  return -0.5 * (self.event_shape[1] * math.log(2 * math.pi) + z:square():sum(-1)) - log_diagonal(self)
end
function MultivariateNormal:entropy()
  return 0.5 * self.event_shape[1] * (1 + math.log(2 * math.pi)) + log_diagonal(self)
end

return {MultivariateNormal = MultivariateNormal}
