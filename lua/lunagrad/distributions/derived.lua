-- Distributions that are made of other distributions: TransformedDistribution LogNormal Independent MixtureSameFamily.
local base = require "lunagrad.distributions.base"
local constraints = require "lunagrad.distributions.constraints"
local continuous = require "lunagrad.distributions.continuous"
local core = require "lunagrad.core"
local transforms = require "lunagrad.distributions.transforms"

local fail = core._fail

local function sum_last(x, count)
  for _ = 1, count do x = x:sum(-1) end
  return x
end

local function need_distribution(owner, name, value)
  if not base.is_distribution(value) then
    fail(("%s: %s must be a distribution (got a %s)"):format(owner, name, type(value)))
  end
end

-- --- transforms ---

local Transformed = base.define("TransformedDistribution", {"base_dist", "transforms"}, {})
function Transformed:init(given)
  need_distribution(self.__name, "base_dist", given.base_dist)
  local list = given.transforms
  if type(list) == "table" and list.log_abs_det_jacobian then list = {list} end
  if type(list) ~= "table" then fail(self.__name .. ": transforms must be a transform or a list of them") end
  for i, transform in ipairs(list) do
    if type(transform) ~= "table" or not transform.log_abs_det_jacobian then
      fail(("%s: item %d of transforms is a %s, not a transform"):format(self.__name, i, type(transform)))
    end
  end
  self:place(given.base_dist, list)
end
function Transformed:place(base_dist, list)
  rawset(self, "base_dist", base_dist)
  rawset(self, "transforms", list)
  local events = #base_dist.event_shape
  for _, transform in ipairs(list) do events = math.max(events, transform.event_dim) end
  self.batch_shape, self.event_shape = base.split_shape(base.concat(base_dist.batch_shape, base_dist.event_shape), events)
end
function Transformed:example() return self.base_dist:example() end
function Transformed.properties:has_rsample() return self.base_dist.has_rsample end
function Transformed.properties:support()
  local last = self.transforms[#self.transforms]
  return last and (last.codomain == constraints.real and constraints.real or last.codomain) or self.base_dist.support
end
function Transformed:apply(x)
  for _, transform in ipairs(self.transforms) do x = transform(x) end
  return x
end
function Transformed:draw(shape) return self:apply(self.base_dist:draw(shape)) end
function Transformed:log_prob(value)
  local y = self:check_value(value)
  local events, log_prob = #self.event_shape, 0
  for i = #self.transforms, 1, -1 do
    local transform = self.transforms[i]
    local x = transform:inv(y)
    log_prob = log_prob - sum_last(transform:log_abs_det_jacobian(x, y), events - transform.event_dim)
    y = x
  end
  return log_prob + sum_last(self.base_dist:log_prob(y), events - #self.base_dist.event_shape)
end
local function is_rising(transform)
  local sign = transform.sign
  if type(sign) == "number" then return sign > 0 and 1 or -1 end
  return sign
end
function Transformed:cdf(value)
  local y, sign = self:check_value(value), 1
  for i = #self.transforms, 1, -1 do
    y = self.transforms[i]:inv(y)
    sign = sign * is_rising(self.transforms[i])
  end
  local p = self.base_dist:cdf(y)
  return sign == 1 and p or sign * (p - 0.5) + 0.5
end
function Transformed:icdf(p)
  local sign = 1
  for _, transform in ipairs(self.transforms) do sign = sign * is_rising(transform) end
  return self:apply(self.base_dist:icdf(sign == 1 and p or sign * (p - 0.5) + 0.5))
end
function Transformed:expand(...)
  local shape = base.read_shape(self.__name .. ": expand", ...)
  local other = setmetatable({}, getmetatable(self))
  for key, value in next, self do rawset(other, key, value) end
  local extra = #self.event_shape - #self.base_dist.event_shape
  local _, kept = base.split_shape(self.base_dist.batch_shape, extra)
  other:place(self.base_dist:expand(base.concat(shape, kept)), self.transforms)
  return other
end

local LogNormal = base.define("LogNormal", {"loc", "scale"}, {}, Transformed)
function LogNormal:init(given)
  self:place(continuous.Normal(given.loc, given.scale, {validate_args = given.validate_args}), {transforms.ExpTransform()})
end
function LogNormal.properties:support() return constraints.positive end
function LogNormal.properties:loc() return self.base_dist.loc end
function LogNormal.properties:scale() return self.base_dist.scale end
function LogNormal.properties:mean() return (self.loc + self.scale:square() / 2):exp() end
function LogNormal.properties:mode() return (self.loc - self.scale:square()):exp() end
function LogNormal.properties:variance()
  local square = self.scale:square()
  return square:expm1() * (2 * self.loc + square):exp()
end
function LogNormal:entropy() return self.base_dist:entropy() + self.loc end

-- --- Independent ---

local Independent = base.define("Independent", {"base_distribution", "reinterpreted_batch_ndims"}, {})
function Independent:init(given)
  local inner, count = given.base_distribution, given.reinterpreted_batch_ndims
  need_distribution("Independent", "base_distribution", inner)
  if math.type(count) ~= "integer" or count < 0 or count > #inner.batch_shape then
    fail(("Independent: reinterpreted_batch_ndims must lie in 0 to %d, the batch dims (got %s)"):format(
      #inner.batch_shape, tostring(count)))
  end
  rawset(self, "base_dist", inner)
  rawset(self, "reinterpreted_batch_ndims", count)
  local batch, moved = base.split_shape(inner.batch_shape, count)
  self.batch_shape, self.event_shape = batch, base.concat(moved, inner.event_shape)
end
function Independent:example() return self.base_dist:example() end
for _, name in ipairs {"has_rsample", "mean", "mode", "variance", "stddev"} do
  Independent.properties[name] = function(self) return self.base_dist[name] end
end
function Independent:draw(shape) return self.base_dist:draw(shape) end
function Independent:log_prob(value)
  return sum_last(self.base_dist:log_prob(value), self.reinterpreted_batch_ndims)
end
function Independent:entropy() return sum_last(self.base_dist:entropy(), self.reinterpreted_batch_ndims) end
function Independent:expand(...)
  local shape = base.read_shape("Independent: expand", ...)
  local _, kept = base.split_shape(self.base_dist.batch_shape, self.reinterpreted_batch_ndims)
  return Independent(self.base_dist:expand(base.concat(shape, kept)), self.reinterpreted_batch_ndims)
end

-- --- mixtures ---

local Mixture = base.define("MixtureSameFamily", {"mixture_distribution", "component_distribution"}, {})
function Mixture:init(given)
  local mixture, component = given.mixture_distribution, given.component_distribution
  need_distribution("MixtureSameFamily", "mixture_distribution", mixture)
  need_distribution("MixtureSameFamily", "component_distribution", component)
  if mixture.__name ~= "Categorical" then
    fail("MixtureSameFamily: mixture_distribution must be a Categorical (got " .. mixture.__name .. ")")
  end
  local shape = component.batch_shape
  if #shape < 1 or shape[#shape] ~= mixture._classes then
    fail(("MixtureSameFamily: the last batch dim of the components must be the %d classes of the mixture (got batch "
      .. "shape %s)"):format(mixture._classes, base.text(shape)))
  end
  rawset(self, "mixture_distribution", mixture)
  rawset(self, "component_distribution", component)
  local batch = base.split_shape(shape, 1)
  base.broadcast_shapes("MixtureSameFamily", batch, mixture.batch_shape)
  self.batch_shape, self.event_shape = batch, component.event_shape
end
function Mixture:example() return self.component_distribution:example() end
local function events_of(self) return #self.event_shape end
-- Adds the dims of an event to the weights, [batch..., classes].
local function with_events(self, weights)
  for _ = 1, events_of(self) do weights = weights:unsqueeze(-1) end
  return weights
end
local function class_dim(self) return -1 - events_of(self) end
function Mixture.properties:support() return self.component_distribution.support end
function Mixture.properties:mean()
  return (with_events(self, self.mixture_distribution.probs) * self.component_distribution.mean):sum(class_dim(self))
end
function Mixture.properties:variance()
  local weights, parts = with_events(self, self.mixture_distribution.probs), self.component_distribution
  local mean = self.mean:unsqueeze(class_dim(self))
  return (weights * (parts.variance + (parts.mean - mean):square())):sum(class_dim(self))
end
function Mixture:log_prob(value)
  value = self:check_value(value)
  local each = self.component_distribution:log_prob(value:unsqueeze(class_dim(self)))
  return (each + self.mixture_distribution.logits):logsumexp(-1)
end
function Mixture:cdf(value)
  value = self:check_value(value)
  return (self.component_distribution:cdf(value:unsqueeze(-1)) * self.mixture_distribution.probs):sum(-1)
end
function Mixture:draw(shape)
  local chosen = self.mixture_distribution:expand(self.batch_shape):draw(shape)
  local all = self.component_distribution:draw(shape)
  local dim = all:dim() + 1 + class_dim(self)
  local index = with_events(self, chosen:unsqueeze(-1))
  local wide = all:size()
  wide[dim] = 1
  return all:gather(dim, index:expand(wide)):squeeze(dim)
end
function Mixture:expand(...)
  local shape = base.read_shape("MixtureSameFamily: expand", ...)
  local classes = self.mixture_distribution._classes
  return Mixture(self.mixture_distribution:expand(shape),
    self.component_distribution:expand(base.concat(shape, {classes})))
end

return {TransformedDistribution = Transformed, LogNormal = LogNormal, Independent = Independent,
  MixtureSameFamily = Mixture}
