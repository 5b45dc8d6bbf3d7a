-- Flatten(start_dim = 2, end_dim = -1), Unflatten(dim, sizes), Identity, and the modules of ops that move channels:
-- PixelShuffle(upscale_factor), PixelUnshuffle(downscale_factor), ChannelShuffle(groups). Dims count from 1, so Flatten()
-- keeps the batch dim.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local reader = require("lunagrad.arguments").reader

local Flatten = class("Flatten")
local read = reader("Flatten", {"start_dim", 2}, {"end_dim", -1})

function Flatten:init(...)
  local a = read(...)
  self.start_dim, self.end_dim = a.start_dim, a.end_dim
end

function Flatten:forward(x)
  return x:flatten(self.start_dim, self.end_dim)
end

function Flatten:extra_repr()
  if self.start_dim == 2 and self.end_dim == -1 then return "" end
  return ("%d, %d"):format(self.start_dim, self.end_dim)
end

-- Splits dim `dim` into dims of the given sizes, one of which may be -1.
local Unflatten = class("Unflatten")
local read_unflatten = reader("Unflatten", "dim", "unflattened_size")

function Unflatten:init(...)
  local a = read_unflatten(...)
  if math.type(a.dim) ~= "integer" then
    core._fail(("Unflatten: dim must be an integer (got %s)"):format(tostring(a.dim)))
  end
  if type(a.unflattened_size) ~= "table" or #a.unflattened_size == 0 then
    core._fail(("Unflatten: a list of sizes expected (got %s)"):format(tostring(a.unflattened_size)))
  end
  self.dim, self.unflattened_size = a.dim, a.unflattened_size
end

function Unflatten:forward(x)
  local shape, dim = x:size(), self.dim
  local at = dim < 0 and #shape + 1 + dim or dim
  if at < 1 or at > #shape then
    core._fail(("Unflatten: dim %d is out of range for shape [%s]"):format(dim, table.concat(shape, ", ")))
  end
  local product, free = 1.0, nil -- an f64 product does not wrap around
  for i, size in ipairs(self.unflattened_size) do
    if size == -1 and not free then
      free = i
    elseif math.type(size) ~= "integer" or size < 0 then
      core._fail(("Unflatten: size %s at position %d is no size"):format(tostring(size), i))
    else
      product = product * size
    end
  end
  local fits = free and product > 0 and shape[at] % product == 0 or not free and product == shape[at]
  if not fits then
    core._fail(("Unflatten: sizes {%s} do not fit the %d elements of dim %d"):format(
      table.concat(self.unflattened_size, ", "), shape[at], at))
  end
  local sizes = table.move(shape, 1, at - 1, 1, {})
  for i, size in ipairs(self.unflattened_size) do sizes[#sizes + 1] = i == free and math.tointeger(shape[at] // product) or size end
  return x:reshape(table.move(shape, at + 1, #shape, #sizes + 1, sizes))
end

function Unflatten:extra_repr()
  return ("dim = %d, unflattened_size = {%s}"):format(self.dim, table.concat(self.unflattened_size, ", "))
end

local shapes = {Flatten = Flatten, Unflatten = Unflatten}

for _, row in ipairs {
  {"PixelShuffle", core.pixel_shuffle, "upscale_factor"}, {"PixelUnshuffle", core.pixel_unshuffle, "downscale_factor"},
  {"ChannelShuffle", core.channel_shuffle, "groups"},
} do
  local name, op, field = table.unpack(row)
  local Shuffle = class(name)
  local read_shuffle = reader(name, field)

  function Shuffle:init(...) self[field] = read_shuffle(...)[field] end

  function Shuffle:forward(x) return op(x, self[field]) end

  function Shuffle:extra_repr() return ("%s = %s"):format(field, tostring(self[field])) end

  shapes[name] = Shuffle
end

local Identity = class("Identity")

function Identity:init() end

function Identity:forward(x) return x end

shapes.Identity = Identity

return shapes
