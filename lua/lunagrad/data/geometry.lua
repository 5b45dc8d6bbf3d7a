-- Geometric transforms: resize, crops, pad, flips, rotation. Names, arguments and choices are torchvision's. Steps take
-- images [N, C, H, W].
local core = require "lunagrad.core"
local transform = require "lunagrad.data.transform"
local reader = require("lunagrad.arguments").reader

local fail = core._fail
local geometry = {}

-- {height, width} of a number or a list.
local function size_of(owner, size)
  local list = type(size) == "table" and size or {size, size}
  for i = 1, 2 do
    if math.type(list[i]) ~= "integer" or list[i] < 1 then
      fail(("%s: size is a positive integer or {height, width} (got %s)"):format(owner, tostring(list[i])))
    end
  end
  return list[1], list[2]
end

local function check_mode(owner, mode)
  if mode ~= "nearest" and mode ~= "bilinear" then
    fail(("%s: mode is 'bilinear' or 'nearest' (got '%s')"):format(owner, tostring(mode)))
  end
end

local function check_share(owner, p)
  if type(p) ~= "number" or not (p >= 0 and p <= 1) then
    fail(("%s: p %s is not between 0 and 1"):format(owner, tostring(p)))
  end
end

-- A pair of numbers, the first not above the second.
local function range_of(owner, what, value, least)
  if type(value) ~= "table" or type(value[1]) ~= "number" or type(value[2]) ~= "number" or value[1] > value[2]
    or value[1] < least then
    fail(("%s: %s is a list {from, to} of numbers of at least %g"):format(owner, what, least))
  end
  return value[1], value[2]
end
geometry._range_of, geometry._check_share, geometry._size_of = range_of, check_share, size_of

local function interpolated(x, height, width, mode)
  if x:size(3) == height and x:size(4) == width then return x end
  return core.interpolate(x, {size = {height, width}, mode = mode})
end

local read_resize = reader("resize", "size", {"mode", "bilinear"})

-- Resizes to {height, width}; with a number, the shorter side gets this length and the aspect ratio stays. Without
-- antialiasing.
function geometry.resize(...)
  local a = read_resize(...)
  check_mode("resize", a.mode)
  local height, width = size_of("resize", a.size)
  return transform.step("resize", function(x)
    local h, w = height, width
    if type(a.size) == "number" then
      local rows, columns = x:size(3), x:size(4)
      if rows < columns then w = math.floor(a.size * columns / rows) else h = math.floor(a.size * rows / columns) end
    end
    return interpolated(x, h, w, a.mode)
  end)
end

-- {left, top, right, bottom} of a number, {left and right, top and bottom} or all four.
local function borders_of(owner, padding)
  local list = type(padding) == "table" and padding or {padding}
  if #list == 1 then list = {list[1], list[1], list[1], list[1]} end
  if #list == 2 then list = {list[1], list[2], list[1], list[2]} end
  for i = 1, 4 do
    if math.type(list[i]) ~= "integer" or list[i] < 0 or #list ~= 4 then
      fail(("%s: padding is an integer of 0 or more, {left and right, top and bottom} or {left, top, right, bottom}"):format(owner))
    end
  end
  return list
end

local read_pad = reader("pad", "padding", {"fill", 0}, {"padding_mode", "constant"})
local pad_modes = {constant = "constant", edge = "replicate", reflect = "reflect"}

function geometry.pad(...)
  local a = read_pad(...)
  local border, mode = borders_of("pad", a.padding), pad_modes[a.padding_mode]
  if not mode then
    fail(("pad: padding_mode is 'constant', 'edge' or 'reflect' (got '%s')"):format(tostring(a.padding_mode)))
  end
  return transform.step("pad", function(x)
    return core.pad(x, {border[1], border[3], border[2], border[4]}, {mode = mode, value = a.fill})
  end)
end

local function cropped(x, top, left, height, width)
  return x:narrow(3, top + 1, height):narrow(4, left + 1, width)
end

local read_center = reader("center_crop", "size")

-- The middle of the image; missing pixels are filled with zeros.
function geometry.center_crop(...)
  local a = read_center(...)
  local height, width = size_of("center_crop", a.size)
  return transform.step("center_crop", function(x)
    local more_h, more_w = math.max(0, height - x:size(3)), math.max(0, width - x:size(4))
    if more_h > 0 or more_w > 0 then
      x = core.pad(x, {more_w // 2, (more_w + 1) // 2, more_h // 2, (more_h + 1) // 2})
    end
    local top, left = math.floor((x:size(3) - height) / 2 + 0.5), math.floor((x:size(4) - width) / 2 + 0.5)
    return cropped(x, top, left, height, width)
  end)
end

local read_resized = reader("random_resized_crop", "size", {"scale", {0.08, 1.0}}, {"ratio", {3 / 4, 4 / 3}},
  {"mode", "bilinear"})

-- A random part with a share of the area in `scale` and a ratio of width to height in `ratio`, resized to `size`.
function geometry.random_resized_crop(...)
  local a = read_resized(...)
  local height, width = size_of("random_resized_crop", a.size)
  check_mode("random_resized_crop", a.mode)
  local least, most = range_of("random_resized_crop", "scale", a.scale, 0)
  local narrow, wide = range_of("random_resized_crop", "ratio", a.ratio, 1e-6)
  return transform.step("random_resized_crop", function(x, draws)
    local rows, columns = x:size(3), x:size(4)
    for _ = 1, 10 do
      local area = rows * columns * draws:uniform(least, most)
      local ratio = math.exp(draws:uniform(math.log(narrow), math.log(wide)))
      local w, h = math.floor(math.sqrt(area * ratio) + 0.5), math.floor(math.sqrt(area / ratio) + 0.5)
      if w > 0 and w <= columns and h > 0 and h <= rows then
        return interpolated(cropped(x, draws:integer(0, rows - h), draws:integer(0, columns - w), h, w), height, width, a.mode)
      end
    end
    -- No random part fitted: take the largest part in the middle with a permitted ratio.
    local w, h = columns, rows
    if columns / rows < narrow then h = math.floor(columns / narrow + 0.5) end
    if columns / rows > wide then w = math.floor(rows * wide + 0.5) end
    w, h = math.max(1, math.min(w, columns)), math.max(1, math.min(h, rows))
    return interpolated(cropped(x, (rows - h) // 2, (columns - w) // 2, h, w), height, width, a.mode)
  end, true)
end

local read_flip = reader("random_vertical_flip", {"p", 0.5})

-- Flips the image top to bottom with probability p.
function geometry.random_vertical_flip(...)
  local p = read_flip(...).p
  check_share("random_vertical_flip", p)
  return transform.step("random_vertical_flip", function(x, draws)
    return draws:uniform() < p and x:flip(3) or x
  end, true)
end

-- The elements of x [N, C, H, W] at `rows` and `columns`, tensors of equal length that count from 0; `fill` outside the
-- image.
local function gathered(x, rows, columns, fill)
  local height, width = x:size(3), x:size(4)
  local inside = core.logical_and(core.logical_and(rows:ge(0), rows:le(height - 1)),
    core.logical_and(columns:ge(0), columns:le(width - 1)))
  local index = (rows:clamp(0, height - 1) * width + columns:clamp(0, width - 1)):long()
  local flat = x:reshape(x:size(1), x:size(2), height * width):index_select(3, index)
  return core.where(inside, flat, core.full_like(flat, fill))
end

-- Turns images by an angle in degrees, counter-clockwise, about the middle.
local function rotated(x, angle, mode, fill)
  local height, width = x:size(3), x:size(4)
  local options = {dtype = "f32", device = x:device()}
  local function centred(n) return core.arange(n, options) - (n - 1) / 2 end
  local y = centred(height):unsqueeze(2):expand(height, width):reshape(-1)
  local across = centred(width):unsqueeze(1):expand(height, width):reshape(-1)
  local turn = math.rad(angle)
  -- The position in x of each pixel of the result. The y axis points down.
  local from_x = across * math.cos(turn) - y * math.sin(turn) + (width - 1) / 2
  local from_y = across * math.sin(turn) + y * math.cos(turn) + (height - 1) / 2
  local out
  if mode == "nearest" then
    out = gathered(x, from_y:round(), from_x:round(), fill)
  else
    local top, left = from_y:floor(), from_x:floor()
    local down, right = from_y - top, from_x - left
    out = (gathered(x, top, left, fill) * (1 - right) + gathered(x, top, left + 1, fill) * right) * (1 - down)
      + (gathered(x, top + 1, left, fill) * (1 - right) + gathered(x, top + 1, left + 1, fill) * right) * down
  end
  return out:reshape(x:size())
end

local read_rotate = reader("rotate", "angle", {"mode", "nearest"}, {"fill", 0})

-- Turns by an angle in degrees, counter-clockwise; pixels from outside the image are `fill`.
function geometry.rotate(...)
  local a = read_rotate(...)
  check_mode("rotate", a.mode)
  if type(a.angle) ~= "number" then fail("rotate: angle is a number of degrees") end
  return transform.step("rotate", function(x) return rotated(x, a.angle, a.mode, a.fill) end)
end

local read_rotation = reader("random_rotation", "degrees", {"mode", "nearest"}, {"fill", 0})

-- Turns by a random angle of {from, to}; a number d stands for {-d, d}.
function geometry.random_rotation(...)
  local a = read_rotation(...)
  check_mode("random_rotation", a.mode)
  local degrees = type(a.degrees) == "number" and {-math.abs(a.degrees), math.abs(a.degrees)} or a.degrees
  local least, most = range_of("random_rotation", "degrees", degrees, -math.huge)
  return transform.step("random_rotation", function(x, draws)
    return rotated(x, draws:uniform(least, most), a.mode, a.fill)
  end, true)
end

local read_erasing = reader("random_erasing", {"p", 0.5}, {"scale", {0.02, 0.33}}, {"ratio", {0.3, 3.3}}, {"value", 0})

-- Zhong et al., "Random erasing data augmentation", AAAI 2020: with probability p fills a random part with `value`, a
-- number or one number for each channel.
function geometry.random_erasing(...)
  local a = read_erasing(...)
  check_share("random_erasing", a.p)
  local least, most = range_of("random_erasing", "scale", a.scale, 0)
  local narrow, wide = range_of("random_erasing", "ratio", a.ratio, 1e-6)
  return transform.step("random_erasing", function(x, draws)
    if draws:uniform() >= a.p then return x end
    local rows, columns = x:size(3), x:size(4)
    for _ = 1, 10 do
      local area = rows * columns * draws:uniform(least, most)
      local ratio = math.exp(draws:uniform(math.log(narrow), math.log(wide)))
      local h, w = math.floor(math.sqrt(area * ratio) + 0.5), math.floor(math.sqrt(area / ratio) + 0.5)
      if h > 0 and w > 0 and h < rows and w < columns then
        local out = x:clone()
        local part = cropped(out, draws:integer(0, rows - h), draws:integer(0, columns - w), h, w)
        local value = a.value
        if type(value) == "table" then
          if #value ~= x:size(2) then fail(("random_erasing: %d values for %d channels"):format(#value, x:size(2))) end
          value = core.tensor(value, {dtype = x:dtype(), device = x:device()}):reshape(1, #value, 1, 1)
        end
        part:copy_(value)
        return out
      end
    end
    return x
  end, true)
end

return geometry
