-- Samplers: the order in which a DataLoader reads a data set. `#sampler` is the number of samples in a pass;
-- sampler:indices(seed, pass) returns the list of their indices, from 0, which depends only on seed and pass. A loader
-- also takes a table or a tensor of indices, and any object with indices(seed, pass) and a length. for i in sampler do
-- … end goes through one order.
local core = require "lunagrad.core"
local draws = require "lunagrad.data.draws"
local reader = require("lunagrad.arguments").reader

local fail, is_tensor = core._fail, core.is_tensor
local samplers = {}

local function class(name, arguments)
  local Sampler = {__name = name}
  Sampler.__index = Sampler
  function Sampler.__len(self) return self:size() end
  -- The iterator function of `for`; the first call makes an order.
  function Sampler.__call(self, _, previous)
    if previous == nil then self.walk, self.at = self:indices(core._new_seed(), 0), 0 end
    self.at = self.at + 1
    return self.walk[self.at]
  end
  function Sampler.__tostring(self) return ("%s(%d samples)"):format(name, #self) end
  samplers[name] = function(...)
    local self = setmetatable(arguments(...), Sampler)
    self:check()
    return self
  end
  return Sampler
end

-- A list of integers from a tensor or a table.
local function integers(owner, what, values, least, most)
  if is_tensor(values) then values = values:reshape(-1):tolist() end
  if type(values) ~= "table" then fail(("%s: %s is a list of integers (got %s)"):format(owner, what, type(values))) end
  local list = {}
  for i, value in ipairs(values) do
    local whole = math.tointeger(value)
    if not whole or whole < least or most and whole > most then
      fail(("%s: %s %d is %s, not an integer from %d%s"):format(owner, what, i, tostring(value), least,
        most and (" to %d"):format(most) or ""))
    end
    list[i] = whole
  end
  return list
end
samplers._integers = integers

local function count(owner, what, value, least)
  if math.type(value) ~= "integer" or value < least then
    fail(("%s: %s must be an integer of at least %d (got %s)"):format(owner, what, least, tostring(value)))
  end
end

local function length_of(owner, source)
  local meta = getmetatable(source)
  if type(source) ~= "table" and not is_tensor(source) or meta and not is_tensor(source) and not meta.__len then
    fail(("%s: a data set with a length expected (got %s)"):format(owner, type(source)))
  end
  return #source
end

local function permutation(n, seed, pass) return core._permutation(n, seed, pass):tolist() end

local Sequential = class("SequentialSampler", reader("SequentialSampler", "data_source"))
function Sequential:check() length_of("SequentialSampler", self.data_source) end
function Sequential:size() return #self.data_source end
function Sequential:indices()
  local list = {}
  for i = 1, #self do list[i] = i - 1 end
  return list
end

-- A random order; with replacement, num_samples random indices.
local Random = class("RandomSampler", reader("RandomSampler", "data_source", {"replacement", false}, {"num_samples"},
  {"generator"}))
function Random:check()
  length_of("RandomSampler", self.data_source)
  if self.num_samples ~= nil then count("RandomSampler", "num_samples", self.num_samples, 1) end
end
function Random:size() return self.num_samples or #self.data_source end
function Random:indices(seed, pass)
  local n, list = #self.data_source, {}
  if n == 0 then return list end
  if self.replacement then
    local source = draws(seed, pass)
    for i = 1, #self do list[i] = source:integer(0, n - 1) end
    return list
  end
  local round = 0
  while #list < #self do
    local order = permutation(n, seed + round, pass)
    table.move(order, 1, math.min(n, #self - #list), #list + 1, list)
    round = round + 1
  end
  return list
end

-- The given indices in random order.
local SubsetRandom = class("SubsetRandomSampler", function(indices)
  return {chosen = integers("SubsetRandomSampler", "index", indices, 0)}
end)
function SubsetRandom:check() end
function SubsetRandom:size() return #self.chosen end
function SubsetRandom:indices(seed, pass)
  local list = {}
  for i, at in ipairs(permutation(#self.chosen, seed, pass)) do list[i] = self.chosen[at + 1] end
  return list
end

-- num_samples indices with probabilities in proportion to the weights. Without replacement each index appears once at most
-- (Efraimidis, Spirakis, "Weighted random sampling with a reservoir", 2006).
local Weighted = class("WeightedRandomSampler", reader("WeightedRandomSampler", "weights", "num_samples",
  {"replacement", true}, {"generator"}))
function Weighted:check()
  local weights = is_tensor(self.weights) and self.weights:reshape(-1):tolist() or self.weights
  if type(weights) ~= "table" then fail(("WeightedRandomSampler: weights is a list (got %s)"):format(type(weights))) end
  count("WeightedRandomSampler", "num_samples", self.num_samples, 1)
  local sum, positive, sums = 0, 0, {}
  for i, weight in ipairs(weights) do
    if type(weight) ~= "number" or not (weight >= 0 and weight < math.huge) then
      fail(("WeightedRandomSampler: weight %d is %s, not a number of 0 or more"):format(i, tostring(weight)))
    end
    sum, positive = sum + weight, positive + (weight > 0 and 1 or 0)
    sums[i] = sum
  end
  if positive == 0 then fail("WeightedRandomSampler: no weight is above 0") end
  if not self.replacement and self.num_samples > positive then
    fail(("WeightedRandomSampler: %d samples without replacement of %d weights above 0"):format(self.num_samples, positive))
  end
  self.weights, self.sums = weights, sums
end
function Weighted:size() return self.num_samples end
function Weighted:indices(seed, pass)
  local source, list, sums = draws(seed, pass), {}, self.sums
  if self.replacement then
    for i = 1, self.num_samples do
      local wanted, low, high = source:uniform(0, sums[#sums]), 1, #sums
      while low < high do
        local middle = (low + high) // 2
        if sums[middle] > wanted then high = middle else low = middle + 1 end
      end
      list[i] = low - 1
    end
    return list
  end
  local keys, order = {}, {}
  for i, weight in ipairs(self.weights) do
    keys[i] = weight > 0 and math.log(1 - source:uniform()) / weight or -math.huge
    order[i] = i
  end
  table.sort(order, function(a, b) return keys[a] > keys[b] or keys[a] == keys[b] and a < b end)
  for i = 1, self.num_samples do list[i] = order[i] - 1 end
  return list
end

-- The part of process `rank` (from 0) of num_replicas; all parts have the same length. set_epoch(n) changes the order;
-- the seed is the same in every process.
local Distributed = class("DistributedSampler", reader("DistributedSampler", "dataset", {"num_replicas"}, {"rank"},
  {"shuffle", true}, {"seed", 0}, {"drop_last", false}))
function Distributed:check()
  length_of("DistributedSampler", self.dataset)
  if self.num_replicas == nil or self.rank == nil then
    fail("DistributedSampler: write {num_replicas = …, rank = …}: the number of processes, and of this one, from 0")
  end
  count("DistributedSampler", "num_replicas", self.num_replicas, 1)
  count("DistributedSampler", "rank", self.rank, 0)
  if self.rank >= self.num_replicas then
    fail(("DistributedSampler: rank %d is out of range for %d processes"):format(self.rank, self.num_replicas))
  end
  self.epoch = 0
end
function Distributed:set_epoch(epoch) self.epoch = epoch end
function Distributed:size()
  local each = #self.dataset / self.num_replicas
  return self.drop_last and math.floor(each) or math.ceil(each)
end
function Distributed:indices()
  local n, list, part = #self.dataset, {}, {}
  if self.shuffle then
    list = permutation(n, self.seed, self.epoch)
  else
    for i = 1, n do list[i] = i - 1 end
  end
  -- The last round is filled up with indices from the beginning, or dropped.
  local total = #self * self.num_replicas
  for k = self.rank, total - 1, self.num_replicas do part[#part + 1] = list[k % n + 1] end
  return part
end

-- Lists of batch_size indices from another sampler: sampler:batches(seed, pass).
local Batch = class("BatchSampler", reader("BatchSampler", "sampler", "batch_size", {"drop_last", false}))
function Batch:check()
  count("BatchSampler", "batch_size", self.batch_size, 1)
  samplers._check("BatchSampler", self.sampler)
end
function Batch:size()
  local batches = #self.sampler / self.batch_size
  return self.drop_last and math.floor(batches) or math.ceil(batches)
end
function Batch:batches(seed, pass)
  local order, list = samplers._order(self.sampler, seed, pass), {}
  for first = 1, #order, self.batch_size do
    local batch = table.move(order, first, math.min(first + self.batch_size - 1, #order), 1, {})
    if #batch == self.batch_size or not self.drop_last then list[#list + 1] = batch end
  end
  return list
end
Batch.indices = Batch.batches

-- Error unless a loader takes the value as a sampler.
function samplers._check(owner, sampler)
  local meta = getmetatable(sampler)
  local plain = is_tensor(sampler) or type(sampler) == "table" and meta == nil and type(sampler.indices) ~= "function"
  if plain then return integers(owner, "index", sampler, 0) end
  if type(sampler) ~= "table" or type(sampler.indices) ~= "function" then
    fail(("%s: sampler is a sampler of lg.data, a list of indices from 0, or an object with indices(seed, pass) (got %s)")
      :format(owner, type(sampler)))
  end
  return sampler
end

-- The order of a pass as a list.
function samplers._order(sampler, seed, pass)
  if type(sampler) == "table" and type(sampler.indices) == "function" then
    return integers("DataLoader", "index of the sampler", sampler:indices(seed, pass), 0)
  end
  return integers("DataLoader", "index of the sampler", sampler, 0)
end

return samplers
