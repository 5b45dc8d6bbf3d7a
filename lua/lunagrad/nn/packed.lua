-- PackedSequence: sequences of different lengths without padding, in PyTorch's layout. `data` [sum of lengths, …] holds
-- the first elements of all sequences, then the second elements, …, the longest sequence first; batch_sizes[t] is the
-- number of sequences that are longer than t - 1. sorted_indices gives the index in the batch of each sequence in
-- `data`, unsorted_indices is the inverse; both are i64 from 0, on the device of the data.
local core = require "lunagrad.core"

local fail, is_tensor = core._fail, core.is_tensor

local Packed = {__name = "PackedSequence"}
Packed.__index = Packed

local packed = {}

function packed.is_packed(value) return getmetatable(value) == Packed end

function packed.new(data, batch_sizes, sorted_indices, unsorted_indices)
  return setmetatable({
    data = data, batch_sizes = batch_sizes, sorted_indices = sorted_indices, unsorted_indices = unsorted_indices,
  }, Packed)
end

-- The same sequences with other data.
function packed.with(self, data)
  return packed.new(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)
end

for _, name in ipairs {"to", "cpu", "float", "double", "half", "bfloat16", "long", "int"} do
  Packed[name] = function(self, ...)
    local data = self.data[name](self.data, ...)
    return packed.new(data, self.batch_sizes, self.sorted_indices and self.sorted_indices:to(data:device()),
      self.unsorted_indices and self.unsorted_indices:to(data:device()))
  end
end

function Packed:device() return self.data:device() end
function Packed:dtype() return self.data:dtype() end
function Packed:__tostring()
  local sizes = self.batch_sizes:tolist()
  return ("PackedSequence(%d sequences, up to %d elements, data [%s])"):format(sizes[1], #sizes,
    table.concat(self.data:size(), ", "))
end

-- The lengths of the sequences in the order of the data.
function packed.lengths(self)
  local sizes = self.batch_sizes:tolist()
  local lengths = {}
  for i = 1, sizes[1] do lengths[i] = 0 end
  for _, size in ipairs(sizes) do
    for i = 1, size do lengths[i] = lengths[i] + 1 end
  end
  return lengths
end

-- The number of sequences that have an element at each step; `lengths` descend.
function packed.sizes_of(lengths)
  local sizes, n = {}, #lengths
  for t = 1, lengths[1] do
    while lengths[n] < t do n = n - 1 end
    sizes[t] = n
  end
  return sizes
end

-- A list of lengths from a list or a tensor of integers, each from 1 to `most`.
function packed.check_lengths(owner, lengths, count, most)
  if is_tensor(lengths) then
    if lengths:dim() ~= 1 then fail(("%s: lengths is a list (got shape [%s])"):format(owner, table.concat(lengths:size(), ", "))) end
    lengths = lengths:tolist()
  end
  if type(lengths) ~= "table" then fail(("%s: lengths is a list of integers (got %s)"):format(owner, type(lengths))) end
  if #lengths ~= count then
    fail(("%s: %d lengths for %d sequences; with {batch_first = true} dim 1 is the batch, else dim 2"):format(
      owner, #lengths, count))
  end
  local list = {}
  for i, length in ipairs(lengths) do
    local whole = math.tointeger(length)
    if not whole or whole < 1 or whole > most then
      fail(("%s: length %d is %s; an integer from 1 to %d expected"):format(owner, i, tostring(length), most))
    end
    list[i] = whole
  end
  return list
end

return packed
