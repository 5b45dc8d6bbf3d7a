-- Data sets: things with a length and samples. `#set` is the number of samples, set[i] the i-th (from 1; several
-- values for several tensors), set:batch(indices) many at once, chosen by an i64 tensor that counts from 0.
local core = require "lunagrad.core"

local dataset = {}

local function define(name)
  local class = {__name = name}
  function class.__index(self, key)
    if type(key) == "number" then return class.sample(self, key) end
    return class[key]
  end
  function class.__tostring(self) return ("%s(%d samples)"):format(name, #self) end
  return class
end

-- Tensors whose first dims are equal: sample i is row i of each. The values of a table field cannot be several, so
-- set[i] is the list {x, y} and set:batch gives x, y.
local Tensors = define("TensorDataset")

function dataset.TensorDataset(...)
  local tensors = {...}
  if #tensors == 0 then core._fail("TensorDataset: at least one tensor expected") end
  for i, tensor in ipairs(tensors) do
    if not core.is_tensor(tensor) or tensor:dim() == 0 then
      core._fail(("TensorDataset: argument %d is not a tensor with a first dim"):format(i))
    end
    if #tensor ~= #tensors[1] then
      core._fail(("TensorDataset: tensor 1 has %d samples, tensor %d has %d"):format(#tensors[1], i, #tensor))
    end
  end
  return setmetatable({tensors = tensors}, Tensors)
end

function Tensors:__len() return #self.tensors[1] end

function Tensors:sample(i)
  local values = {}
  for k, tensor in ipairs(self.tensors) do values[k] = tensor[i] end
  return values
end

function Tensors:batch(indices)
  local values = {}
  for k, tensor in ipairs(self.tensors) do
    values[k] = tensor:index_select(1, indices:to(tensor:device()))
  end
  return table.unpack(values)
end

-- Some samples of another data set, by an i64 tensor of indices from 0.
local Subset = define("Subset")

function dataset.Subset(whole, indices)
  return setmetatable({dataset = whole, indices = indices}, Subset)
end

function Subset:__len() return #self.indices end

function Subset:sample(i)
  return self.dataset[self.indices[i]:item() + 1]
end

function Subset:batch(indices)
  return self.dataset:batch(self.indices:index_select(1, indices))
end

-- Parts of a data set without overlap, drawn at random: random_split(set, {0.8, 0.2}) or random_split(set, {1500, 297}).
-- The same seed gives the same parts.
function dataset.random_split(whole, lengths, options)
  local total, sum, sizes = #whole, 0, {}
  for _, length in ipairs(lengths) do sum = sum + length end
  if math.abs(sum - 1) < 1e-6 and total ~= 1 then
    local taken = 0
    for i, fraction in ipairs(lengths) do
      sizes[i] = math.floor(total * fraction + 1e-9)
      taken = taken + sizes[i]
    end
    -- What rounding down leaves over goes to the first parts, one each.
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
