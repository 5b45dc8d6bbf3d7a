-- nn.utils.rnn: sequences of different lengths, padded to one tensor or packed.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local packed = require "lunagrad.nn.packed"

local fail, is_tensor, reader = core._fail, core.is_tensor, arguments.reader
local rnn = {}

local function check_sequences(owner, sequences)
  if not arguments.is_plain(sequences) or #sequences == 0 then
    fail(("%s: a list of tensors [length, …] expected (got %s)"):format(owner,
      is_tensor(sequences) and "a tensor" or type(sequences) == "table" and "an empty list" or type(sequences)))
  end
  for i, one in ipairs(sequences) do
    if not is_tensor(one) or one:dim() == 0 then
      fail(("%s: sequence %d is no tensor with a first dim"):format(owner, i))
    elseif table.concat(one:size(), ",", 2) ~= table.concat(sequences[1]:size(), ",", 2) then
      fail(("%s: sequence %d has shape [%s], sequence 1 [%s]; only the first dim may differ"):format(owner, i,
        table.concat(one:size(), ", "), table.concat(sequences[1]:size(), ", ")))
    end
  end
  return sequences
end

local read_pad = reader("pad_sequence", "sequences", {"batch_first", false}, {"padding_value", 0.0},
  {"padding_side", "right"})

local function lengths_of(sequences)
  local lengths = {}
  for i, one in ipairs(sequences) do lengths[i] = #one end
  return lengths
end

-- Calls row(t, n), with t and n from 0, for each place of a table of shape [T, N] (or [N, T]), and returns the results
-- as a flat list.
local function rows(steps, count, batch_first, row)
  local list, k = {}, 0
  for a = 1, batch_first and count or steps do
    for b = 1, batch_first and steps or count do
      k = k + 1
      list[k] = batch_first and row(b, a) or row(a, b)
    end
  end
  return list
end

-- The rows of `data` at a list of indices from 0. The index #data stands for a row filled with `value`.
local function gather_rows(data, list, value, shape)
  local inner = table.move(data:size(), 2, data:dim(), 2, {1})
  local one = core.full(inner, value, {dtype = data:dtype(), device = data:device()})
  local all = core.cat({data, one}, 1)
  return all:index_select(1, core.tensor(list, {dtype = "i64", device = data:device()})):reshape(
    table.move(data:size(), 2, data:dim(), 3, shape))
end

-- Pads sequences [length, …] to one tensor [T, N, …] ([N, T, …] with batch_first) with padding_value at the end
-- (padding_side = "left": at the beginning).
function rnn.pad_sequence(...)
  local a = read_pad(...)
  local sequences = check_sequences("pad_sequence", a.sequences)
  if a.padding_side ~= "right" and a.padding_side ~= "left" then
    fail(("pad_sequence: padding_side is 'right' or 'left' (got '%s')"):format(tostring(a.padding_side)))
  end
  local lengths, starts, total, most = lengths_of(sequences), {}, 0, 0
  for i, length in ipairs(lengths) do
    starts[i], total, most = total, total + length, math.max(most, length)
  end
  local list = rows(most, #sequences, a.batch_first, function(t, n)
    local at = a.padding_side == "left" and t - 1 - (most - lengths[n]) or t - 1
    return at >= 0 and at < lengths[n] and starts[n] + at or total
  end)
  return gather_rows(core.cat(sequences, 1), list, a.padding_value,
    a.batch_first and {#sequences, most} or {most, #sequences})
end

local read_unpad = reader("unpad_sequence", "padded_sequences", "lengths", {"batch_first", false})

-- The list of sequences that a padded tensor holds.
function rnn.unpad_sequence(...)
  local a = read_unpad(...)
  local padded = a.padded_sequences
  if not is_tensor(padded) or padded:dim() < 2 then fail("unpad_sequence: a tensor [T, N, …] expected") end
  local batch, time = a.batch_first and 1 or 2, a.batch_first and 2 or 1
  local lengths, list = packed.check_lengths("unpad_sequence", a.lengths, padded:size(batch), padded:size(time)), {}
  for n, length in ipairs(lengths) do list[n] = padded:select(batch, n):narrow(1, 1, length) end
  return list
end

-- The order of descending lengths; sequences of equal length keep their order.
local function descending(lengths)
  local order = {}
  for i = 1, #lengths do order[i] = i end
  table.sort(order, function(a, b)
    return lengths[a] > lengths[b] or lengths[a] == lengths[b] and a < b
  end)
  return order
end

-- Returns the sorted lengths, and as tensors the indices that sort and the inverse indices; with enforce_sorted the
-- lengths alone.
local function sorted(owner, lengths, enforce_sorted, device)
  if enforce_sorted then
    for i = 2, #lengths do
      if lengths[i] > lengths[i - 1] then
        fail(("%s: length %d (%d) is above the one before (%d); sort the sequences by descending length, or write "
          .. "{enforce_sorted = false}"):format(owner, i, lengths[i], lengths[i - 1]))
      end
    end
    return lengths
  end
  local order, sizes, from, back = descending(lengths), {}, {}, {}
  for i, n in ipairs(order) do
    sizes[i], from[i], back[n] = lengths[n], n - 1, i - 1
  end
  local options = {dtype = "i64", device = device}
  return sizes, core.tensor(from, options), core.tensor(back, options), order
end

local function integers(list) return core.tensor(list, {dtype = "i64", device = "cpu"}) end

local read_pack = reader("pack_padded_sequence", "input", "lengths", {"batch_first", false}, {"enforce_sorted", true})

-- Packs a padded tensor [T, N, …]; the elements beyond each length are left out.
function rnn.pack_padded_sequence(...)
  local a = read_pack(...)
  local x = a.input
  if not is_tensor(x) or x:dim() < 2 then fail("pack_padded_sequence: a tensor [T, N, …] expected") end
  if a.batch_first then x = x:transpose(1, 2) end
  local steps, count = x:size(1), x:size(2)
  local lengths = packed.check_lengths("pack_padded_sequence", a.lengths, count, steps)
  local sizes_in_order, from, back, order = sorted("pack_padded_sequence", lengths, a.enforce_sorted, x:device())
  local sizes, list = packed.sizes_of(sizes_in_order), {}
  for t, size in ipairs(sizes) do
    for i = 1, size do list[#list + 1] = (t - 1) * count + (order and order[i] or i) - 1 end
  end
  local flat = x:reshape(table.move(x:size(), 3, x:dim(), 2, {steps * count}))
  local data = flat:index_select(1, core.tensor(list, {dtype = "i64", device = x:device()}))
  return packed.new(data, integers(sizes), from, back)
end

local read_sequences = reader("pack_sequence", "sequences", {"enforce_sorted", true})

-- Packs a list of sequences [length, …].
function rnn.pack_sequence(...)
  local a = read_sequences(...)
  local sequences = check_sequences("pack_sequence", a.sequences)
  return rnn.pack_padded_sequence(rnn.pad_sequence(sequences), lengths_of(sequences), {enforce_sorted = a.enforce_sorted})
end

local read_padded = reader("pad_packed_sequence", "sequence", {"batch_first", false}, {"padding_value", 0.0},
  {"total_length"})

-- The padded tensor [T, N, …] of a PackedSequence, in the order of the batch, and the lengths as an i64 tensor on the CPU.
function rnn.pad_packed_sequence(...)
  local a = read_padded(...)
  local sequence = a.sequence
  if not packed.is_packed(sequence) then
    fail(("pad_packed_sequence: a PackedSequence expected (got %s)"):format(is_tensor(sequence) and "a tensor" or type(sequence)))
  end
  local sizes, lengths = sequence.batch_sizes:tolist(), packed.lengths(sequence)
  local steps, count = #sizes, #lengths
  if a.total_length then
    if math.type(a.total_length) ~= "integer" or a.total_length < steps then
      fail(("pad_packed_sequence: total_length %s is below the longest sequence's %d"):format(tostring(a.total_length), steps))
    end
    steps = a.total_length
  end
  local starts, total = {}, 0
  for t, size in ipairs(sizes) do starts[t], total = total, total + size end
  local back = sequence.unsorted_indices and sequence.unsorted_indices:tolist()
  local restored = {}
  for n = 1, count do restored[n] = lengths[back and back[n] + 1 or n] end
  local list = rows(steps, count, a.batch_first, function(t, n)
    local i = back and back[n] + 1 or n
    return sizes[t] and i <= sizes[t] and starts[t] + i - 1 or total
  end)
  return gather_rows(sequence.data, list, a.padding_value, a.batch_first and {count, steps} or {steps, count}),
    integers(restored)
end

-- The list of sequences of a PackedSequence.
function rnn.unpack_sequence(sequence)
  local padded, lengths = rnn.pad_packed_sequence(sequence)
  return rnn.unpad_sequence(padded, lengths)
end

function rnn.is_packed(value) return packed.is_packed(value) end

-- PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices)
function rnn.PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices)
  if not is_tensor(data) or not is_tensor(batch_sizes) then
    fail("PackedSequence: data and batch_sizes are tensors; pack_padded_sequence and pack_sequence make one")
  elseif batch_sizes:dim() ~= 1 or #batch_sizes == 0 or batch_sizes:sum():item() ~= #data then
    fail(("PackedSequence: the batch sizes do not add up to the %d rows of the data"):format(#data))
  end
  return packed.new(data, batch_sizes:cpu(), sorted_indices, unsorted_indices)
end

return rnn
