-- PointNet with its transform of the input: classes of clouds of points. Qi and others, "PointNet: deep learning on point sets
-- for 3D classification and segmentation", 2017.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function pointwise(inplanes, planes)
  return nn.Sequential(nn.Conv1d(inplanes, planes, 1), nn.BatchNorm1d(planes), nn.ReLU())
end
local function dense(inplanes, planes)
  return nn.Sequential(nn.Linear(inplanes, planes), nn.BatchNorm1d(planes), nn.ReLU())
end

local Transform = nn.class("Transform")
function Transform:init(k, width)
  self.k = k
  self.points = nn.Sequential(pointwise(k, width), pointwise(width, 2 * width), pointwise(2 * width, 16 * width))
  self.whole = nn.Sequential(dense(16 * width, 8 * width), dense(8 * width, 4 * width), nn.Linear(4 * width, k * k))
end
function Transform:forward(x)
  local y = self.whole(self.points(x):amax(3))
  return y:view(-1, self.k, self.k) + lg.eye(self.k, {device = x:device()})
end

local PointNet = nn.class("PointNet")
function PointNet:init(s)
  local w = s.width
  self.input, self.first = Transform(3, w), pointwise(3, w)
  self.feature, self.rest = Transform(w, w), nn.Sequential(pointwise(w, 2 * w), pointwise(2 * w, 16 * w))
  self.head = nn.Sequential(dense(16 * w, 8 * w), dense(8 * w, 4 * w), nn.Dropout(s.dropout), nn.Linear(4 * w, s.classes))
end
function PointNet:forward(x)
  x = self.first(lg.bmm(self.input(x), x))
  local transform = self.feature(x)
  x = lg.bmm(transform, x)
  return self.head(self.rest(x):amax(3)), transform
end

return function(zoo)
  local s = zoo.sizes
  local model = PointNet(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local x, y = zoo.wave({s.batch, 3, s.points}), zoo.ids({s.batch}, s.classes)
  local eye = lg.eye(s.width, {device = zoo.device})
  local function loss()
    local logits, transform = model(x)
    local off = lg.bmm(transform, transform:transpose(2, 3)) - eye
    return F.cross_entropy(logits, y) + 0.001 * off:norm({dim = {2, 3}}):mean()
  end
  return zoo.training(model, optimizer, loss, function() return (model(x)) end)
end
