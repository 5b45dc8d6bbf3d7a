-- A normalizing flow: coupling layers scale and shift one half of the features by functions of the other. Dinh,
-- Sohl-Dickstein, Bengio, "Density estimation using Real NVP", 2017.
local lg = require "lunagrad"
local nn = lg.nn

local Coupling = nn.class("Coupling")
function Coupling:init(half, hidden)
  self.net = nn.Sequential(nn.Linear(half, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
    nn.Linear(hidden, 2 * half))
end
function Coupling:scale_and_shift(x)
  local scale, shift = table.unpack(self.net(x):chunk(2, 2))
  return lg.tanh(scale), shift
end
-- The features with their halves exchanged, and the log-determinant.
function Coupling:forward(x)
  local a, b = table.unpack(x:chunk(2, 2))
  local scale, shift = self:scale_and_shift(a)
  return lg.cat({b * lg.exp(scale) + shift, a}, 2), scale:sum(2)
end
function Coupling:inverse(z)
  local b, a = table.unpack(z:chunk(2, 2))
  local scale, shift = self:scale_and_shift(a)
  return lg.cat({a, (b - shift) * lg.exp(-scale)}, 2)
end

local RealNVP = nn.class("RealNVP")
function RealNVP:init(s)
  self.layers = nn.ModuleList()
  for _ = 1, s.layers do self.layers:append(Coupling(s.features // 2, s.hidden)) end
end
-- The log-likelihood of each x, whose features lie between 0 and 1: their logits flow to a normal distribution.
function RealNVP:forward(x)
  local z, logdet = lg.log(x) - lg.log(1 - x), -(lg.log(x) + lg.log(1 - x)):sum(2)
  for _, layer in ipairs(self.layers) do
    local d
    z, d = layer(z)
    logdet = logdet + d
  end
  return logdet - 0.5 * (z ^ 2 + math.log(2 * math.pi)):sum(2)
end
function RealNVP:inverse(z)
  for i = #self.layers, 1, -1 do z = self.layers[i]:inverse(z) end
  return lg.sigmoid(z)
end

return function(zoo)
  local s = zoo.sizes
  local model = RealNVP(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-4})
  local x, z = zoo.wave({s.batch, s.features}):sigmoid(), zoo.wave({s.batch, s.features}, 3)
  local function loss() return -model(x):mean() / s.features end
  return zoo.training(model, optimizer, loss, function() return model:inverse(z) end)
end
