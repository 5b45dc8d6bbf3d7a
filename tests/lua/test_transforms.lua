-- lg.data.transform: images of the default device, alone, in batches and in loaders.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local data = lg.data
local t = data.transform

local ramp = (lg.arange(12):float() / 12):reshape(1, 3, 4)
local function each(image) return image:tolist()[1] end

-- Resizing, cropping, padding, flipping.
expect.equal(t.resize(6)(ramp):size(), {1, 6, 8})
expect.equal(t.resize({2, 2})(ramp):size(), {1, 2, 2})
expect.close(t.resize({6, 8})(ramp), lg.interpolate(ramp:unsqueeze(1), {size = {6, 8}, mode = "bilinear"}):squeeze(1))
expect.close(t.center_crop({1, 2})(ramp * 12), {{{5, 6}}})
expect.equal(t.center_crop(5)(ramp):size(), {1, 5, 5})
expect.close(t.center_crop({5, 2})(ramp * 12), {{{0, 0}, {1, 2}, {5, 6}, {9, 10}, {0, 0}}})
expect.close(t.pad({1, 0, 0, 1}, 9)(ramp * 12),
  {{{9, 0, 1, 2, 3}, {9, 4, 5, 6, 7}, {9, 8, 9, 10, 11}, {9, 9, 9, 9, 9}}})
expect.equal(t.pad(2, {padding_mode = "edge"})(ramp):size(), {1, 7, 8})
expect.close(t.random_vertical_flip(1)(ramp), ramp:flip(2))
expect.close(t.random_vertical_flip(0)(ramp), ramp)
expect.close(t.random_horizontal_flip(1)(ramp), ramp:flip(3))

-- Rotation: quarter turns are exact, a full turn changes nothing, and the rest is filled.
local square = lg.arange(9):float():reshape(1, 3, 3)
expect.close(t.rotate(90)(square), {{{2, 5, 8}, {1, 4, 7}, {0, 3, 6}}})
expect.close(t.rotate(180, {mode = "bilinear"})(square), square:flip({2, 3}), 1e-4)
expect.close(t.rotate(360, {mode = "bilinear"})(square), square, 1e-4)
expect.close(each(t.rotate(45, {fill = -1})(ramp))[1][1], -1)
for _ = 1, 5 do assert(t.random_rotation(30)(ramp):size(2) == 3) end
expect.close(t.random_rotation({90, 90})(square), t.rotate(90)(square))

-- Colour: the luma, and fixed factors.
local rgb = lg.tensor {{{0.2, 0.9, 0.4}}, {{0.5, 0.1, 0.4}}, {{0.7, 0.3, 0.4}}}
expect.close(t.grayscale()(rgb), {{{0.2989 * 0.2 + 0.587 * 0.5 + 0.114 * 0.7, 0.2989 * 0.9 + 0.587 * 0.1 + 0.114 * 0.3,
  0.4 * 0.9999}}}, 1e-6)
expect.equal(t.grayscale(3)(rgb):size(), {3, 1, 3})
expect.close(t.random_grayscale(1)(rgb), t.grayscale(3)(rgb))
expect.close(t.color_jitter({brightness = {2, 2}})(rgb), (rgb * 2):clamp(0, 1))
expect.close(t.color_jitter({saturation = {0, 0}})(rgb), t.grayscale(3)(rgb))
expect.close(t.color_jitter({contrast = {0, 0}})(rgb), lg.full_like(rgb, t.grayscale()(rgb):mean():item()), 1e-6)
-- A quarter turn of the hue, as Python's colorsys computes it.
expect.close(t.color_jitter({hue = {0.25, 0.25}})(rgb),
  {{{0.65, 0.7, 0.4}}, {{0.2, 0.9, 0.4}}, {{0.7, 0.1, 0.4}}}, 1e-5)
expect.close(t.color_jitter({hue = {0, 0}})(rgb), rgb, 1e-6)
expect.equal(t.color_jitter({brightness = 0.5, contrast = 0.5, saturation = 0.5, hue = 0.1})(rgb):size(), {3, 1, 3})

-- Random parts: sizes, and what is erased.
do
  local image = lg.ones(3, 20, 30)
  for _ = 1, 10 do
    expect.equal(t.random_resized_crop({7, 9})(image):size(), {3, 7, 9})
    local erased = t.random_erasing({p = 1, scale = {0.1, 0.2}, value = {5, 6, 7}})(image)
    local share = erased[1]:eq(5):float():mean():item()
    assert(share > 0.05 and share < 0.25, share)
    assert(erased[3]:eq(7):float():mean():item() == share)
  end
  expect.equal(t.random_erasing(0)(image), image)
  expect.equal(image, lg.ones(3, 20, 30))
end

-- Mixtures: classes and images are mixed in the same shares.
do
  local x, y = lg.arange(4):float():reshape(4, 1, 1, 1):expand(4, 1, 8, 8), lg.arange(4)
  for _, name in ipairs {"mixup", "cutmix"} do
    local images, shares = t[name] {num_classes = 4, alpha = 1}(x, y)
    expect.equal(shares:size(), {4, 4})
    expect.close(shares:sum(2), {1, 1, 1, 1})
    local weights = lg.arange(4):float()
    expect.close(images:mean({2, 3, 4}), shares:matmul(weights:reshape(4, 1)):reshape(-1), 1e-5, name)
    expect.raises(name .. ": num_classes is needed for classes", function() t[name]()(x, y) end)
    expect.raises(name .. ": alpha must be above 0", function() t[name] {alpha = 0} end)
  end
end

-- Composed with steps of the engine, on bytes, and in a loader: the same numbers for each seed, pass and sample, for
-- any batch size.
do
  local bytes = lg.randint(0, 256, {6, 3, 8, 8}, {dtype = "u8"})
  local both = t.compose {
    t.random_resized_crop(6), t.random_flip(), t.color_jitter {brightness = 0.5}, t.random_rotation(20),
    t.normalize(0.5, 0.5),
  }
  expect.equal(tostring(both), "Transform(random_resized_crop, flip, color_jitter, random_rotation, normalize)")
  local set = data.TensorDataset(bytes, lg.arange(6), {transform = both})
  local function pass(loader)
    local parts = {}
    for x, y in loader do
      parts[#parts + 1] = x
      assert(x:device() == lg.device() and y:device() == lg.device() and x:dtype() == "f32")
    end
    return lg.cat(parts)
  end
  local whole = pass(data.DataLoader(set, {batch_size = 6, seed = 4}))
  expect.close(pass(data.DataLoader(set, {batch_size = 2, seed = 4})), whole)
  local loader = data.DataLoader(set, {batch_size = 6, seed = 4})
  pass(loader)
  assert(not pass(loader):equal(whole))
  expect.raises("cannot read this data set: its transform random_resized_crop runs in Lua", function()
    data.DataLoader(set, {workers = 2})
  end)
  -- Steps of the engine alone work with data of the default device, with and without workers.
  local plain = data.TensorDataset(bytes, {transform = t.compose {t.random_flip(), t.normalize(0.5, 0.5)}})
  expect.equal(pass(data.DataLoader(data.StackDataset {plain, data.TensorDataset(lg.arange(6))}, 6)):size(), {6, 3, 8, 8})
  local values = {}
  for workers = 0, 1 do
    for x in data.DataLoader(plain, {batch_size = 6, seed = 1, workers = workers}) do
      assert(x:device() == lg.device())
      values[workers + 1] = x
    end
  end
  expect.equal(values[1], values[2])
  assert(t.normalize(0, 1)(bytes):device() == lg.device())
  assert(set[1][1]:dtype() == "f32")
  local part = data.Subset(plain, {5, 2})
  for x in data.DataLoader(part, {batch_size = 2, workers = 1}) do assert(x:device() == lg.device() and #x == 2) end
end

-- Mistakes.
expect.raises("resize: size is a positive integer or {height, width} (got 0)", function() t.resize(0) end)
expect.raises("resize: mode is 'bilinear' or 'nearest' (got 'cubic')", function() t.resize(3, "cubic") end)
expect.raises("random_resized_crop: scale is a list {from, to}", function() t.random_resized_crop(3, {scale = {1, 0}}) end)
expect.raises("color_jitter: hue is a number from 0 to 0.5", function() t.color_jitter {hue = 0.7} end)
expect.raises("grayscale: images of 1 or 3 channels expected (got 2)", function() t.grayscale()(lg.ones(2, 3, 3)) end)
expect.raises("transform: images [channels, height, width], or a batch of them, expected (got shape [1, 3])", function()
  t.grayscale()(lg.ones(1, 3))
end)
expect.raises("transform: images of u8 or f32 expected (got f64)", function() t.grayscale()(ramp:double()) end)
expect.raises("pad: padding is an integer of 0 or more", function() t.pad(-1) end)
expect.raises("random_vertical_flip: p 2 is not between 0 and 1", function() t.random_vertical_flip(2) end)
expect.raises("compose: a list of transforms expected (got a transform)", function() t.compose(t.random_flip()) end)
