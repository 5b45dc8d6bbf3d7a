-- ResNet-50. He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2016.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Bottleneck = nn.class("Bottleneck")
function Bottleneck:init(inplanes, planes, stride)
  self.conv1 = nn.Conv2d(inplanes, planes, 1, {bias = false})
  self.bn1 = nn.BatchNorm2d(planes)
  self.conv2 = nn.Conv2d(planes, planes, 3, {stride = stride, padding = 1, bias = false})
  self.bn2 = nn.BatchNorm2d(planes)
  self.conv3 = nn.Conv2d(planes, 4 * planes, 1, {bias = false})
  self.bn3 = nn.BatchNorm2d(4 * planes)
  if stride ~= 1 or inplanes ~= 4 * planes then
    self.downsample = nn.Sequential(
      nn.Conv2d(inplanes, 4 * planes, 1, {stride = stride, bias = false}), nn.BatchNorm2d(4 * planes))
  end
end
function Bottleneck:forward(x)
  local out = F.relu(self.bn1(self.conv1(x)))
  out = F.relu(self.bn2(self.conv2(out)))
  out = self.bn3(self.conv3(out))
  local identity = lg.has(self, "downsample") and self.downsample(x) or x
  return F.relu(out + identity)
end

local ResNet = nn.class("ResNet")
function ResNet:init(layers, classes)
  self.conv1 = nn.Conv2d(3, 64, 7, {stride = 2, padding = 3, bias = false})
  self.bn1, self.maxpool = nn.BatchNorm2d(64), nn.MaxPool2d(3, {stride = 2, padding = 1})
  local blocks, inplanes = {}, 64
  for stage, depth in ipairs(layers) do
    local planes = 32 * 2 ^ stage // 1 | 0
    for i = 1, depth do
      blocks[#blocks + 1] = Bottleneck(inplanes, planes, (i == 1 and stage > 1) and 2 or 1)
      inplanes = 4 * planes
    end
  end
  self.layers = nn.Sequential(table.unpack(blocks))
  self.fc = nn.Linear(inplanes, classes)
end
function ResNet:forward(x)
  x = self.layers(self.maxpool(F.relu(self.bn1(self.conv1(x)))))
  return self.fc(F.adaptive_avg_pool2d(x, 1):flatten(2))
end

return function(zoo)
  local s = zoo.sizes
  local model = ResNet(s.layers, s.classes):to(zoo.device)
  local optimizer = lg.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 1e-4})
  local x, y = zoo.wave({s.batch, 3, s.image, s.image}), zoo.ids({s.batch}, s.classes)
  return zoo.training(model, optimizer, function() return F.cross_entropy(model(x), y) end, function() return model(x) end)
end
