local lg = require "lunagrad"
local expect = require "expect"
local data = lg.data

local x, y = lg.arange(10):reshape(10, 1), lg.arange(10) * 10

-- A data set gives samples by position and batches by index.
local set = data.TensorDataset(x, y)
assert(#set == 10)
expect.equal(set[3][1]:tolist(), {2})
assert(set[10][2]:item() == 90)
expect.equal({select(2, set:batch(lg.tensor {9, 0})):tolist()}, {{90, 0}})
assert(tostring(set) == "TensorDataset(10 samples)")
expect.raises("TensorDataset: tensor 1 has 10 samples, tensor 2 has 3", function() data.TensorDataset(x, lg.zeros(3)) end)
expect.raises("TensorDataset: argument 1 is not a tensor with a first dim", function() data.TensorDataset(5) end)

-- A loader goes through all of it, in order or shuffled, with x and y together.
local function values(loader)
  local list = {}
  for bx, by in loader do
    expect.equal((bx:flatten() * 10):tolist(), by:tolist())
    for _, value in ipairs(bx:flatten():tolist()) do list[#list + 1] = value end
  end
  return list
end
local loader = data.DataLoader(set, {batch_size = 4})
assert(#loader == 3)
expect.equal(values(loader), lg.arange(10):tolist())
expect.equal(values(loader), lg.arange(10):tolist())
loader = data.DataLoader(set, 4, {drop_last = true})
assert(#loader == 2 and #values(loader) == 8)
assert(tostring(loader) == "DataLoader(10 samples, batch_size = 4, 2 batches)")

-- The order follows from seed and pass.
local function passes(seed)
  local shuffled = data.DataLoader(set, {batch_size = 3, shuffle = true, seed = seed})
  return {values(shuffled), values(shuffled)}
end
local one, two, three = passes(7), passes(7), passes(8)
expect.equal(one, two)
assert(table.concat(one[1], " ") ~= table.concat(one[2], " "))
assert(table.concat(one[1], " ") ~= table.concat(three[1], " "))
table.sort(one[1])
expect.equal(one[1], lg.arange(10):tolist())
lg.manual_seed(5)
one = passes()
lg.manual_seed(5)
expect.equal(passes(), one)

-- Orders are fair: each of the 6 orders of 3 things comes up about as often.
local counts = {}
for pass = 1, 6000 do
  local order = table.concat(require("lunagrad.core")._permutation(3, 1, pass):tolist())
  counts[order] = (counts[order] or 0) + 1
end
local orders = 0
for _, count in pairs(counts) do
  orders = orders + 1
  assert(count > 850 and count < 1150, count)
end
assert(orders == 6)

-- Loops may be left early, and nest.
loader = data.DataLoader(set, {batch_size = 5})
for _ in loader do break end
local pairs_seen = 0
for a in loader do
  for b in loader do
    assert(#a == 5 and #b == 5)
    pairs_seen = pairs_seen + 1
  end
end
assert(pairs_seen == 4)

-- A cycle goes on with the next pass.
local next_batch, firsts = data.DataLoader(set, {batch_size = 5}):cycle(), {}
for i = 1, 5 do firsts[i] = next_batch()[1]:item() end
expect.equal(firsts, {0, 5, 0, 5, 0})
expect.raises("DataLoader: no batch to cycle through", function()
  data.DataLoader(set, {batch_size = 11, drop_last = true}):cycle()
end)

-- Any object with a length and samples will do.
local squares = setmetatable({}, {
  __len = function() return 5 end,
  __index = function(_, i) if type(i) == "number" then return {i * i, lg.full({2}, i)} end end,
})
local seen = {}
for square, pair in data.DataLoader(squares, {batch_size = 2}) do
  seen[#seen + 1] = square:tolist()
  assert(#pair == #square and pair:size(2) == 2)
end
expect.equal(seen, {{1, 4}, {9, 16}, {25}})

-- Splits cover the whole without overlap, by lengths or fractions.
local a, b = data.random_split(set, {0.75, 0.25}, {seed = 1})
assert(#a == 8 and #b == 2)
local all = {}
for _, part in ipairs {a, b} do
  for bx in data.DataLoader(part, {batch_size = 3}) do
    for _, value in ipairs(bx:flatten():tolist()) do all[#all + 1] = value end
  end
end
table.sort(all)
expect.equal(all, lg.arange(10):tolist())
local c = data.random_split(set, {8, 2}, {seed = 1})
expect.equal(c[1][1]:tolist(), a[1][1]:tolist())
expect.raises("random_split: lengths add up to 11; 10 samples (or fractions of 1) expected", function()
  data.random_split(set, {8, 3})
end)
expect.raises("DataLoader: batch_size 0 is not a positive integer", function() data.DataLoader(set, 0) end)
expect.raises("DataLoader: 'dataset' is missing", function() data.DataLoader() end)
expect.equal(#data.DataLoader(data.TensorDataset(lg.zeros(0, 2)), {batch_size = 4}), 0)
for _ in data.DataLoader(data.TensorDataset(lg.zeros(0, 2))) do error("a batch of nothing") end
