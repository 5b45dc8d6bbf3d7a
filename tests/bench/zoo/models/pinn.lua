-- A network that solves Burgers' equation: its loss has derivatives of the output by the inputs. Raissi, Perdikaris,
-- Karniadakis, "Physics-informed neural networks", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Net = nn.class("Net")
function Net:init(s)
  local layers = {nn.Linear(2, s.width), nn.Tanh()}
  for _ = 2, s.layers do
    layers[#layers + 1] = nn.Linear(s.width, s.width)
    layers[#layers + 1] = nn.Tanh()
  end
  layers[#layers + 1] = nn.Linear(s.width, 1)
  self.net = nn.Sequential(table.unpack(layers))
end
function Net:forward(x, t) return self.net(lg.cat({x, t}, 2)) end

local function derivative(y, x) return table.unpack(lg.grad(y, x, {grad_outputs = lg.ones_like(y), create_graph = true})) end

return function(zoo)
  local s = zoo.sizes
  local model = Net(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local points = zoo.wave({s.points, 2}) / 1.74
  local x, t = points[{{}, {1, 1}}]:clone():requires_grad_(), (0.5 * points[{{}, {2, 2}}] + 0.5):requires_grad_()
  local border, times = zoo.wave({s.known, 1}) / 1.74, 0.5 * zoo.wave({s.known, 1}, 1) / 1.74 + 0.5
  local first, start, ones = -lg.sin(math.pi * border), lg.zeros_like(times), lg.ones_like(times)

  local function loss()
    local u = model(x, t)
    local u_x, u_t = derivative(u, {x, t})
    local u_xx = derivative(u_x, {x})
    local residual = u_t + u * u_x - 0.01 / math.pi * u_xx
    local known = F.mse_loss(model(border, start), first)
    local ends = (model(ones, times) ^ 2):mean() + (model(-ones, times) ^ 2):mean()
    return (residual ^ 2):mean() + known + ends
  end
  return zoo.training(model, optimizer, loss, function() return model(x, t) end)
end
