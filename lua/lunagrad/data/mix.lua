-- Mixtures of the images of a batch: mixup (Zhang et al., ICLR 2018) and cutmix (Yun et al., ICCV 2019). Each is called
-- with the images [N, …] and the classes of a batch, i64 [N] or shares [N, num_classes], and returns images and shares
-- of classes.
--
--   local mix = data.transform.mixup{num_classes = 10, alpha = 0.2}
--   for x, y in loader do x, y = mix(x, y) … F.cross_entropy(model(x), y) … end
local core = require "lunagrad.core"
local draws = require "lunagrad.data.draws"
local reader = require("lunagrad.arguments").reader

local fail = core._fail
local mix = {}

local function shares_of(owner, y, x, classes)
  if not core.is_tensor(x) or not core.is_tensor(y) or #x ~= #y then
    fail(("%s: images [N, …] and classes [N] expected, as %s(x, y)"):format(owner, owner))
  end
  if y:dim() == 2 and y:dtype():find "^[bf]%a*%d" then return y end
  if y:dim() ~= 1 then
    fail(("%s: classes [N] or shares [N, num_classes] expected (got shape [%s])"):format(owner, table.concat(y:size(), ", ")))
  elseif not classes then
    fail(("%s: num_classes is needed for classes; write %s{num_classes = …}"):format(owner, owner))
  end
  return core.one_hot(y:long(), classes):float()
end

local function maker(owner, default, combine)
  local read = reader(owner, {"alpha", default}, {"num_classes"})
  return function(...)
    local a = read(...)
    if type(a.alpha) ~= "number" or not (a.alpha > 0) then
      fail(("%s: alpha must be above 0 (got %s)"):format(owner, tostring(a.alpha)))
    elseif a.num_classes ~= nil and (math.type(a.num_classes) ~= "integer" or a.num_classes < 1) then
      fail(("%s: num_classes must be a positive integer (got %s)"):format(owner, tostring(a.num_classes)))
    end
    return function(x, y)
      local shares = shares_of(owner, y, x, a.num_classes)
      local source = draws(core._new_seed())
      local images, share = combine(x, x:roll(1, 1), source:beta(a.alpha, a.alpha), source)
      return images, shares * share + shares:roll(1, 1) * (1 - share)
    end
  end
end

-- Mixes each image with the image before it.
mix.mixup = maker("mixup", 1.0, function(x, other, share)
  return x * share + other * (1 - share), share
end)

-- Copies a box into each image from the image before it; the classes are mixed in proportion to the areas.
mix.cutmix = maker("cutmix", 1.0, function(x, other, share, source)
  if x:dim() ~= 4 then fail(("cutmix: images [N, C, H, W] expected (got shape [%s])"):format(table.concat(x:size(), ", "))) end
  local height, width = x:size(3), x:size(4)
  local row, column = source:integer(0, height - 1), source:integer(0, width - 1)
  local half = 0.5 * math.sqrt(1 - share)
  local h, w = math.floor(half * height), math.floor(half * width)
  local top, left = math.max(0, row - h), math.max(0, column - w)
  local bottom, right = math.min(height, row + h), math.min(width, column + w)
  local out = x:clone()
  if bottom > top and right > left then
    local function box(t) return t:narrow(3, top + 1, bottom - top):narrow(4, left + 1, right - left) end
    box(out):copy_(box(other))
  end
  return out, 1 - (bottom - top) * (right - left) / (height * width)
end)

return mix
