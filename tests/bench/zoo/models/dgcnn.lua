-- A network of points and their nearest neighbours, found again by each layer. Wang and others, "Dynamic graph CNN for learning
-- on point clouds", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

-- The indices [B, N, k] of the nearest of points [B, N, C].
local function nearest(x, k)
  local squares = (x ^ 2):sum(-1, {keepdim = true})
  return select(2, ((2 * x):matmul(x:transpose(2, 3)) - squares - squares:transpose(2, 3)):topk(k, -1))
end

local EdgeConv = nn.class("EdgeConv")
function EdgeConv:init(inplanes, planes, k)
  self.conv, self.k = nn.Conv2d(2 * inplanes, planes, 1, {bias = false}), k
  self.norm = nn.BatchNorm2d(planes)
end
function EdgeConv:forward(x)
  local B, C, N = table.unpack(x.shape)
  local points = x:transpose(2, 3):contiguous()
  local index = nearest(points, self.k) + lg.arange(B, {device = x:device()}):view(-1, 1, 1) * N
  local neighbours = points:view(B * N, C)[index:view(-1)]:view(B, N, self.k, C)
  local center = points:unsqueeze(3):expand(-1, -1, self.k, -1)
  local edges = lg.cat({neighbours - center, center}, 4):permute(1, 4, 2, 3)
  return (F.leaky_relu(self.norm(self.conv(edges)), 0.2):max(-1))
end

local function dense(inplanes, planes, dropout)
  return nn.Sequential(nn.Linear(inplanes, planes, {bias = false}), nn.BatchNorm1d(planes), nn.LeakyReLU(0.2),
    nn.Dropout(dropout))
end

local DGCNN = nn.class("DGCNN")
function DGCNN:init(s)
  local w = s.width
  self.layers = nn.ModuleList()
  local inplanes, total = 3, 0
  for _, planes in ipairs {w, w, 2 * w, 4 * w} do
    self.layers:append(EdgeConv(inplanes, planes, s.neighbours))
    inplanes, total = planes, total + planes
  end
  self.last = nn.Sequential(nn.Conv1d(total, 16 * w, 1, {bias = false}), nn.BatchNorm1d(16 * w), nn.LeakyReLU(0.2))
  self.head = nn.Sequential(dense(32 * w, 8 * w, s.dropout), dense(8 * w, 4 * w, s.dropout), nn.Linear(4 * w, s.classes))
end
function DGCNN:forward(x)
  local outputs = {}
  for i, layer in ipairs(self.layers) do
    x = layer(x)
    outputs[i] = x
  end
  x = self.last(lg.cat(outputs, 2))
  return self.head(lg.cat({F.adaptive_max_pool1d(x, 1):squeeze(-1), F.adaptive_avg_pool1d(x, 1):squeeze(-1)}, 2))
end

return function(zoo)
  local s = zoo.sizes
  local model = DGCNN(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3, weight_decay = 1e-4})
  local x, y = zoo.wave({s.batch, 3, s.points}), zoo.ids({s.batch}, s.classes)
  local function loss() return F.cross_entropy(model(x), y, {label_smoothing = 0.2}) end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
