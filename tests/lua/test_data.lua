local lg = require "lunagrad"
local expect = require "expect"
local data = lg.data

local x, y = lg.arange(10):reshape(10, 1), lg.arange(10) * 10

-- A data set returns samples by position and batches by index.
local set = data.TensorDataset(x, y)
assert(#set == 10)
expect.equal(set[3][1]:tolist(), {2})
assert(set[10][2]:item() == 90)
expect.equal({select(2, set:batch(lg.tensor {9, 0})):tolist()}, {{90, 0}})
assert(tostring(set) == "TensorDataset(10 samples)")
expect.raises("TensorDataset: tensor 1 has 10 samples, tensor 2 has 3", function() data.TensorDataset(x, lg.zeros(3)) end)
expect.raises("TensorDataset: argument 1 is not a tensor with a first dim", function() data.TensorDataset(5) end)

-- A loader visits all samples, in order or shuffled, and keeps x and y together.
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

-- The order depends on seed and pass.
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

-- Shuffling is uniform: each of the 6 permutations of 3 samples is about equally frequent.
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

-- Loops can be left early and nested.
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

-- A cycle continues with the next pass.
local next_batch, firsts = data.DataLoader(set, {batch_size = 5}):cycle(), {}
for i = 1, 5 do firsts[i] = next_batch()[1]:item() end
expect.equal(firsts, {0, 5, 0, 5, 0})
expect.raises("DataLoader: no batch to cycle through", function()
  data.DataLoader(set, {batch_size = 11, drop_last = true}):cycle()
end)

-- Any object with a length and samples is a data set.
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

-- Splits by lengths or fractions are disjoint and cover the whole set.
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
expect.raises("DataLoader: a data set expected (got a tensor)", function() data.DataLoader(lg.ones(4, 2), 2) end)
expect.raises("DataLoader: batch_size is the string \"2\", not a number", function() data.DataLoader(set, {batch_size = "2"}) end)
expect.raises("DataLoader: there is no batch [1]; write: for x, y in loader do", function()
  for _ in ipairs(data.DataLoader(set, 2)) do error("a batch") end
end)
expect.raises("DataLoader: pairs gives no batches; write: for x, y in loader do", function()
  for _ in pairs(data.DataLoader(set, 2)) do error("a batch") end
end)
expect.raises("DataLoader: 'dataset' is missing", function() data.DataLoader() end)
expect.equal(#data.DataLoader(data.TensorDataset(lg.zeros(0, 2)), {batch_size = 4}), 0)
for _ in data.DataLoader(data.TensorDataset(lg.zeros(0, 2))) do error("a batch of nothing") end

-- Workers return the same batches in the same order, bit by bit, as a loader without workers.
local images, labels = lg.randn(50, 3, 6, 5), lg.arange(50)
local t = data.transform
local chance = t.compose {t.random_crop({6, 4}, {padding = 1}), t.random_flip(), t.normalize({0.1, 0.2, 0.3}, 0.5)}
local function collect(options, transform)
  local all = data.TensorDataset(images, labels, {transform = transform})
  local part = data.random_split(all, {40, 10}, {seed = 1})
  local list = {}
  for _, whole in ipairs {all, part} do
    local batches = data.DataLoader(whole, {batch_size = 8, shuffle = true, seed = 3, workers = options})
    for _ = 1, 2 do
      for bx, by in batches do list[#list + 1] = {bx, by} end
    end
  end
  return list
end
for _, transform in ipairs {false, chance} do
  local alone = collect(0, transform or nil)
  assert(#alone == 2 * (7 + 5))
  for _, workers in ipairs {1, 3} do expect.equal(collect(workers, transform or nil), alone) end
end
-- Random steps differ between passes and samples, and do not depend on the batch size.
local stepped = data.TensorDataset(lg.ones(64, 1, 4, 4), {transform = t.random_crop(4, {padding = 4})})
local function drawn(batch_size, pass)
  local batches, list = data.DataLoader(stepped, {batch_size = batch_size, seed = 9}), {}
  for _ = 1, pass do
    list = {}
    for bx in batches do list[#list + 1] = bx end
  end
  return lg.cat(list)
end
assert(drawn(5, 1):equal(drawn(64, 1)))
assert(not drawn(64, 1):equal(drawn(64, 2)))
local sums = drawn(64, 1):sum({2, 3, 4}):tolist()
local kinds = {}
for _, sum in ipairs(sums) do kinds[sum] = true end
assert(kinds[0.0] and kinds[4.0] and kinds[16.0] == nil or kinds[16.0], "crops fall everywhere")

-- Each transform against its definition.
local ramp = lg.arange(12):reshape(1, 3, 4):to("u8")
expect.close(t.normalize(0.5, 0.25)(ramp), ((ramp:float() / 255 - 0.5) / 0.25))
expect.equal(t.normalize({0, 1}, {1, 2})(lg.ones(2, 1, 1)), lg.tensor {1.0, 0.0}:reshape(2, 1, 1))
expect.equal(t.random_flip(1)(ramp:float()), ramp:float():flip(3))
expect.equal(t.random_flip(0)(ramp:float()), ramp:float())
local flipped = 0
lg.manual_seed(2)
local flips = t.random_flip(0.25)(lg.tensor {{{0.0, 1.0}}}:reshape(1, 1, 1, 2):expand(4000, 1, 1, 2))
flipped = flips:select(4, 1):sum():item()
assert(flipped > 900 and flipped < 1100, flipped)
lg.manual_seed(2)
expect.equal(t.random_flip(0.25)(lg.tensor {{{0.0, 1.0}}}:reshape(1, 1, 1, 2):expand(4000, 1, 1, 2)), flips)
-- A crop is a window of the zero-padded image, and every position occurs.
local places = {}
for _ = 1, 300 do
  local window = t.random_crop(2)(ramp:float())
  local first = math.tointeger(window:select(2, 1):select(2, 1):item())
  expect.equal(window, ramp:float():narrow(2, first // 4 + 1, 2):narrow(3, first % 4 + 1, 2))
  places[first] = true
end
local count = 0
for _ in pairs(places) do count = count + 1 end
assert(count == 6)
expect.equal(t.random_crop({7, 8}, {padding = 2})(ramp:float()), ramp:float():pad({2, 2, 2, 2}))
assert(tostring(chance) == "Transform(crop, flip, normalize)")
expect.raises("transform: random_crop to 9 x 9 does not fit an image of 3 x 4 with a padding of 0", function()
  t.random_crop(9)(ramp)
end)
expect.raises("transform: normalize has 3 values for an image of 1 channels", function()
  t.normalize({1, 2, 3}, 1)(ramp)
end)
expect.raises("transform: images of u8 or f32 expected (got i64)", function() t.random_flip()(ramp:long()) end)
expect.raises("normalize: std holds 0", function() t.normalize(0, 0) end)
expect.raises("random_flip: p 2 is not between 0 and 1", function() t.random_flip(2) end)
expect.raises("random_crop: size is a positive integer", function() t.random_crop(0) end)
expect.raises("compose: entry 1 is a string", function() t.compose {"flip"} end)

-- A Lua function transforms samples, without workers.
local doubled = data.TensorDataset(x, y, {transform = function(value) return value * 2 end})
expect.equal(doubled[3][1]:tolist(), {4})
for bx, by in data.DataLoader(doubled, 10) do expect.equal((bx:flatten() * 5):tolist(), by:tolist()) end
expect.raises("workers run no Lua, and cannot read this data set: its transform is a function", function()
  data.DataLoader(doubled, {workers = 1})
end)
expect.raises("workers run no Lua, and cannot read this data set: it is made in Lua", function()
  data.DataLoader(squares, {workers = 1})
end)
expect.raises("DataLoader: workers -1 is not an integer from 0 to 64", function()
  data.DataLoader(set, {workers = -1})
end)
expect.raises("TensorDataset: unknown option 'transforms'", function() data.TensorDataset(x, {transforms = t}) end)

-- A loop with workers can be left early, nested and dropped; writing to a tensor of the data set meanwhile is an error.
for _ = 1, 20 do
  for _ in data.DataLoader(set, {batch_size = 1, workers = 2}) do break end
end
loader = data.DataLoader(set, {batch_size = 5, workers = 2})
pairs_seen = 0
for a in loader do
  for b in loader do pairs_seen = pairs_seen + #a * #b end
end
assert(pairs_seen == 100)
expect.equal(values(data.DataLoader(set, {batch_size = 3, workers = 2})), lg.arange(10):tolist())
for _ in data.DataLoader(data.TensorDataset(lg.zeros(0, 2)), {workers = 2}) do error("a batch of nothing") end
local changing = lg.zeros(10)
expect.raises("DataLoader: tensor 1 of the data set was written to while workers read it", function()
  -- A write to zero elements counts too.
  for _ in data.DataLoader(data.TensorDataset(changing), {workers = 1}) do changing:narrow(1, 1, 0):fill_(1) end
end)
collectgarbage()

-- The state of a loader: the rest of an interrupted pass, then the passes that would have followed.
for _, workers in ipairs {0, 2} do
  local options = {batch_size = 3, shuffle = true, seed = 11, workers = workers}
  local function run(from, stop, list)
    for pass = 1, 3 do
      for bx in from do
        list[#list + 1] = bx
        if #list == stop then return list, from:state_dict() end
      end
    end
    return list
  end
  local whole = run(data.DataLoader(set, options), nil, {})
  assert(#whole == 12)
  for _, stop in ipairs {1, 3, 4, 6} do
    local list, state = run(data.DataLoader(set, options), stop, {})
    local fresh = data.DataLoader(set, {batch_size = 3, shuffle = true, workers = workers})
    fresh:load_state_dict(state)
    expect.equal(fresh:state_dict(), state)
    for pass = 1, 3 do
      if #list == 12 then break end
      for bx in fresh do list[#list + 1] = bx end
    end
    for i = 1, 12 do expect.equal(list[i], whole[i]) end
  end
  -- A pass that has begun and returned nothing is begun again.
  local begun, again = data.DataLoader(set, options), data.DataLoader(set, options)
  local next_batch = begun:cycle()
  again:load_state_dict(begun:state_dict())
  expect.equal(again:cycle()(), whole[1])
  for _ = 1, 4 do next_batch() end  -- a whole pass
  begun:cycle()
  again:load_state_dict(begun:state_dict())
  expect.equal(again:cycle()(), whole[5])
  local start = data.DataLoader(set, options):state_dict()
  expect.equal(start, {seed = 11, epoch = 0, batch = 0, batch_size = 3, samples = 10})
end
expect.raises("DataLoader: the state is one of batch_size 3, this loader has 4", function()
  data.DataLoader(set, 4):load_state_dict {seed = 1, epoch = 1, batch = 1, batch_size = 3, samples = 10}
end)
expect.raises("DataLoader: the state has no integer 'seed'", function()
  data.DataLoader(set, 3):load_state_dict {epoch = 1, batch = 1, batch_size = 3, samples = 10}
end)

-- A folder of images: classes and files sorted by name; other files are skipped.
local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir -p '%s/dog' '%s/cat' '%s/empty'"):format(folder, folder, folder)))
local function picture(name, value, height) lg.io.png.save(folder .. "/" .. name, lg.full({3, height or 4, 5}, value / 255)) end
picture("dog/2.png", 20)
picture("dog/10.PNG", 10)
picture("cat/1.png", 30)
io.open(folder .. "/cat/notes.txt", "w"):close()
io.open(folder .. "/readme", "w"):close()
local zoo = data.image_folder(folder)
expect.equal(zoo.classes, {"cat", "dog", "empty"})
assert(#zoo == 3 and tostring(zoo) == "image_folder(3 samples)")
local image, label = table.unpack(zoo[2])
expect.equal(image, lg.full({3, 4, 5}, 10 / 255))
expect.equal(label, lg.tensor(1))
local function first_pixels(options)
  local list = {}
  for bx, by in data.DataLoader(zoo, options) do
    for i = 1, #bx do list[#list + 1] = {math.floor(bx[i]:flatten()[1]:item() * 255 + 0.5), by[i]:item()} end
  end
  return list
end
expect.equal(first_pixels {batch_size = 2}, {{30, 0}, {10, 1}, {20, 1}})
expect.equal(first_pixels {batch_size = 2, workers = 2}, {{30, 0}, {10, 1}, {20, 1}})
expect.equal(first_pixels {batch_size = 2, workers = 1, shuffle = true, seed = 5},
  first_pixels {batch_size = 2, shuffle = true, seed = 5})
expect.equal(data.image_folder(folder, {channels = 1})[1][1]:size(), {1, 4, 5})
expect.equal(data.image_folder(folder, {transform = function(v) return v:sum() end})[1][1]:dim(), 0)
picture("cat/1.png", 30, 7)
for _, workers in ipairs {0, 2} do
  expect.raises("/dog/10.PNG: the image has shape [3, 4, 5], the first has [3, 7, 5]", function()
    for _ in data.DataLoader(data.image_folder(folder), {batch_size = 3, workers = workers}) do end
  end)
end
zoo = data.image_folder(folder, {transform = t.random_crop(4)})
expect.equal(zoo:batch(lg.arange(3)):size(), {3, 3, 4, 4})
expect.equal(zoo[1][1]:size(), {3, 4, 4})
local broken = io.open(folder .. "/dog/2.png", "wb")
broken:write("no image")
broken:close()
for _, workers in ipairs {0, 2} do
  expect.raises("/dog/2.png: not a PNG file", function()
    for _ in data.DataLoader(zoo, {workers = workers}) do end
  end)
end
expect.raises("image_folder: " .. folder .. "/cat holds no PNG files in folders of classes", function()
  data.image_folder(folder .. "/cat")
end)
expect.raises(folder .. "/none: cannot read the folder: No such file or directory", function()
  data.image_folder(folder .. "/none")
end)
expect.raises("image_folder: there is no sample 4 of 3", function() return zoo[4] end)

-- A text as sequences with the next bytes as targets.
local poem = io.open(folder .. "/poem", "wb")
poem:write("hello, world")
poem:close()
local text = data.text(folder .. "/poem", 4)
assert(#text == 2)
expect.equal(text[2], {lg.tensor {string.byte("o, w", 1, -1)}, lg.tensor {string.byte(", wo", 1, -1)}})
assert(#data.text(folder .. "/poem", {length = 4, stride = 1}) == 8 and #data.text(folder .. "/poem", 11) == 1)
for _, workers in ipairs {0, 2} do
  for bx, by in data.DataLoader(data.text(folder .. "/poem", {length = 4, stride = 1}), {batch_size = 8, workers = workers}) do
    expect.equal(bx:size(), {8, 4})
    expect.equal(bx:narrow(2, 2, 3), by:narrow(2, 1, 3))
    expect.equal(by[8], lg.tensor {string.byte("orld", 1, -1)})
  end
end
expect.raises("poem has 12 bytes; a sequence of 12 and the byte after it need more", function()
  data.text(folder .. "/poem", 12)
end)
expect.raises("text: stride 0 is not a positive integer", function() data.text(folder .. "/poem", 4, 0) end)
os.execute(("rm -r '%s'"):format(folder))
