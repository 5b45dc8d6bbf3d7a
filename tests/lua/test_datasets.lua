-- lg.data: samplers, combined data sets, and how samples become batches.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local data = lg.data

local function numbers(n) return data.TensorDataset(lg.arange(n)) end
local function all(loader)
  local list = {}
  for x in loader do list[#list + 1] = x:tolist() end
  return list
end
local function sorted(list)
  local copy = table.move(list, 1, #list, 1, {})
  table.sort(copy)
  return copy
end
local function flat(lists)
  local list = {}
  for _, part in ipairs(lists) do table.move(part, 1, #part, #list + 1, list) end
  return list
end
local function made(sample, n) return setmetatable({}, {__len = function() return n end, __index = sample}) end

-- Samples with names, lists, single values, texts and booleans.
do
  local named = made(function(_, i) return {x = lg.full({2}, i), y = i, name = "s" .. i, ok = i > 1} end, 3)
  local batches = {}
  for batch in data.DataLoader(named, {batch_size = 2}) do batches[#batches + 1] = batch end
  assert(#batches == 2)
  expect.equal(batches[1].x:size(), {2, 2})
  expect.equal(batches[1].y:tolist(), {1, 2})
  expect.equal(batches[1].name, {"s1", "s2"})
  expect.equal(batches[2].ok:tolist(), {true})
  for a, b in data.DataLoader(made(function(_, i) return {i, {inner = lg.ones(1) * i}} end, 2), {batch_size = 2}) do
    expect.equal(a:tolist(), {1, 2})
    expect.equal(b.inner:tolist(), {{1.0}, {2.0}})
  end
  -- A plain list of samples is a data set, and a data set whose __index fails for names works too.
  expect.equal(all(data.DataLoader({5, 6, 7}, {batch_size = 2})), {{5, 6}, {7}})
  local rows = lg.arange(4)
  expect.equal(all(data.DataLoader(made(function(_, i) return rows[i] end, 4), 4)), {{0, 1, 2, 3}})
end

-- Mistakes in samples say what to return.
local function first(set, options)
  for _ in data.DataLoader(set, options or {batch_size = 2}) do return end
end
expect.raises("__index of the data set returns 2 values, and Lua keeps the first of set[1]; return one table", function()
  first(made(function() return lg.ones(1), 3 end, 2))
end)
expect.raises("DataLoader: set[1] is nil, and #set is 2; samples count from 1", function() first(made(function() end, 2)) end)
expect.raises("the sample.y is a string in sample 2 of the batch and a integer in the first", function()
  first(made(function(_, i) return {y = i == 1 and 1 or "two"} end, 2))
end)
expect.raises("the sample has no y in sample 2 of the batch, but in the first", function()
  first(made(function(_, i) return i == 1 and {x = 1, y = 2} or {x = 1} end, 2))
end)
expect.raises("the sample has shape [2] in sample 2 of the batch and [1] in the first; nn.utils.rnn.pad_sequence", function()
  first(made(function(_, i) return lg.ones(i) end, 2))
end)
expect.raises("the sample is a function; tensors, numbers, booleans, texts and tables", function()
  first(made(function() return print end, 2))
end)
expect.raises("DataLoader: the data set has no length; its metatable needs __len", function()
  data.DataLoader(setmetatable({}, {__index = function() return 1 end}))
end)
expect.raises("DataLoader: a data set expected (got number)", function() data.DataLoader(3) end)

-- collate_fn gets the list of samples and makes the batch.
do
  local set = made(function(_, i) return {lg.ones(i), i} end, 3)
  local function collate(samples)
    local xs, lengths = {}, {}
    for i, sample in ipairs(samples) do xs[i], lengths[i] = sample[1], sample[2] end
    return lg.nn.utils.rnn.pad_sequence(xs, {batch_first = true}), lengths
  end
  for x, lengths in data.DataLoader(set, {batch_size = 3, collate_fn = collate}) do
    expect.equal(x:size(), {3, 3})
    expect.equal(lengths, {1, 2, 3})
  end
  expect.equal(all(data.DataLoader(numbers(4), {batch_size = 2, collate_fn = function(samples)
    return samples[1][1] + samples[2][1]
  end})), {1, 5})
  expect.raises("collate_fn returned nothing", function() first(numbers(2), {collate_fn = function() end}) end)
  expect.raises("DataLoader: collate_fn is a function of the list of samples (got number)", function()
    first(numbers(2), {collate_fn = 3})
  end)
  expect.raises("workers run no Lua, and cannot read this data set: its batches are made by collate_fn", function()
    first(numbers(2), {collate_fn = print, workers = 1})
  end)
end

-- Samplers: the order of a pass depends on the seed and the pass.
do
  local set = numbers(6)
  local function order(sampler, options)
    options = options or {}
    options.sampler, options.batch_size, options.seed = sampler, 6, 3
    return flat(all(data.DataLoader(set, options)))
  end
  expect.equal(order(data.SequentialSampler(set)), {0, 1, 2, 3, 4, 5})
  expect.equal(order {4, 0, 4}, {4, 0, 4})
  expect.equal(order(lg.tensor {1, 5}), {1, 5})
  local random = order(data.RandomSampler(set))
  expect.equal(sorted(random), {0, 1, 2, 3, 4, 5})
  expect.equal(order(data.RandomSampler(set)), random)
  local loader = data.DataLoader(set, {batch_size = 6, sampler = data.RandomSampler(set), seed = 3})
  expect.equal(flat(all(loader)), random)
  assert(table.concat(flat(all(loader))) ~= table.concat(random), "the second pass has another order")
  assert(#data.DataLoader(set, {sampler = data.RandomSampler(set, {num_samples = 9}), batch_size = 2}) == 5)
  local many = order(data.RandomSampler(set, {num_samples = 9}))
  assert(#many == 9)
  for _, value in ipairs(order(data.RandomSampler(set, true, 50))) do assert(value >= 0 and value < 6) end
  expect.equal(sorted(order(data.SubsetRandomSampler {5, 1, 3})), {1, 3, 5})
  -- Weights: an index of weight 0 never comes, others in proportion.
  local counts = {0, 0, 0, 0, 0, 0}
  for _, value in ipairs(order(data.WeightedRandomSampler({0, 1, 0, 3, 0, 0}, 4000))) do counts[value + 1] = counts[value + 1] + 1 end
  assert(counts[1] + counts[3] + counts[5] + counts[6] == 0 and math.abs(counts[4] - 3000) < 150)
  expect.equal(sorted(order(data.WeightedRandomSampler({1, 2, 0, 1}, 3, false))), {0, 1, 3})
  -- Workers follow a sampler as well.
  expect.equal(order(data.RandomSampler(set), {workers = 2}), random)
  expect.equal(order {2, 1}, order({2, 1}, {num_workers = 1}))
  -- One may loop over a sampler itself.
  local seen = {}
  for i in data.SequentialSampler(set) do seen[#seen + 1] = i end
  expect.equal(seen, {0, 1, 2, 3, 4, 5})
  -- A user-defined sampler.
  expect.equal(order(setmetatable({indices = function(_, _, pass) return {pass, 0} end}, {__len = function() return 2 end})), {1, 0})
end

-- User-defined batches, and BatchSampler.
do
  local set = numbers(5)
  expect.equal(all(data.DataLoader(set, {batch_sampler = {{4, 0}, {1}}})), {{4, 0}, {1}})
  local batches = data.BatchSampler(data.SequentialSampler(set), 2, {drop_last = true})
  assert(#batches == 2 and #data.BatchSampler({0, 1, 2}, 2) == 2)
  expect.equal(all(data.DataLoader(set, {batch_sampler = batches})), {{0, 1}, {2, 3}})
  expect.raises("a batch_sampler makes the batches; leave out batch_size, shuffle, sampler and drop_last", function()
    data.DataLoader(set, {batch_sampler = batches, shuffle = true})
  end)
  expect.raises("a sampler makes the order; leave out shuffle", function()
    data.DataLoader(set, {sampler = {0}, shuffle = true})
  end)
  expect.raises("DataLoader: index 2 is -1, not an integer from 0", function() data.DataLoader(set, {sampler = {0, -1}}) end)
  expect.raises("sampler is a sampler of lg.data, a list of indices from 0", function() data.DataLoader(set, {sampler = 3}) end)
end

-- The parts of several processes cover the data set, with as many samples each.
do
  local set, seen = numbers(7), {}
  for rank = 0, 2 do
    local sampler = data.DistributedSampler(set, {num_replicas = 3, rank = rank})
    assert(#sampler == 3)
    table.move(flat(all(data.DataLoader(set, {sampler = sampler, batch_size = 2}))), 1, 3, #seen + 1, seen)
  end
  local distinct = {}
  for _, value in ipairs(seen) do distinct[value] = true end
  for value = 0, 6 do assert(distinct[value]) end
  local sampler = data.DistributedSampler(set, {num_replicas = 2, rank = 1, shuffle = false, drop_last = true})
  expect.equal(sampler:indices(), {1, 3, 5})
  sampler = data.DistributedSampler(set, {num_replicas = 1, rank = 0})
  local before = table.concat(sampler:indices())
  sampler:set_epoch(1)
  assert(table.concat(sampler:indices()) ~= before)
  expect.raises("DistributedSampler: rank 2 is out of range for 2 processes", function()
    data.DistributedSampler(set, {num_replicas = 2, rank = 2})
  end)
  expect.raises("write {num_replicas = …, rank = …}", function() data.DistributedSampler(set) end)
end
expect.raises("WeightedRandomSampler: weight 2 is -1, not a number of 0 or more", function()
  data.WeightedRandomSampler({1, -1}, 2)
end)
expect.raises("3 samples without replacement of 2 weights above 0", function()
  data.WeightedRandomSampler({1, 1, 0}, 3, {replacement = false})
end)
expect.raises("RandomSampler: a data set with a length expected (got number)", function() data.RandomSampler(3) end)

-- Data sets made of others.
do
  local both = data.ConcatDataset {numbers(2), data.TensorDataset(lg.arange(10, 13))}
  assert(#both == 5 and tostring(both) == "ConcatDataset(5 samples)")
  expect.equal(all(data.DataLoader(both, 5)), {{0, 1, 10, 11, 12}})
  expect.raises("ConcatDataset: there is no sample 6 of 5", function() return both[6] end)
  expect.equal(all(data.DataLoader(data.Subset(both, {4, 0}), 2)), {{12, 0}})
  expect.equal(all(data.DataLoader(data.Subset(numbers(5), {4, 0}), {batch_size = 2, workers = 1})), {{4, 0}})
  expect.raises("Subset: index 5 is out of range for 5 samples", function() data.Subset(both, {5}) end)
  expect.raises("Subset: a list or a tensor of indices from 0 expected", function() data.Subset(both, 3) end)
  local named = data.StackDataset {x = numbers(3), y = {"a", "b", "c"}}
  for batch in data.DataLoader(named, 3) do
    expect.equal(batch.x:tolist(), {0, 1, 2})
    expect.equal(batch.y, {"a", "b", "c"})
  end
  for a, b in data.DataLoader(data.StackDataset {numbers(2), numbers(2)}, 2) do assert(a:equal(b)) end
  expect.raises("StackDataset: '1' has 2 samples, '2' has 3", function() data.StackDataset {numbers(2), numbers(3)} end)
  expect.raises("ConcatDataset: entry 1 is a number, not a data set with a length", function() data.ConcatDataset {3} end)
end

-- Iterators: batches until they end, several values each, resumed in the middle.
do
  local function count(n)
    return data.IterableDataset(function(pass)
      local i = 0
      return function()
        i = i + 1
        if i <= n then return i, pass end
      end
    end)
  end
  local loader, seen = data.DataLoader(count(5), {batch_size = 2}), {}
  for x, pass in loader do
    seen[#seen + 1] = x:tolist()
    assert(pass[1]:item() == 1)
  end
  expect.equal(seen, {{1, 2}, {3, 4}, {5}})
  for _, pass in loader do assert(pass[1]:item() == 2) end
  expect.equal(all(data.DataLoader(count(5), {batch_size = 2, drop_last = true})), {{1, 2}, {3, 4}})
  expect.equal(all(data.DataLoader(data.ChainDataset {count(1), count(2)}, 3)), {{1, 1, 2}})
  local second = data.DataLoader(count(5), {batch_size = 2})
  for _ in second do break end
  local third = data.DataLoader(count(5), {batch_size = 2})
  third:load_state_dict(second:state_dict())
  expect.equal(all(third), {{3, 4}, {5}})
  local step = data.DataLoader(count(3), 2):cycle()
  for _, wanted in ipairs {{1, 2}, {3}, {1, 2}} do expect.equal((step()):tolist(), wanted) end
  expect.raises("IterableDataset: it has no length", function() return #loader end)
  expect.raises("an IterableDataset takes no shuffle", function() data.DataLoader(count(1), {shuffle = true}) end)
  expect.raises("ChainDataset: entry 1 is no IterableDataset; ConcatDataset joins", function() data.ChainDataset {numbers(1)} end)
  expect.raises("IterableDataset: a function that returns an iterator expected", function() data.IterableDataset {1} end)
end

-- PyTorch's options without meaning here are taken; those that need Lua in workers say why.
assert(#data.DataLoader(numbers(2), {pin_memory = true, persistent_workers = true, timeout = 3, generator = 1}) == 2)
expect.raises("worker_init_fn is not taken: workers are threads of the engine and run no Lua", function()
  data.DataLoader(numbers(2), {worker_init_fn = print})
end)
expect.raises("workers and num_workers are one option; give one", function()
  data.DataLoader(numbers(2), {workers = 1, num_workers = 1})
end)
