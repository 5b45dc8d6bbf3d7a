-- A network whose hidden layer dies in step 1: its learning rate is so large that every unit gets a bias of about -20. The
-- output layer trains on with its own optimizer, so the loss falls, and nothing else shows it.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
lg.no_grad(function()
  net[1].bias:fill_(0.5)
  net[3].weight:fill_(0.5)
end)
local fast = lg.optim.SGD(net[1]:parameters(), {lr = 1.5})
local slow = lg.optim.SGD(net[3]:parameters(), {lr = 1e-4})
local x, y = lg.rand(64, 4) * 0.1, lg.full({64, 1}, -10.)
for step in lg.run.steps(10000000) do
  local loss = F.mse_loss(net(x), y)
  fast:zero_grad()
  slow:zero_grad()
  loss:backward()
  fast:step()
  slow:step()
  lg.run.log {loss = loss}
end
