-- A U-Net of volumes, which segments them. Çiçek and others, "3D U-Net: learning dense volumetric segmentation from sparse
-- annotation", 2016.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function double(inplanes, planes)
  return nn.Sequential(
    nn.Conv3d(inplanes, planes, 3, {padding = 1}), nn.InstanceNorm3d(planes, {affine = true}), nn.LeakyReLU(0.01),
    nn.Conv3d(planes, planes, 3, {padding = 1}), nn.InstanceNorm3d(planes, {affine = true}), nn.LeakyReLU(0.01))
end

local UNet3d = nn.class("UNet3d")
function UNet3d:init(s)
  self.down, self.up = nn.ModuleList(), nn.ModuleList()
  local planes = s.modalities
  for level = 0, s.levels - 1 do
    self.down:append(double(planes, s.width << level))
    planes = s.width << level
  end
  for level = s.levels - 2, 0, -1 do
    self.up:append(double(planes + (s.width << level), s.width << level))
    planes = s.width << level
  end
  self.last = nn.Conv3d(planes, s.classes, 1)
end
function UNet3d:forward(x)
  local skips = {}
  for i, block in ipairs(self.down) do
    x = block(i > 1 and F.max_pool3d(x, 2) or x)
    skips[i] = x
  end
  table.remove(skips)
  for _, block in ipairs(self.up) do
    x = F.interpolate(x, {scale_factor = 2, mode = "trilinear", align_corners = false})
    x = block(lg.cat({table.remove(skips), x}, 2))
  end
  return self.last(x)
end

local function dice_loss(logits, y, classes)
  local p, target = F.softmax(logits, 2), F.one_hot(y, classes):permute(1, 5, 2, 3, 4):float()
  local both, either = (p * target):sum({3, 4, 5}), (p + target):sum({3, 4, 5})
  return 1 - ((2 * both + 1) / (either + 1)):mean()
end

return function(zoo)
  local s = zoo.sizes
  local model = UNet3d(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 1e-4})
  local x = zoo.wave({s.batch, s.modalities, s.volume, s.volume, s.volume})
  local y = zoo.ids({s.batch, s.volume, s.volume, s.volume}, s.classes)
  local function loss()
    local logits = model(x)
    return F.cross_entropy(logits, y) + dice_loss(logits, y, s.classes)
  end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
