-- nn.utils.rnn: padded and packed sequences, and recurrent layers over them.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn = lg.nn
local rnn = nn.utils.rnn
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."

local a, b, c = lg.tensor {1.0, 2}, lg.tensor {3.0, 4, 5, 6}, lg.tensor {7.0}

-- Padding and its inverse.
expect.equal(rnn.pad_sequence({a, b, c}):tolist(), {{1.0, 3.0, 7.0}, {2.0, 4.0, 0.0}, {0.0, 5.0, 0.0}, {0.0, 6.0, 0.0}})
expect.equal(rnn.pad_sequence({a, b, c}, {batch_first = true, padding_value = -1}):tolist(),
  {{1.0, 2.0, -1.0, -1.0}, {3.0, 4.0, 5.0, 6.0}, {7.0, -1.0, -1.0, -1.0}})
expect.equal(rnn.pad_sequence({a, c}, true, 0, "left"):tolist(), {{1.0, 2.0}, {0.0, 7.0}})
expect.equal(rnn.pad_sequence({lg.ones(1, 2, 3), lg.ones(4, 2, 3)}):size(), {4, 2, 2, 3})
local back = rnn.unpad_sequence(rnn.pad_sequence({a, b, c}), {2, 4, 1})
expect.equal({back[1], back[2], back[3]}, {a, b, c})
assert(rnn.pad_sequence({lg.tensor {1, 2}, lg.tensor {3}}):dtype() == "i64")

-- Packing: PyTorch's layout.
local packed = rnn.pack_sequence({b, a, c})
expect.equal(packed.data:tolist(), {3.0, 1.0, 7.0, 4.0, 2.0, 5.0, 6.0})
expect.equal(packed.batch_sizes:tolist(), {3, 2, 1, 1})
assert(packed.sorted_indices == nil and tostring(packed) == "PackedSequence(3 sequences, up to 4 elements, data [7])")
packed = rnn.pack_sequence({a, b, c}, {enforce_sorted = false})
expect.equal(packed.data:tolist(), {3.0, 1.0, 7.0, 4.0, 2.0, 5.0, 6.0})
expect.equal(packed.sorted_indices:tolist(), {1, 0, 2})
expect.equal(packed.unsorted_indices:tolist(), {1, 0, 2})
local padded, lengths = rnn.pad_packed_sequence(packed, {total_length = 5, padding_value = 9})
expect.equal(padded:size(), {5, 3})
expect.equal(lengths:tolist(), {2, 4, 1})
expect.equal(padded:t():tolist(), {{1.0, 2.0, 9.0, 9.0, 9.0}, {3.0, 4.0, 5.0, 6.0, 9.0}, {7.0, 9.0, 9.0, 9.0, 9.0}})
expect.equal(rnn.unpack_sequence(packed)[3], c)
assert(packed:double():dtype() == "f64")
local again = rnn.PackedSequence(packed.data, packed.batch_sizes)
expect.equal(rnn.pad_packed_sequence(again):size(), {4, 3})

-- Recurrent layers: PyTorch's values and gradients.
local function ramp(shape, k)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return (lg.arange(n, {dtype = "f64"}) * k):sin():reshape(shape)
end
for _, case in ipairs(dofile(here .. "/../reference/packed.lua")) do
  local module = nn[case.name](3, 2, {num_layers = case.layers, bidirectional = case.bidirectional, dtype = "f64"})
  local parameters = module:parameters()
  lg.no_grad(function()
    for i, p in ipairs(parameters) do p:copy_(ramp(p:size(), 0.7 + 0.1 * (i - 1))) end
  end)
  local depth = case.layers * (case.bidirectional and 2 or 1)
  local x, h0 = ramp({4, 4, 3}, 0.37):requires_grad_(), ramp({depth, 4, 2}, 0.9):requires_grad_()
  local c0 = case.c and ramp({depth, 4, 2}, 1.1) or nil
  local out, h, last = module(rnn.pack_padded_sequence(x, {2, 4, 1, 4}, {enforce_sorted = false}), h0, c0)
  local y, sizes = rnn.pad_packed_sequence(out)
  expect.equal(sizes:tolist(), {2, 4, 1, 4})
  local loss = (y * ramp(y:size(), 0.5)):sum() + (h * ramp(h:size(), 0.3)):sum()
  if last then loss = loss + (last * last):sum() end
  loss:backward()
  local where = ("%s, %d layers"):format(case.name, case.layers)
  expect.close(y, case.out, 1e-10, where)
  expect.close(h, case.h, 1e-10, where .. " h")
  if case.c then expect.close(last, case.c, 1e-10, where .. " c") end
  expect.close(x.grad, case.dx, 1e-10, where .. " dx")
  expect.close(h0.grad, case.dh, 1e-10, where .. " dh")
  expect.close(module.weight_hh_l0.grad, case.dw, 1e-10, where .. " dw")
  -- Each sequence alone gives the same; without states they are zeros.
  local free, final = module(rnn.pack_padded_sequence(x, lg.tensor {2, 4, 1, 4}, {enforce_sorted = false}))
  local alone, ended = module(x:narrow(1, 1, 2):select(2, 1))
  expect.close(rnn.unpack_sequence(free)[1], alone, 1e-12, where)
  expect.close(final:select(2, 1), ended, 1e-12, where)
end

-- Dropout between layers acts in training alone; batch_first concerns padded tensors only.
do
  local gru = nn.GRU(3, 2, {num_layers = 2, dropout = 0.5, batch_first = true})
  local input = rnn.pack_padded_sequence(lg.randn(2, 3, 3), {3, 2}, {batch_first = true})
  gru:eval()
  expect.equal(gru(input).data, gru(input).data)
  gru:train()
  assert(not gru(input).data:equal(gru(input).data))
end

-- Mistakes.
expect.raises("length 2 (4) is above the one before (2); sort the sequences by descending length, or write "
  .. "{enforce_sorted = false}", function() rnn.pack_sequence({a, b}) end)
expect.raises("pack_padded_sequence: length 2 is 0; an integer from 1 to 4 expected", function()
  rnn.pack_padded_sequence(lg.zeros(4, 2), {4, 0})
end)
expect.raises("pack_padded_sequence: length 1 is 5; an integer from 1 to 4 expected", function()
  rnn.pack_padded_sequence(lg.zeros(4, 2), {5, 1})
end)
expect.raises("3 lengths for 2 sequences; with {batch_first = true} dim 1 is the batch", function()
  rnn.pack_padded_sequence(lg.zeros(3, 2, 1), {3, 2, 1})
end)
expect.raises("pad_sequence: sequence 2 has shape [2, 2], sequence 1 [2]; only the first dim may differ", function()
  rnn.pad_sequence({a, lg.zeros(2, 2)})
end)
expect.raises("pad_sequence: a list of tensors [length, …] expected (got a tensor)", function() rnn.pad_sequence(a) end)
expect.raises("total_length 2 is below the longest sequence's 4", function()
  rnn.pad_packed_sequence(packed, {total_length = 2})
end)
expect.raises("pad_packed_sequence: a PackedSequence expected (got a tensor)", function() rnn.pad_packed_sequence(a) end)
expect.raises("LSTM: packed data of shape [rows, 3] expected (got shape [7])", function() nn.LSTM(3, 2)(packed) end)
expect.raises("GRU: h0 of a packed sequence has shape [1, 2, 2] (got shape [1, 3, 2])", function()
  nn.GRU(3, 2)(rnn.pack_padded_sequence(lg.zeros(2, 2, 3), {2, 1}), lg.zeros(1, 3, 2))
end)
