-- Bernoulli Geometric Binomial Poisson Categorical OneHotCategorical Multinomial.
local base = require "lunagrad.distributions.base"
local constraints = require "lunagrad.distributions.constraints"
local core = require "lunagrad.core"
local special = require "lunagrad.distributions.special"

local fail, is_tensor = core._fail, core.is_tensor

-- --- probs or logits ---

-- Reads either probs or logits; the other is computed when it is read.
local function read_either(self, given, others)
  if (given.probs == nil) == (given.logits == nil) then
    fail(self.__name .. ": give either probs or logits, and not both")
  end
  local name = given.probs ~= nil and "probs" or "logits"
  local names = {name, table.unpack(others or {})}
  local tensors, shape = base.broadcast(self.__name, names, given)
  for _, each in ipairs(names) do rawset(self, each, tensors[each]) end
  return shape, name
end

local function either(class, is_binary)
  function class.properties:probs() return special.logits_to_probs(rawget(self, "logits"), is_binary) end
  function class.properties:logits() return special.probs_to_logits(rawget(self, "probs"), is_binary) end
end

local weighted = special.weighted

-- The log-probability of `hits` successes and `misses` failures in one order.
local function log_of_trials(distribution, hits, misses)
  local log_p, log_rest = special.success_logs(distribution)
  return weighted(hits, log_p) + weighted(misses, log_rest)
end

local Bernoulli = base.define("Bernoulli", {{"probs"}, {"logits"}},
  {probs = constraints.unit_interval, logits = constraints.real})
either(Bernoulli, true)
function Bernoulli:init(given) self.batch_shape = read_either(self, given) end
function Bernoulli.properties:support() return constraints.boolean end
function Bernoulli.properties:mean() return self.probs end
function Bernoulli.properties:variance() return self.probs * (1 - self.probs) end
function Bernoulli.properties:mode()
  local mode = self.probs:ge(0.5):to(self.probs:dtype())
  return core.where(self.probs:eq(0.5), core.full_like(mode, 0 / 0), mode)
end
function Bernoulli:draw(shape) return core.bernoulli(self.probs:expand(self:extended(shape)):contiguous()) end
function Bernoulli:log_prob(value)
  value = self:check_value(value)
  return log_of_trials(self, value, 1 - value)
end
function Bernoulli:entropy() return special.success_entropy(self) end
function Bernoulli:enumerate_support(expand)
  local like = self:example()
  local shape = {2}
  for _ = 1, #self.batch_shape do shape[#shape + 1] = 1 end
  local values = core.tensor({0, 1}, {dtype = like:dtype(), device = like:device()}):reshape(shape)
  return expand == false and values or values:expand(base.concat({2}, self.batch_shape))
end

local Geometric = base.define("Geometric", {{"probs"}, {"logits"}},
  {probs = constraints.open_below_one, logits = constraints.real})
either(Geometric, true)
function Geometric:init(given) self.batch_shape = read_either(self, given) end
function Geometric.properties:support() return constraints.nonnegative_integer end
function Geometric.properties:mean() return self.probs:reciprocal() - 1 end
function Geometric.properties:mode() return core.zeros_like(self.probs) end
function Geometric.properties:variance() return (self.probs:reciprocal() - 1) / self.probs end
function Geometric:draw(shape)
  local u = self:uniform(self:extended(shape)):clamp(1e-38)
  return (u:log() / (-self.probs):log1p()):floor()
end
function Geometric:log_prob(value)
  value = self:check_value(value)
  return log_of_trials(self, core.ones_like(value), value)
end
function Geometric:entropy() return special.success_entropy(self) / self.probs end

-- --- counts ---

local Binomial = base.define("Binomial", {{"total_count", 1}, {"probs"}, {"logits"}},
  {total_count = constraints.nonnegative_integer, probs = constraints.unit_interval, logits = constraints.real})
either(Binomial, true)
function Binomial:init(given) self.batch_shape = read_either(self, given, {"total_count"}) end
function Binomial.properties:support() return constraints.integers_to(self.total_count) end
function Binomial.properties:mean() return self.total_count * self.probs end
function Binomial.properties:mode() return ((self.total_count + 1) * self.probs):floor():minimum(self.total_count) end
function Binomial.properties:variance() return self.total_count * self.probs * (1 - self.probs) end
-- The number of successes, drawn in blocks of 64 trials.
function Binomial:draw(shape)
  local full, piece = self:extended(shape), 64
  local most = math.tointeger(self.total_count:max():item())
  local wide = base.concat({1}, full)
  local probs, total = self.probs:expand(full):reshape(wide), self.total_count:expand(full):reshape(wide)
  local sum = core.zeros_like(probs[1])
  for first = 0, most - 1, piece do
    local n = math.min(piece, most - first)
    local index = {n}
    for _ = 1, #full do index[#index + 1] = 1 end
    local number = core.arange(first, first + n, {dtype = probs:dtype(), device = probs:device()}):reshape(index)
    local hit = self:uniform(base.concat({n}, full)):lt(probs):logical_and(number:lt(total))
    sum = sum + hit:to(probs:dtype()):sum(1)
  end
  return sum
end
function Binomial:log_prob(value)
  value = self:check_value(value)
  return special.log_choose(self.total_count, value) + log_of_trials(self, value, self.total_count - value)
end
function Binomial:enumerate_support(expand)
  local most = math.tointeger(self.total_count:max():item())
  if self.total_count:min():item() ~= most then fail("Binomial: enumerate_support needs one total_count") end
  local shape = {most + 1}
  for _ = 1, #self.batch_shape do shape[#shape + 1] = 1 end
  local like = self:example()
  local values = core.arange(0, most + 1, {dtype = like:dtype(), device = like:device()}):reshape(shape)
  return expand == false and values or values:expand(base.concat({most + 1}, self.batch_shape))
end
function Binomial:entropy()
  local log_prob = self:log_prob(self:enumerate_support(false))
  return -weighted(log_prob:exp(), log_prob):sum(1)
end

local Poisson = base.define("Poisson", {"rate"}, {rate = constraints.nonnegative})
function Poisson:init(given) self:take(given, {"rate"}) end
function Poisson.properties:support() return constraints.nonnegative_integer end
function Poisson.properties:mean() return self.rate end
function Poisson.properties:mode() return self.rate:floor() end
function Poisson.properties:variance() return self.rate end
function Poisson:draw(shape)
  return core.poisson(self.rate:expand(self:extended(shape)):contiguous())
end
function Poisson:log_prob(value)
  value = self:check_value(value)
  return core.xlogy(value, self.rate) - self.rate - core.lgamma(value + 1)
end

-- --- classes ---

-- probs and logits of [batch..., classes]; probs are normalized to a sum of 1, logits to log-probabilities.
local function init_classes(self, given)
  local shape, name = read_either(self, given)
  if #shape < 1 then fail(("%s: %s needs at least 1 dim (got shape [])"):format(self.__name, name)) end
  local raw = rawget(self, name)
  if name == "probs" then
    rawset(self, "probs", raw / raw:sum(-1, true))
  else
    rawset(self, "logits", raw - raw:logsumexp(-1, true))
  end
  local batch = base.split_shape(shape, 1)
  self.batch_shape = batch
  rawset(self, "_classes", shape[#shape])
end

local kClassChecks = {probs = constraints.nonnegative_vector, logits = constraints.real_vector}

-- Draws n class ids for each row of probs: [n, batch...].
local function draw_classes(self, n)
  local k = self._classes
  local rows = self.probs:reshape(-1, k)
  local ids = core.multinomial(rows, math.max(n, 1), true):t()
  if n == 0 then ids = ids:narrow(1, 1, 0) end
  return ids
end

local function product(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

local Categorical = base.define("Categorical", {{"probs"}, {"logits"}}, kClassChecks)
either(Categorical, false)
Categorical._event_dims = {probs = 1, logits = 1}
function Categorical:init(given) init_classes(self, given) end
function Categorical.properties:support() return constraints.integers_to(self._classes - 1) end
function Categorical.properties:param_shape() return base.concat(self.batch_shape, {self._classes}) end
function Categorical.properties:mean() return core.full(self.batch_shape, 0 / 0, {dtype = self:example():dtype(),
  device = self:example():device()}) end
function Categorical.properties:variance() return self.mean end
function Categorical.properties:mode() return self.probs:argmax(-1) end
function Categorical:draw(shape) return draw_classes(self, product(shape)):reshape(self:extended(shape)) end
function Categorical:log_prob(value)
  value = self:check_value(value)
  local shape = base.broadcast_shapes("Categorical", value:size(), self.batch_shape)
  local index = value:long():expand(shape):unsqueeze(-1)
  return self.logits:expand(base.concat(shape, {self._classes})):gather(-1, index):squeeze(-1)
end
function Categorical:entropy()
  return -weighted(self.probs, self.logits):sum(-1)
end
function Categorical:enumerate_support(expand)
  local shape = {self._classes}
  for _ = 1, #self.batch_shape do shape[#shape + 1] = 1 end
  local values = core.arange(0, self._classes, {device = self:example():device()}):reshape(shape)
  return expand == false and values or values:expand(base.concat({self._classes}, self.batch_shape))
end

local OneHotCategorical = base.define("OneHotCategorical", {{"probs"}, {"logits"}}, kClassChecks)
either(OneHotCategorical, false)
OneHotCategorical._event_dims = {probs = 1, logits = 1}
function OneHotCategorical:init(given)
  init_classes(self, given)
  self.event_shape = {self._classes}
end
function OneHotCategorical.properties:support() return constraints.one_hot end
function OneHotCategorical.properties:mean() return self.probs end
function OneHotCategorical.properties:mode()
  return core.one_hot(self.probs:argmax(-1), self._classes):to(self.probs:dtype())
end
function OneHotCategorical.properties:variance() return self.probs * (1 - self.probs) end
function OneHotCategorical:draw(shape)
  local ids = draw_classes(self, product(shape)):reshape(base.concat(shape, self.batch_shape))
  return core.one_hot(ids, self._classes):to(self:example():dtype())
end
function OneHotCategorical:log_prob(value)
  value = self:check_value(value)
  local shape = base.broadcast_shapes("OneHotCategorical", value:size(), self.logits:size())
  return self.logits:expand(shape):gather(-1, value:expand(shape):argmax(-1, true)):squeeze(-1)
end
OneHotCategorical.entropy = Categorical.entropy
function OneHotCategorical:enumerate_support(expand)
  local k = self._classes
  local shape = {k}
  for _ = 1, #self.batch_shape do shape[#shape + 1] = 1 end
  shape[#shape + 1] = k
  local like = self:example()
  local values = core.eye(k, {dtype = like:dtype(), device = like:device()}):reshape(shape)
  return expand == false and values or values:expand(base.concat({k}, self.batch_shape, {k}))
end

local Multinomial = base.define("Multinomial", {{"total_count", 1}, {"probs"}, {"logits"}}, kClassChecks)
either(Multinomial, false)
Multinomial._event_dims = {probs = 1, logits = 1}
function Multinomial:init(given)
  if is_tensor(given.total_count) or math.type(given.total_count) ~= "integer" or given.total_count < 0 then
    fail("Multinomial: total_count must be an integer of at least 0")
  end
  init_classes(self, given)
  rawset(self, "total_count", given.total_count)
  self.event_shape = {self._classes}
end
function Multinomial.properties:support() return constraints.counts(self.total_count) end
function Multinomial.properties:mean() return self.probs * self.total_count end
function Multinomial.properties:variance() return self.total_count * self.probs * (1 - self.probs) end
function Multinomial:draw(shape)
  local like, n = self:example(), product(shape)
  local ids = draw_classes(self, n * self.total_count)
  local rows = ids:size(2)
  local hits = core.one_hot(ids, self._classes):to(like:dtype())
  return hits:reshape(n, self.total_count, rows, self._classes):sum(2):reshape(self:extended(shape))
end
function Multinomial:log_prob(value)
  value = self:check_value(value)
  return core.lgamma(value:sum(-1) + 1) - core.lgamma(value + 1):sum(-1) + weighted(value, self.logits):sum(-1)
end
function Multinomial:entropy()
  local n = self.total_count
  local like = self:example()
  local one = Binomial(n, {probs = self.probs})
  local count = core.tensor(n, {dtype = like:dtype(), device = like:device()})
  local pmf = one:log_prob(one:enumerate_support(false)):exp()
  local values = one:enumerate_support(false)
  local sums = n > 0 and (pmf * core.lgamma(values + 1)):sum(1):sum(-1) or 0
  return n * Categorical.entropy(self) - core.lgamma(count + 1) + sums
end

return {Bernoulli = Bernoulli, Geometric = Geometric, Binomial = Binomial, Poisson = Poisson, Categorical = Categorical,
  OneHotCategorical = OneHotCategorical, Multinomial = Multinomial}
