-- DataLoader(set, {batch_size, shuffle, drop_last, seed, workers, prefetch_factor, sampler, batch_sampler,
-- collate_fn}): for x, y in loader do … end iterates once over the data set. The order of a pass, and the random
-- numbers of transforms, depend only on the seed and the number of the pass, not on the number of workers.
--
-- With workers, threads of the engine prepare batches ahead, up to prefetch_factor per worker. They run no Lua: a data
-- set, transform or collate_fn written in Lua cannot be used with workers.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local collate = require "lunagrad.data.collate"
local samplers = require "lunagrad.data.samplers"
local trackers = require "lunagrad.trackers"
local run = core.run
local reader = arguments.reader

local DataLoader = {__name = "DataLoader"}

-- ipairs(loader) is an error: it would find no items, and the loop would train on nothing.
function DataLoader:__index(key)
  if math.type(key) == "integer" then
    core._fail(("DataLoader: there is no batch [%d]; write: for x, y in loader do … end"):format(key))
  end
  return DataLoader[key]
end

function DataLoader.__pairs()
  core._fail("DataLoader: pairs gives no batches; write: for x, y in loader do … end")
end

local read = reader("DataLoader", "dataset", {"batch_size"}, {"shuffle", false}, {"drop_last", false}, {"seed"},
  {"workers"}, {"prefetch_factor", 2}, {"sampler"}, {"batch_sampler"}, {"collate_fn"}, {"num_workers"}, {"pin_memory"},
  {"persistent_workers"}, {"timeout"}, {"generator"}, {"worker_init_fn"}, {"multiprocessing_context"})

local function check_integer(name, value, least, most)
  if math.type(value) ~= "integer" or value < least or value > (most or value) then
    core._fail(("DataLoader: %s %s is not %s"):format(name, tostring(value),
      most and ("an integer from %d to %d"):format(least, most) or "a positive integer"))
  end
end

local function check_options(self)
  for _, name in ipairs {"worker_init_fn", "multiprocessing_context"} do
    if self[name] ~= nil then
      core._fail(("DataLoader: %s is not taken: workers are threads of the engine and run no Lua"):format(name))
    end
  end
  for _, name in ipairs {"pin_memory", "persistent_workers", "timeout", "generator"} do self[name] = nil end
  if self.num_workers ~= nil and self.workers ~= nil then core._fail("DataLoader: workers and num_workers are one option; give one") end
  self.workers, self.num_workers = self.workers or self.num_workers or 0, nil
  if self.collate_fn ~= nil and type(self.collate_fn) ~= "function" then
    core._fail(("DataLoader: collate_fn is a function of the list of samples (got %s)"):format(type(self.collate_fn)))
  end
  if self.batch_sampler ~= nil then
    if self.batch_size ~= nil or self.shuffle or self.sampler ~= nil or self.drop_last then
      core._fail("DataLoader: a batch_sampler makes the batches; leave out batch_size, shuffle, sampler and drop_last")
    end
    local list = arguments.is_plain(self.batch_sampler) and type(self.batch_sampler.batches) ~= "function"
    if not list and (type(self.batch_sampler) ~= "table" or type(self.batch_sampler.batches) ~= "function") then
      core._fail("DataLoader: batch_sampler is a list of lists of indices from 0, data.BatchSampler(…), or an object with "
        .. "batches(seed, pass) and a length")
    end
  elseif self.sampler ~= nil then
    if self.shuffle then core._fail("DataLoader: a sampler makes the order; leave out shuffle") end
    self.sampler = samplers._check("DataLoader", self.sampler)
  end
  self.batch_size = self.batch_size or 1
end

-- Error for a value that is no data set, and for one without a length, which would give no batches.
local function check_dataset(self)
  local set = self.dataset
  if core.is_tensor(set) then
    core._fail("DataLoader: a data set expected (got a tensor); data.TensorDataset(x) makes one of tensors")
  elseif type(set) ~= "table" then
    core._fail(("DataLoader: a data set expected (got %s)"):format(type(set)))
  end
  local meta = getmetatable(set)
  if rawget(set, "make") and set._iterable then
    for _, name in ipairs {"sampler", "batch_sampler"} do
      if self[name] ~= nil then core._fail(("DataLoader: an IterableDataset takes no %s; it makes its own order"):format(name)) end
    end
    if self.shuffle then core._fail("DataLoader: an IterableDataset takes no shuffle; it makes its own order") end
    self.iterable = true
  elseif meta and not meta.__len and rawlen(set) == 0 then
    core._fail("DataLoader: the data set has no length; its metatable needs __len, and __index for the samples set[1], set[2], …")
  end
end

-- Error unless workers can read the data set: they need its plan.
local function check_workers(self)
  local plan, why = nil, "it is made in Lua"
  if collate.method(self.dataset, "plan") then plan, why = self.dataset:plan() end
  if self.collate_fn then plan, why = nil, "its batches are made by collate_fn" end
  if self.batch_sampler then plan, why = nil, "its batches are made by batch_sampler" end
  if not plan then
    core._fail(("DataLoader: workers run no Lua, and cannot read this data set: %s"):format(why))
  end
end

local function new(...)
  local self = read(...)
  check_options(self)
  check_dataset(self)
  check_integer("batch_size", self.batch_size, 1)
  check_integer("workers", self.workers, 0, 64)
  check_integer("prefetch_factor", self.prefetch_factor, 1, 1000)
  if self.workers > 0 then check_workers(self) end
  self.seed = self.seed or core._new_seed()
  -- Number of passes started; number of the current pass, and of its batches already returned.
  self.begun, self.epoch, self.batch = 0, 0, 0
  -- The pass of each loop, by the first value of its last batch: two loops may use one loader at the same time.
  self.passes = setmetatable({}, {__mode = "k"})
  core._loaders_made = (core._loaders_made or 0) + 1
  self._number = core._loaders_made
  trackers.add(setmetatable(self, DataLoader))
  -- A run that continues from a keyframe restores the position. A loader of other data, in a changed script, starts
  -- from the beginning.
  local position = core._loader_positions and core._loader_positions[self._number]
  if position then pcall(self.load_state_dict, self, position) end
  return self
end

-- The number of samples of a pass.
local function samples_of(self) return self.sampler and #self.sampler or #self.dataset end

-- The number of batches.
function DataLoader:__len()
  if self.batch_sampler then return #self.batch_sampler end
  local count = samples_of(self) / self.batch_size
  return self.drop_last and math.floor(count) or math.ceil(count)
end

-- The loaders that were iterated: a checkpoint reports when it does not contain their position.
core._loaders = core._loaders or setmetatable({}, {__mode = "k"})

local function indices_tensor(list) return core.tensor(list, {dtype = "i64", device = "cpu"}) end

-- The order of a pass, as a tensor.
local function order_of(self, epoch)
  if self.sampler then return indices_tensor(samplers._order(self.sampler, self.seed, epoch)) end
  local total = #self.dataset
  return self.shuffle and core._permutation(total, self.seed, epoch) or core.arange(total, {device = "cpu"})
end

-- The part of a batch of `count` samples for rank `at` of `ranks`: the index of its first sample, from 0, and the
-- number of samples.
local function part_of(count, at, ranks)
  local each, more = count // ranks, count % ranks
  return at * each + math.min(at, more), each + (at < more and 1 or 0)
end

-- This rank's samples from an order of whole batches.
local function own_part(self, order, batches)
  local part, places = self.part, {}
  for batch = 0, batches - 1 do
    local first = batch * self.batch_size
    local start, count = part_of(math.min(self.batch_size, #order - first), part.rank, part.size)
    for i = 0, count - 1 do places[#places + 1] = first + start + i end
  end
  return order:index_select(1, indices_tensor(places))
end

-- loader:shard(): from now on each rank gets its part of every batch; batch_size counts the samples of all ranks
-- together. The samples of a batch and the random numbers of their transforms do not depend on the number of ranks.
function DataLoader:shard()
  local world = core._world
  local size = world.size()
  if self.iterable then core._fail("shard: an IterableDataset makes its own order; let it give every rank its samples") end
  if not self.batch_sampler then
    if self.batch_size % size ~= 0 then
      core._fail(("shard: batch_size %d is not a multiple of %d ranks; it counts the samples of all ranks together"):format(
        self.batch_size, size))
    end
    if samples_of(self) < size then
      core._fail(("shard: the dataset has %d samples for %d ranks; start at most as many ranks as samples"):format(samples_of(self), size))
    end
    local last = samples_of(self) % self.batch_size
    if not self.drop_last and last > 0 and last < size then
      core._fail(("shard: the last batch has %d samples for %d ranks; write drop_last = true"):format(last, size))
    end
  end
  local seed = core.tensor({self.seed}, {dtype = "i64", device = "cpu"})
  if world.is_open() then world.wait(world.broadcast_(seed, 0, "the loader's seed")) end
  self.seed, self.part = seed:item(), {rank = world.rank(), size = size}
  return self
end

-- Starts the next pass, or continues the pass that load_state_dict restored. The loader's position does not change
-- until the pass has returned a batch: a checkpoint before that must not count the pass as done.
function DataLoader:begin()
  core._loaders[self] = true
  local first = self.resume or 0
  self.begun = self.begun + 1
  self.resume = nil
  local pass = {epoch = self.begun, batch = first}
  if self.iterable then
    pass.iterator = self.dataset:iterate(pass.epoch)
    for _ = 1, first * self.batch_size do pass.iterator() end
    return pass
  elseif self.batch_sampler then
    local given = self.batch_sampler
    pass.batches = type(given.batches) == "function" and given:batches(self.seed, pass.epoch) or given
    pass.count = #pass.batches
    return pass
  end
  pass.order = order_of(self, pass.epoch)
  local count = #pass.order / self.batch_size
  pass.count = self.drop_last and math.floor(count) or math.ceil(count)
  pass.each = self.batch_size
  if self.part then
    pass.order, pass.each = own_part(self, pass.order, pass.count), self.batch_size // self.part.size
  end
  if self.workers > 0 then
    local plan, map = self.dataset:plan()
    pass.ahead = core._prefetch(plan, map and map:index_select(1, pass.order) or pass.order, self.seed, pass.epoch,
      pass.each, first, pass.count, self.workers, self.workers * self.prefetch_factor)
  end
  return pass
end

-- The next batch of samples from an iterator; nil at the end.
local function iterated(self, pass)
  local samples = {}
  while #samples < self.batch_size do
    local values = table.pack(pass.iterator())
    if values[1] == nil then break end
    values.n, samples[#samples + 1] = nil, #values == 1 and values[1] or values
  end
  if #samples == 0 or self.drop_last and #samples < self.batch_size then return nil end
  return samples
end

local function collected(self, samples)
  return table.pack((self.collate_fn or collate.default)(samples))
end

-- The values of the samples at an i64 tensor of indices from 0.
local function batch_at(self, indices, pass)
  local set = self.dataset
  if collate.method(set, "batch") and not self.collate_fn then return table.pack(set:batch(indices, self.seed, pass.epoch)) end
  local samples = {}
  for k, index in ipairs(indices:tolist()) do samples[k] = collate.sample(set, index + 1) end
  return collected(self, samples)
end

local function next_values(self, pass)
  if pass.iterator then
    local samples = iterated(self, pass)
    return samples and collected(self, samples)
  elseif pass.batch == pass.count then
    return nil
  elseif pass.ahead then
    local values = table.pack(core._prefetch_next(pass.ahead))
    return collate.method(self.dataset, "place") and table.pack(self.dataset:place(table.unpack(values, 1, values.n))) or values
  elseif pass.batches then
    local list = samplers._integers("DataLoader", "index of the batch_sampler", pass.batches[pass.batch + 1], 0)
    if self.part then
      local start, count = part_of(#list, self.part.rank, self.part.size)
      if count == 0 then core._fail(("shard: a batch has %d samples for %d ranks"):format(#list, self.part.size)) end
      list = table.move(list, start + 1, start + count, 1, {})
    end
    return batch_at(self, indices_tensor(list), pass)
  end
  local start = pass.batch * pass.each
  return batch_at(self, pass.order:narrow(1, start + 1, math.min(pass.each, #pass.order - start)), pass)
end

-- Shows the tensors of a batch to a viewer; the tensors of a table are sorted by name.
local function show(self, pass, values)
  local tensors = {}
  for i = 1, values.n do
    local value = values[i]
    if core.is_tensor(value) then
      tensors[#tensors + 1] = value
    elseif type(value) == "table" then
      local names = {}
      for name, item in pairs(value) do
        if core.is_tensor(item) then names[#names + 1] = name end
      end
      table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
      for _, name in ipairs(names) do tensors[#tensors + 1] = value[name] end
    end
  end
  run._give_batch(tostring(self), pass.epoch, pass.batch, pass.count or pass.batch, table.unpack(tensors))
end

function DataLoader:continue(pass)
  local values = next_values(self, pass)
  if not values then
    if pass.iterator then self.epoch, self.batch = pass.epoch, 0 end
    return nil
  elseif values[1] == nil then
    core._fail("DataLoader: collate_fn returned nothing; it returns the batch, as one value or several")
  end
  pass.batch = pass.batch + 1
  self.epoch, self.batch = pass.epoch, pass.batch
  self.passes[values[1]] = pass
  if run and run._wants_batch() then show(self, pass, values) end
  return table.unpack(values, 1, values.n)
end

-- The iterator function of `for`: called with nil first, then with the first value of the previous batch.
function DataLoader:__call(_, previous)
  if previous == nil then return self:continue(self:begin()) end
  local pass = self.passes[previous]
  self.passes[previous] = nil
  return self:continue(pass)
end

-- A function that returns the next batch at each call, and starts another pass when one ends.
function DataLoader:cycle()
  if not self.iterable and #self == 0 then core._fail("DataLoader: no batch to cycle through") end
  local pass = self:begin()
  return function()
    for _ = 1, 2 do
      local values = table.pack(self:continue(pass))
      if values[1] ~= nil then return table.unpack(values, 1, values.n) end
      pass = self:begin()
    end
    core._fail("DataLoader: no batch to cycle through")
  end
end

-- Whether a pass uses random numbers that depend on its number: in its order, or in the transform of the data set or of
-- a data set inside it.
local function draws(self)
  if self.shuffle or self.sampler or self.batch_sampler or self.iterable then return true end
  local set = self.dataset
  while type(set) == "table" do
    if rawget(set, "transform") then return true end
    set = rawget(set, "dataset")
  end
  return false
end

-- The position of the loader: after load_state_dict the next loop continues with the batch after the last one returned.
function DataLoader:state_dict()
  return {
    seed = self.seed, epoch = self.epoch, batch = self.batch, batch_size = self.batch_size,
    samples = self.iterable and 0 or #self.dataset,
  }
end

function DataLoader:load_state_dict(state)
  for name, own in pairs(self:state_dict()) do
    if math.type(state[name]) ~= "integer" then
      core._fail(("DataLoader: the state has no integer '%s'"):format(name))
    end
    if (name == "batch_size" or name == "samples") and state[name] ~= own then
      core._fail(("DataLoader: the state is one of %s %d, this loader has %d"):format(name, state[name], own))
    end
  end
  self.seed, self.epoch, self.batch = state.seed, state.epoch, state.batch
  -- Resume within the saved pass, or start the next one if it had ended.
  self.resume = state.batch > 0 and (self.iterable or state.batch < #self) and state.batch or nil
  self.begun = self.resume and state.epoch - 1 or state.epoch
end

-- Whether a checkpoint must contain the loader's position.
-- It need not if the loader is between two passes and all its passes are the same, as for a test set.
function DataLoader:_in_use()
  return core._loaders[self] ~= nil and (draws(self) or self.batch > 0 and self.batch < #self)
end

function DataLoader:__tostring()
  if self.iterable then return ("DataLoader(IterableDataset, batch_size = %d)"):format(self.batch_size) end
  local made = self.batch_sampler and "batch_sampler" or ("batch_size = %d"):format(self.batch_size)
  return ("DataLoader(%d samples, %s, %d batches%s%s%s)"):format(#self.dataset, made, #self,
    self.shuffle and ", shuffled" or "", self.sampler and ", sampled" or "",
    self.workers > 0 and (", %d workers"):format(self.workers) or "")
end

return new
