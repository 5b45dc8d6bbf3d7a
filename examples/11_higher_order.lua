-- Solves the differential equation u'' = -u with u(0) = 0 and u'(0) = 1, whose solution is the sine, with a network. The
-- loss contains the second derivative of the network with respect to its input; training differentiates it once more.
-- M. Raissi, P. Perdikaris, G. E. Karniadakis, "Physics-informed neural networks", 2019.
local lg = require "lunagrad"
local nn = lg.nn

local steps = lg.run.param("steps", 3000, {min = 1, max = 100000})
local lr = lg.run.live("lr", 1e-2, {min = 1e-6, max = 1, log = true})
local reach = 2 * math.pi

lg.manual_seed(lg.run.param("weights_seed", 1))
local net = lg.run.state("net", function()
  return nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
end)

-- This form satisfies u(0) = 0 and u'(0) = 1 for any output of the network.
local function u(t) return t + t:square() * net(2 * t / reach - 1) end

-- Elementwise dy/dt: each y depends on its own t alone, so the gradient of the sum contains all derivatives.
local function derivative(y, t) return lg.grad(y:sum(), {t}, {create_graph = true})[1] end

local done = 0
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.Adam(net:parameters(), {lr = function() return lr() * (1 - done / steps) end})
end)

for step in lg.run.steps(steps) do
  done = step - 1
  local t = lg.linspace(0, reach, 64):unsqueeze(2):requires_grad_()
  local y = u(t)
  local residual = derivative(derivative(y, t), t) + y
  local loss = residual:square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end

lg.no_grad(function()
  local t = lg.linspace(0, reach, 9):unsqueeze(2)
  local found, wanted = u(t):squeeze(2):tolist(), t:sin():squeeze(2):tolist()
  print("     t     u(t)    sin(t)")
  for i, value in ipairs(found) do
    print(("%6.3f %8.4f %9.4f"):format(t[i][1]:item(), value, wanted[i]))
  end
  local all = lg.linspace(0, reach, 200):unsqueeze(2)
  print(("largest error %.4f"):format((u(all) - all:sin()):abs():max():item()))
end)
