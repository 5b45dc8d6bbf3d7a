-- Transforms of images [channels, height, width], or of a batch of images, on any device. u8 images become f32 from 0
-- to 1; f32 images stay as they are. A transform is a list of steps. The engine runs normalize, random_crop and
-- random_flip, on the CPU and in a loader's workers; the other steps are tensor ops in Lua, on the device of the
-- images. Called on a tensor, a transform draws from the generator of lg.manual_seed. In a loader, the random numbers
-- depend only on seed, pass and sample.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local draws = require "lunagrad.data.draws"
local reader = arguments.reader

local transform = {}

local Transform = {__name = "Transform"}
Transform.__index = Transform

local function new(steps) return setmetatable({steps = steps}, Transform) end

function transform.is_transform(value) return getmetatable(value) == Transform end

-- A step in Lua: apply(images [N, C, H, W], draws) returns images. With `random` it is called for each image by itself.
function transform.step(kind, apply, random)
  return new {{kind = kind, apply = apply, random = random or false}}
end

-- Why the engine's threads cannot run a transform; nil if they can, or if there is no transform.
function transform.needs_lua(value)
  if type(value) == "function" then return "its transform is a function" end
  for _, step in ipairs(value and value.steps or {}) do
    if step.apply then return ("its transform %s runs in Lua"):format(step.kind) end
  end
end

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

-- Applies transforms in order. A function takes and returns images [N, C, H, W].
function transform.compose(list)
  if not arguments.is_plain(list) then
    core._fail(("compose: a list of transforms expected (got %s)"):format(transform.is_transform(list) and "a transform" or type(list)))
  end
  local steps = {}
  for i, part in ipairs(list) do
    if transform.is_transform(part) then
      for _, step in ipairs(part.steps) do steps[#steps + 1] = step end
    elseif type(part) == "function" then
      steps[#steps + 1] = {kind = "function", apply = part}
    else
      core._fail(("compose: entry %d is a %s; transforms, and functions of images [N, C, H, W], expected"):format(i,
        core.is_tensor(part) and "tensor" or type(part)))
    end
  end
  if #steps > 16 then core._fail(("compose: %d steps, at most 16 are taken"):format(#steps)) end
  return new(steps)
end

-- A step of the engine over images [N, C, H, W]; the random numbers of image k depend on seed, pass and k.
local function run_engine(step, images, seed, pass)
  local plan = core._data_plan(#images, {{rows = images:detach():cpu()}}, {step})
  return core._plan_batch(plan, core.arange(#images, {device = "cpu"}), seed, pass):to(images:device())
end

local function check_images(images)
  local dtype = images:dtype()
  if images:dim() ~= 4 then
    core._fail(("transform: images [channels, height, width], or a batch of them, expected (got shape [%s])"):format(
      table.concat(images:size(), ", ")))
  elseif dtype ~= "u8" and dtype ~= "f32" then
    core._fail(("transform: images of u8 or f32 expected (got %s)"):format(dtype))
  end
end

-- Applies the steps to images [N, C, H, W]; source(k) returns the random numbers of image k. With a seed, a step of the
-- engine takes all images at once.
local function run_steps(self, images, source, seed)
  check_images(images)
  if images:dtype() == "u8" then images = images:float() / 255 end
  local sources = {}
  for k = 1, #images do sources[k] = source(k) end
  for i, step in ipairs(self.steps) do
    if step.apply and not step.random then
      images = step.apply(images)
    elseif seed and not step.apply then
      images = run_engine(step, images, seed, i)
    else
      local made = {}
      for k = 1, #images do
        local one = images:narrow(1, k, 1)
        made[k] = step.apply and step.apply(one, sources[k]) or run_engine(step, one, sources[k]:seed(), 0)
      end
      images = #made == 1 and made[1] or core.cat(made, 1)
    end
  end
  return images
end

-- Transforms the samples at indices from 0; their random numbers depend on seed, pass and index.
function Transform:each(images, indices, seed, pass)
  return run_steps(self, images, function(k) return draws(seed, pass, indices[k]) end)
end

function Transform:__call(images)
  if not core.is_tensor(images) then core._fail("transform: a tensor of images expected") end
  local single = images:dim() == 3
  if single then images = images:unsqueeze(1) end
  if #self.steps == 0 then return single and images:squeeze(1) or images end
  local out
  if transform.needs_lua(self) then
    local seed = core._new_seed()
    out = run_steps(self, images, function(k) return draws(seed, k) end, seed)
  else
    local plan = core._data_plan(#images, {{rows = images:detach():cpu()}}, self.steps)
    out = core._plan_batch(plan, core.arange(#images, {device = "cpu"}), core._new_seed(), 0):to(images:device())
  end
  return single and out:squeeze(1) or out
end

function Transform:__tostring()
  local kinds = {}
  for i, step in ipairs(self.steps) do kinds[i] = step.kind end
  return ("Transform(%s)"):format(table.concat(kinds, ", "))
end

return transform
