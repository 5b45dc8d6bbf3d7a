-- Transforms of colour: grayscale and colour jitter, with torchvision's names, arguments and formulas. Steps take images
-- [N, C, H, W] with values from 0 to 1.
local core = require "lunagrad.core"
local geometry = require "lunagrad.data.geometry"
local transform = require "lunagrad.data.transform"
local reader = require("lunagrad.arguments").reader

local fail = core._fail
local colour = {}

local function check_channels(owner, x)
  if x:size(2) ~= 1 and x:size(2) ~= 3 then
    fail(("%s: images of 1 or 3 channels expected (got %d)"):format(owner, x:size(2)))
  end
end

-- The luma of ITU-R BT.601, [N, 1, H, W].
local function gray(x)
  if x:size(2) == 1 then return x end
  return x:narrow(2, 1, 1) * 0.2989 + x:narrow(2, 2, 1) * 0.587 + x:narrow(2, 3, 1) * 0.114
end

local function spread(x, channels) return channels == 1 and x or core.cat({x, x, x}, 2) end

local read_gray = reader("grayscale", {"num_output_channels", 1})

function colour.grayscale(...)
  local channels = read_gray(...).num_output_channels
  if channels ~= 1 and channels ~= 3 then
    fail(("grayscale: num_output_channels is 1 or 3 (got %s)"):format(tostring(channels)))
  end
  return transform.step("grayscale", function(x)
    check_channels("grayscale", x)
    return spread(gray(x), channels)
  end)
end

local read_random_gray = reader("random_grayscale", {"p", 0.1})

function colour.random_grayscale(...)
  local p = read_random_gray(...).p
  geometry._check_share("random_grayscale", p)
  return transform.step("random_grayscale", function(x, draws)
    check_channels("random_grayscale", x)
    return draws:uniform() < p and spread(gray(x), x:size(2)) or x
  end, true)
end

-- A mix of two images, clamped to 0 … 1.
local function blend(x, other, share) return (x * share + other * (1 - share)):clamp(0, 1) end

-- Turns the hue by a share of the circle, through the hexagon of hue, saturation and value.
local function turn_hue(x, share)
  if x:size(2) == 1 then return x end
  local r, g, b = x:narrow(2, 1, 1), x:narrow(2, 2, 1), x:narrow(2, 3, 1)
  local most, least = x:amax(2, true), x:amin(2, true)
  local chroma = most - least
  local safe = core.where(chroma:eq(0), core.ones_like(chroma), chroma)
  local hue = core.where(most:eq(r), (g - b) / safe % 6, core.where(most:eq(g), (b - r) / safe + 2, (r - g) / safe + 4))
  hue = (hue + share * 6) % 6
  -- Each channel is value - chroma clamp(min(k, 4 - k), 0, 1) with k = (n + hue) mod 6.
  local channels = {}
  for i, n in ipairs {5, 3, 1} do
    local k = (hue + n) % 6
    channels[i] = most - chroma * core.minimum(k, 4 - k):clamp(0, 1)
  end
  return core.cat(channels, 2)
end

local adjust = {
  function(x, factor) return (x * factor):clamp(0, 1) end,
  function(x, factor) return blend(x, gray(x):mean({2, 3, 4}, true), factor) end,
  function(x, factor) return x:size(2) == 1 and x or blend(x, gray(x), factor) end,
  turn_hue,
}

-- {from, to} of a factor: a number v stands for {max(0, 1 - v), 1 + v}, for the hue {-v, v}.
local function factors(name, value)
  if type(value) == "number" then
    if not (value >= 0) or name == "hue" and value > 0.5 then
      fail(("color_jitter: %s is a number from 0%s, or {from, to} (got %g)"):format(name, name == "hue" and " to 0.5" or "", value))
    end
    if value == 0 then return nil end
    return name == "hue" and {-value, value} or {math.max(0, 1 - value), 1 + value}
  end
  geometry._range_of("color_jitter", name, value, name == "hue" and -0.5 or 0)
  return value
end

local read_jitter = reader("color_jitter", {"brightness", 0}, {"contrast", 0}, {"saturation", 0}, {"hue", 0})

-- Changes brightness, contrast, saturation and hue by random factors, in random order.
function colour.color_jitter(...)
  local a, ranges = read_jitter(...), {}
  for i, name in ipairs {"brightness", "contrast", "saturation", "hue"} do ranges[i] = factors(name, a[name]) or false end
  return transform.step("color_jitter", function(x, draws)
    check_channels("color_jitter", x)
    local order = {1, 2, 3, 4}
    for i = 4, 2, -1 do
      local k = draws:integer(1, i)
      order[i], order[k] = order[k], order[i]
    end
    local chosen = {}
    for i = 1, 4 do chosen[i] = ranges[i] and draws:uniform(ranges[i][1], ranges[i][2]) end
    for _, i in ipairs(order) do
      if chosen[i] then x = adjust[i](x, chosen[i]) end
    end
    return x
  end, true)
end

return colour
