-- DataLoader(set, {batch_size, shuffle, drop_last, seed}): for x, y in loader do … end goes once through the data set.
-- The order of a pass follows from the seed and the number of the pass alone.
local core = require "lunagrad.core"
local reader = require("lunagrad.arguments").reader

local DataLoader = {__name = "DataLoader"}
DataLoader.__index = DataLoader

local read = reader("DataLoader", "dataset", {"batch_size", 1}, {"shuffle", false}, {"drop_last", false}, {"seed"})

local function new(...)
  local self = read(...)
  if math.type(self.batch_size) ~= "integer" or self.batch_size < 1 then
    core._fail(("DataLoader: batch_size %s is not a positive integer"):format(tostring(self.batch_size)))
  end
  self.seed = self.seed or core._new_seed()
  self.epoch = 0
  -- The pass that goes on from a batch, by that batch's first value: two loops may run through one loader at a time.
  self.passes = setmetatable({}, {__mode = "k"})
  return setmetatable(self, DataLoader)
end

-- The number of batches.
function DataLoader:__len()
  local count = #self.dataset / self.batch_size
  return self.drop_last and math.floor(count) or math.ceil(count)
end

-- Samples one by one: for data sets that cannot give a batch at once.
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

function DataLoader:begin()
  local total = #self.dataset
  self.epoch = self.epoch + 1
  local order = self.shuffle and core._permutation(total, self.seed, self.epoch) or core.arange(total, {device = "cpu"})
  return {order = order, batch = 0}
end

function DataLoader:continue(pass)
  if pass.batch == #self then return nil end
  local start = pass.batch * self.batch_size
  local size = math.min(self.batch_size, #self.dataset - start)
  pass.batch = pass.batch + 1
  local indices = pass.order:narrow(1, start + 1, size)
  local values
  if self.dataset.batch then
    values = table.pack(self.dataset:batch(indices))
  else
    values = table.pack(stack(self.dataset, indices))
  end
  self.passes[values[1]] = pass
  return table.unpack(values, 1, values.n)
end

-- What `for` calls: with nil at first, then with the first value of the batch before.
function DataLoader:__call(_, previous)
  if previous == nil then return self:continue(self:begin()) end
  local pass = self.passes[previous]
  self.passes[previous] = nil
  return self:continue(pass)
end

-- A function that gives the next batch at each call, pass after pass without end.
function DataLoader:cycle()
  if #self == 0 then core._fail("DataLoader: no batch to cycle through") end
  local pass = self:begin()
  return function()
    if pass.batch == #self then pass = self:begin() end
    return self:continue(pass)
  end
end

function DataLoader:__tostring()
  return ("DataLoader(%d samples, batch_size = %d, %d batches%s)"):format(
    #self.dataset, self.batch_size, #self, self.shuffle and ", shuffled" or "")
end

return new
