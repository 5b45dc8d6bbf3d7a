-- A network of a graph: messages along edges by index_select, sums at nodes by index_add. Gilmer and others, "Neural message
-- passing for quantum chemistry", 2017.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Layer = nn.class("Layer")
function Layer:init(width)
  self.message = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
  self.update = nn.Linear(2 * width, width)
  self.norm = nn.LayerNorm(width)
end
function Layer:forward(x, from, to, degree)
  local m = self.message(lg.cat({x:index_select(1, from), x:index_select(1, to)}, 2))
  local sum = lg.zeros(x:size(1), m:size(2), {dtype = m:dtype(), device = m:device()}):index_add(1, to, m)
  return x + F.relu(self.norm(self.update(lg.cat({x, sum / degree}, 2))))
end

local GraphNet = nn.class("GraphNet")
function GraphNet:init(s)
  self.encoder = nn.Linear(s.features, s.width)
  self.layers = nn.ModuleList()
  for _ = 1, s.layers do self.layers:append(Layer(s.width)) end
  self.head = nn.Linear(s.width, s.classes)
end
function GraphNet:forward(x, from, to, degree)
  x = self.encoder(x)
  for _, layer in ipairs(self.layers) do x = layer(x, from, to, degree) end
  return self.head(x)
end

return function(zoo)
  local s = zoo.sizes
  local model = GraphNet(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local x, y = zoo.wave({s.nodes, s.features}), zoo.ids({s.nodes}, s.classes)
  local from, to = zoo.ids({s.edges}, s.nodes, 1), zoo.ids({s.edges}, s.nodes, 2)
  local degree = lg.bincount(to, nil, s.nodes):clamp{min = 1}:float():unsqueeze(2)
  local function loss() return F.cross_entropy(model(x, from, to, degree), y) end
  return zoo.training(model, optimizer, loss, function() return model(x, from, to, degree) end)
end
