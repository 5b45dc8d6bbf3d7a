-- Trains a small network. A reload may add a layer where the text says so.
local lg = require "lunagrad"
local nn = lg.nn
local net = nn.Sequential(
  nn.Linear(16, 32), nn.Tanh(),
  nn.Linear(32, 4))
local optimizer = lg.optim.SGD(net:parameters(), {lr = 1e-2})
for _ in lg.run.steps(10000000) do
  local loss = (net(lg.randn(64, 16)) - 1):square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end
