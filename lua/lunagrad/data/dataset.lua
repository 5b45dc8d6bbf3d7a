-- Data sets. `#set` is the number of samples, set[i] sample i (from 1; a list if a sample has several values), and
-- set:batch(indices) the samples at an i64 tensor of indices from 0. A data set that the engine can read without Lua also
-- has set:plan(), which a loader's workers need.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local collate = require "lunagrad.data.collate"
local transform = require "lunagrad.data.transform"

local dataset = {}

-- Makes a class of data sets: fields are methods, integer positions are samples.
function dataset.class(name)
  local class = {__name = name}
  function class.__index(self, key)
    if type(key) == "number" then
      local n = #self
      if math.type(key) ~= "integer" or key < 1 or key > n then
        core._fail(("%s: there is no sample %s of %d; samples count from 1"):format(name, tostring(key), n))
      end
      return class.sample(self, key)
    end
    return class[key]
  end
  function class.__tostring(self) return ("%s(%d samples)"):format(name, #self) end
  return class
end

-- The values of a sample as a list, from a batch of one.
function dataset.first_of(...)
  local values = table.pack(...)
  for k = 1, values.n do values[k] = values[k]:select(1, 1) end
  values.n = nil
  return values
end

-- The batch at `indices`. Without a seed for the plan's random steps, the generator gives one.
function dataset.batch_of(plan, indices, seed, pass)
  return core._plan_batch(plan, indices, seed or core._new_seed(), pass or 0)
end

-- Checks a transform: a transform of lg.data or a function of a sample's first value.
function dataset.check_transform(owner, value)
  if value ~= nil and not transform.is_transform(value) and type(value) ~= "function" then
    core._fail(("%s: transform is one of lg.data.transform or a function"):format(owner))
  end
  return value
end

-- TensorDataset(a, b, …): tensors with equal first dims; sample i is row i of each. The option `transform` applies to the
-- first tensor. set[i] is the list {x, y}, since indexing gives one value; set:batch returns x, y.
local Tensors = dataset.class("TensorDataset")

function dataset.TensorDataset(...)
  local tensors, options = {...}, {}
  local last = tensors[#tensors]
  if arguments.holds_options(last) then
    options = table.remove(tensors)
  end
  for name in pairs(options) do
    if name ~= "transform" then
      core._fail(("TensorDataset: unknown option '%s' (known: transform)"):format(tostring(name)))
    end
  end
  if #tensors == 0 then core._fail("TensorDataset: at least one tensor expected") end
  for i, tensor in ipairs(tensors) do
    if not core.is_tensor(tensor) or tensor:dim() == 0 then
      core._fail(("TensorDataset: argument %d is not a tensor with a first dim"):format(i))
    end
    if #tensor ~= #tensors[1] then
      core._fail(("TensorDataset: tensor 1 has %d samples, tensor %d has %d"):format(#tensors[1], i, #tensor))
    end
  end
  return setmetatable({tensors = tensors, transform = dataset.check_transform("TensorDataset", options.transform)},
    Tensors)
end

function Tensors:__len() return #self.tensors[1] end

function Tensors:sample(i)
  local values = {}
  for k, tensor in ipairs(self.tensors) do values[k] = tensor[i] end
  if self.transform then values[1] = self.transform(values[1]) end
  return values
end

-- The engine's threads read memory of the CPU. Tensors of a GPU are copied to the CPU, again only after a write, and
-- place() moves batches back.
function Tensors:plan()
  local why = transform.needs_lua(self.transform)
  if why then return nil, why end
  local columns = {}
  self.read = self.read or {}
  for k, tensor in ipairs(self.tensors) do
    local copy = self.read[k]
    if tensor:device() ~= "cpu" and (not copy or copy.version ~= tensor:version()) then
      copy = {version = tensor:version(), rows = tensor:detach():cpu()}
      self.read[k] = copy
    end
    columns[k] = {rows = tensor:device() ~= "cpu" and copy.rows or tensor}
  end
  return core._data_plan(#self, columns, self.transform and self.transform.steps or {})
end

-- The values of a batch on the devices of the tensors.
function Tensors:place(...)
  local values = table.pack(...)
  for k, tensor in ipairs(self.tensors) do values[k] = values[k]:to(tensor:device()) end
  return table.unpack(values, 1, values.n)
end

function Tensors:batch(indices, seed, pass)
  if transform.is_transform(self.transform) then
    if not transform.needs_lua(self.transform) then return self:place(dataset.batch_of(self:plan(), indices, seed, pass)) end
    local values, list = {}, indices:tolist()
    for k, tensor in ipairs(self.tensors) do values[k] = tensor:index_select(1, indices:to(tensor:device())) end
    values[1] = self.transform:each(values[1], list, seed or core._new_seed(), pass or 0)
    return table.unpack(values)
  end
  local values = {}
  for k, tensor in ipairs(self.tensors) do
    values[k] = tensor:index_select(1, indices:to(tensor:device()))
  end
  if self.transform then
    local images = {}
    for i = 1, #values[1] do images[i] = self.transform(values[1][i]) end
    values[1] = core.stack(images)
  end
  return table.unpack(values)
end

-- The samples of another data set at an i64 tensor of indices from 0.
local Subset = dataset.class("Subset")

function dataset.Subset(whole, indices)
  if type(indices) == "table" then
    for i, index in ipairs(indices) do
      if not math.tointeger(index) then
        core._fail(("Subset: index %d is %s, not an integer from 0"):format(i, tostring(index)))
      end
    end
    indices = core.tensor(indices, {dtype = "i64", device = "cpu"})
  elseif not core.is_tensor(indices) or indices:dim() ~= 1 then
    core._fail(("Subset: a list or a tensor of indices from 0 expected (got %s)"):format(type(indices)))
  end
  indices = indices:long():cpu()
  if #indices > 0 then
    local least, most = indices:min():item(), indices:max():item()
    if least < 0 or most >= #whole then
      core._fail(("Subset: index %d is out of range for %d samples"):format(least < 0 and least or most, #whole))
    end
  end
  return setmetatable({dataset = whole, indices = indices}, Subset)
end

function Subset:__len() return #self.indices end

function Subset:sample(i)
  return collate.sample(self.dataset, self.indices[i]:item() + 1)
end

-- The plan of the whole data set, and the indices of these samples.
function Subset:plan()
  if not collate.method(self.dataset, "plan") then return nil, "it is made in Lua" end
  local plan, map = self.dataset:plan()
  if not plan then return nil, map end
  return plan, map and map:index_select(1, self.indices) or self.indices
end

function Subset:place(...)
  if collate.method(self.dataset, "place") then return self.dataset:place(...) end
  return ...
end

function Subset:batch(indices, seed, pass)
  indices = self.indices:index_select(1, indices:cpu())
  if collate.method(self.dataset, "batch") then return self.dataset:batch(indices, seed, pass) end
  local samples = {}
  for k, index in ipairs(indices:tolist()) do samples[k] = collate.sample(self.dataset, index + 1) end
  return collate.default(samples)
end

-- Splits a data set at random into disjoint parts: random_split(set, {0.8, 0.2}) or random_split(set, {1500, 297}). The
-- same seed gives the same parts.
function dataset.random_split(whole, lengths, options)
  local total, sum, sizes = #whole, 0, {}
  for _, length in ipairs(lengths) do sum = sum + length end
  if math.abs(sum - 1) < 1e-6 and total ~= 1 then
    local taken = 0
    for i, fraction in ipairs(lengths) do
      sizes[i] = math.floor(total * fraction + 1e-9)
      taken = taken + sizes[i]
    end
    -- Distribute the samples left over by rounding down: one to each of the first parts.
    for i = 1, total - taken do sizes[i] = sizes[i] + 1 end
  elseif sum == total then
    for i, length in ipairs(lengths) do sizes[i] = math.tointeger(length) end
  else
    core._fail(("random_split: lengths add up to %s; %d samples (or fractions of 1) expected"):format(sum, total))
  end
  local order = core._permutation(total, options and options.seed or core._new_seed(), 0)
  local parts, start = {}, 1
  for i, size in ipairs(sizes) do
    parts[i] = dataset.Subset(whole, order:narrow(1, start, size))
    start = start + size
  end
  return table.unpack(parts)
end

return dataset
