-- EfficientNet-B0 without stochastic depth. Tan, Le, "EfficientNet: rethinking model scaling for convolutional neural
-- networks", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function conv(inplanes, planes, kernel, stride, groups)
  return nn.Sequential(
    nn.Conv2d(inplanes, planes, kernel, {stride = stride, padding = kernel // 2, groups = groups, bias = false}),
    nn.BatchNorm2d(planes), nn.SiLU())
end

local SqueezeExcite = nn.class("SqueezeExcite")
function SqueezeExcite:init(channels, squeezed)
  self.reduce, self.expand = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
end
function SqueezeExcite:forward(x)
  local y = F.adaptive_avg_pool2d(x, 1)
  return x * self.expand(F.silu(self.reduce(y))):sigmoid()
end

local MBConv = nn.class("MBConv")
function MBConv:init(inplanes, planes, expand, kernel, stride)
  local hidden = inplanes * expand
  self.residual = inplanes == planes and stride == 1
  self.expand = expand > 1 and conv(inplanes, hidden, 1, 1, 1) or nn.Identity()
  self.depthwise = conv(hidden, hidden, kernel, stride, hidden)
  self.se = SqueezeExcite(hidden, math.max(1, inplanes // 4))
  self.project = nn.Sequential(nn.Conv2d(hidden, planes, 1, {bias = false}), nn.BatchNorm2d(planes))
end
function MBConv:forward(x)
  local y = self.project(self.se(self.depthwise(self.expand(x))))
  return self.residual and x + y or y
end

-- Expansion, kernel, stride, channels of each stage.
local STAGES = {{1, 3, 1, 16}, {6, 3, 2, 24}, {6, 5, 2, 40}, {6, 3, 2, 80}, {6, 5, 1, 112}, {6, 5, 2, 192}, {6, 3, 1, 320}}

local EfficientNet = nn.class("EfficientNet")
function EfficientNet:init(depths, classes, dropout)
  local blocks, planes = {conv(3, 32, 3, 2, 1)}, 32
  for i, stage in ipairs(STAGES) do
    local expand, kernel, stride, channels = table.unpack(stage)
    for k = 1, depths[i] do
      blocks[#blocks + 1] = MBConv(planes, channels, expand, kernel, k == 1 and stride or 1)
      planes = channels
    end
  end
  blocks[#blocks + 1] = conv(planes, 1280, 1, 1, 1)
  self.features = nn.Sequential(table.unpack(blocks))
  self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))
end
function EfficientNet:forward(x)
  return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1):flatten(2))
end

return function(zoo)
  local s = zoo.sizes
  local model = EfficientNet(s.depths, s.classes, s.dropout):to(zoo.device)
  local optimizer = lg.optim.RMSprop(model:parameters(), {lr = 1e-3, momentum = 0.9, eps = 1e-3})
  local x, y = zoo.wave({s.batch, 3, s.image, s.image}), zoo.ids({s.batch}, s.classes)
  return zoo.training(model, optimizer, function() return F.cross_entropy(model(x), y) end, function() return model(x) end)
end
