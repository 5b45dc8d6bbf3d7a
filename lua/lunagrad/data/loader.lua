-- DataLoader(set, {batch_size, shuffle, drop_last, seed, workers, prefetch_factor}): for x, y in loader do … end iterates
-- once over the data set. The order of a pass, and the random numbers of transforms, depend on the seed and the number of the
-- pass alone, not on the number of workers.
--
-- With workers, threads of the engine prepare batches ahead, up to prefetch_factor per worker. They run no Lua: a data set
-- or transform written in Lua cannot be used with workers.
local core = require "lunagrad.core"
local run = core.run
local reader = require("lunagrad.arguments").reader

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

local read = reader("DataLoader", "dataset", {"batch_size", 1}, {"shuffle", false}, {"drop_last", false}, {"seed"},
  {"workers", 0}, {"prefetch_factor", 2})

local function check_integer(name, value, least, most)
  if math.type(value) ~= "integer" or value < least or value > (most or value) then
    core._fail(("DataLoader: %s %s is not %s"):format(name, tostring(value),
      most and ("an integer from %d to %d"):format(least, most) or "a positive integer"))
  end
end

local function new(...)
  local self = read(...)
  if core.is_tensor(self.dataset) then
    core._fail("DataLoader: a data set expected (got a tensor); data.TensorDataset(x) makes one of tensors")
  end
  check_integer("batch_size", self.batch_size, 1)
  check_integer("workers", self.workers, 0, 64)
  check_integer("prefetch_factor", self.prefetch_factor, 1, 1000)
  if self.workers > 0 then
    local plan, why = nil, "it is made in Lua"
    if self.dataset.plan then plan, why = self.dataset:plan() end
    if not plan then
      core._fail(("DataLoader: workers run no Lua, and cannot read this data set: %s"):format(why))
    end
  end
  self.seed = self.seed or core._new_seed()
  -- Number of passes started; number of the current pass, and of its batches already returned.
  self.begun, self.epoch, self.batch = 0, 0, 0
  -- The pass of each loop, by the first value of its last batch: two loops may use one loader at the same time.
  self.passes = setmetatable({}, {__mode = "k"})
  return setmetatable(self, DataLoader)
end

-- The number of batches.
function DataLoader:__len()
  local count = #self.dataset / self.batch_size
  return self.drop_last and math.floor(count) or math.ceil(count)
end

-- The loaders that were iterated: a checkpoint says when it lacks the position of one.
core._loaders = core._loaders or setmetatable({}, {__mode = "k"})

-- Collects a batch sample by sample, for data sets without batch().
local function stack(dataset, indices)
  local columns = {}
  for k, index in ipairs(indices:tolist()) do
    local sample = dataset[index + 1]
    if core.is_tensor(sample) or type(sample) == "number" then sample = {sample} end
    for c, value in ipairs(sample) do
      columns[c] = columns[c] or {}
      columns[c][k] = core.is_tensor(value) and value or core.tensor(value)
    end
  end
  for c, column in ipairs(columns) do columns[c] = core.stack(column) end
  return table.unpack(columns)
end

-- Starts the next pass, or continues the one that load_state_dict restored.
function DataLoader:begin()
  core._loaders[self] = true
  local total, first = #self.dataset, self.resume or 0
  self.begun = self.begun + 1
  self.resume, self.epoch, self.batch = nil, self.begun, first
  local order = self.shuffle and core._permutation(total, self.seed, self.epoch) or core.arange(total, {device = "cpu"})
  local pass = {order = order, epoch = self.epoch, batch = first}
  if self.workers > 0 then
    local plan, map = self.dataset:plan()
    pass.ahead = core._prefetch(plan, map and map:index_select(1, order) or order, self.seed, self.epoch,
      self.batch_size, first, #self, self.workers, self.workers * self.prefetch_factor)
  end
  return pass
end

function DataLoader:continue(pass)
  if pass.batch == #self then return nil end
  local start = pass.batch * self.batch_size
  local values
  if pass.ahead then
    values = table.pack(core._prefetch_next(pass.ahead))
  else
    local indices = pass.order:narrow(1, start + 1, math.min(self.batch_size, #self.dataset - start))
    if self.dataset.batch then
      values = table.pack(self.dataset:batch(indices, self.seed, pass.epoch))
    else
      values = table.pack(stack(self.dataset, indices))
    end
  end
  pass.batch = pass.batch + 1
  self.epoch, self.batch = pass.epoch, pass.batch
  self.passes[values[1]] = pass
  if run and run._wants_batch() then  -- a viewer shows the data
    run._give_batch(tostring(self), pass.epoch, pass.batch, #self, table.unpack(values, 1, values.n))
  end
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
  if #self == 0 then core._fail("DataLoader: no batch to cycle through") end
  local pass = self:begin()
  return function()
    if pass.batch == #self then pass = self:begin() end
    return self:continue(pass)
  end
end

-- The position of the loader: after load_state_dict the next loop continues with the batch after the last one returned.
function DataLoader:state_dict()
  return {
    seed = self.seed, epoch = self.epoch, batch = self.batch, batch_size = self.batch_size, samples = #self.dataset,
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
  self.resume = state.batch > 0 and state.batch < #self and state.batch or nil
  self.begun = self.resume and state.epoch - 1 or state.epoch
end

function DataLoader:__tostring()
  return ("DataLoader(%d samples, batch_size = %d, %d batches%s%s)"):format(
    #self.dataset, self.batch_size, #self, self.shuffle and ", shuffled" or "",
    self.workers > 0 and (", %d workers"):format(self.workers) or "")
end

return new
