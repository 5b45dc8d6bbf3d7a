-- Transforms of images [channels, height, width], or of a batch of them. u8 images become f32 from 0 to 1; f32 images stay
-- as they are. A transform is a list of steps that the engine runs, so a loader's workers can run it too. Called on a
-- tensor, it draws from the generator of lg.manual_seed. In a loader, the random numbers depend on seed, pass and sample
-- alone.
local core = require "lunagrad.core"
local reader = require("lunagrad.arguments").reader

local transform = {}

local Transform = {__name = "Transform"}
Transform.__index = Transform

local function new(steps) return setmetatable({steps = steps}, Transform) end

function transform.is_transform(value) return getmetatable(value) == Transform end

-- A number or a list of numbers, as a list.
local function numbers(name, value)
  local list = type(value) == "table" and value or {value}
  for _, number in ipairs(list) do
    if type(number) ~= "number" then core._fail(("normalize: %s is a number or a list of numbers"):format(name)) end
  end
  if #list == 0 then core._fail(("normalize: %s is a number or a list of numbers"):format(name)) end
  return list
end

local read_normalize = reader("normalize", "mean", "std")

-- (x - mean) / std, each a number for all channels or a list with one for each channel.
function transform.normalize(...)
  local given = read_normalize(...)
  local step = {kind = "normalize", mean = numbers("mean", given.mean), std = numbers("std", given.std)}
  for _, std in ipairs(step.std) do
    if std == 0 then core._fail("normalize: std holds 0") end
  end
  return new {step}
end

local read_crop = reader("random_crop", "size", {"padding", 0})

-- Crops `size` (a number, or {height, width}) at a random position, after padding all four sides with `padding` zeros.
function transform.random_crop(...)
  local given = read_crop(...)
  local size = type(given.size) == "table" and given.size or {given.size, given.size}
  for _, value in ipairs {size[1] or 0, size[2] or 0, (math.tointeger(given.padding) or -1) + 1} do
    if math.type(value) ~= "integer" or value < 1 then
      core._fail("random_crop: size is a positive integer or {height, width}, padding an integer of 0 or more")
    end
  end
  return new {{kind = "crop", height = size[1], width = size[2], padding = math.tointeger(given.padding)}}
end

local read_flip = reader("random_flip", {"p", 0.5})

-- Flips the image horizontally with probability p.
function transform.random_flip(...)
  local p = read_flip(...).p
  if type(p) ~= "number" or not (p >= 0 and p <= 1) then
    core._fail(("random_flip: p %s is not between 0 and 1"):format(tostring(p)))
  end
  return new {{kind = "flip", p = p}}
end

-- Applies transforms in order.
function transform.compose(list)
  local steps = {}
  for i, part in ipairs(list) do
    if not transform.is_transform(part) then core._fail(("compose: entry %d is no transform"):format(i)) end
    for _, step in ipairs(part.steps) do steps[#steps + 1] = step end
  end
  if #steps > 16 then core._fail(("compose: %d steps, at most 16 are taken"):format(#steps)) end
  return new(steps)
end

function Transform:__call(images)
  if not core.is_tensor(images) then core._fail("transform: a tensor of images expected") end
  local single = images:dim() == 3
  if single then images = images:unsqueeze(1) end
  if #self.steps == 0 then return single and images:squeeze(1) or images end
  local plan = core._data_plan(#images, {{rows = images}}, self.steps)
  local out = core._plan_batch(plan, core.arange(#images, {device = "cpu"}), core._new_seed(), 0)
  return single and out:squeeze(1) or out
end

function Transform:__tostring()
  local kinds = {}
  for i, step in ipairs(self.steps) do kinds[i] = step.kind end
  return ("Transform(%s)"):format(table.concat(kinds, ", "))
end

return transform
