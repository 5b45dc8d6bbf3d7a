-- text(path, {length, stride}): the bytes of a file as sequences for a model that predicts the next byte. Sample i
-- is {x, y}, each i64 [length] with values from 0 to 255: x starts at byte (i - 1) * stride, y one byte later. `stride`
-- defaults to `length`: sequences do not overlap. set.bytes holds all bytes, u8.
local core = require "lunagrad.core"
local dataset = require "lunagrad.data.dataset"
local reader = require("lunagrad.arguments").reader

local Text = dataset.class("text")

local read = reader("text", "path", "length", {"stride"})

function Text:__len()
  return math.max((#self.bytes - 1 - self.length) // self.stride + 1, 0)
end

function Text:plan()
  local function windows(start)
    return {windows = self.bytes, start = start, stride = self.stride, length = self.length}
  end
  self.made = self.made or core._data_plan(#self, {windows(0), windows(1)}, {})
  return self.made
end

function Text:batch(indices) return dataset.batch_of(self:plan(), indices, 0, 0) end

function Text:sample(i)
  return dataset.first_of(self:batch(core.tensor({i - 1}, {device = "cpu"})))
end

return function(...)
  local given = read(...)
  for _, name in ipairs {"length", "stride"} do
    local value = given[name] or given.length
    if math.type(value) ~= "integer" or value < 1 then
      core._fail(("text: %s %s is not a positive integer"):format(name, tostring(value)))
    end
  end
  local bytes = core._read_bytes(given.path)
  if #bytes <= given.length then
    core._fail(("text: %s has %d bytes; a sequence of %d and the byte after it need more"):format(
      given.path, #bytes, given.length))
  end
  return setmetatable({bytes = bytes, length = given.length, stride = given.stride or given.length}, Text)
end
