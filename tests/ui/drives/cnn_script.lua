-- A convolutional network whose tape has 16 nodes.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Net = nn.class("Net")
function Net:init()
  self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, {padding = 1}), nn.Conv2d(8, 16, 3, {padding = 1})
  self.fc = nn.Linear(16 * 4 * 4, 10)
end
function Net:forward(x)
  x = F.max_pool2d(self.conv1(x):relu(), 2)
  x = F.max_pool2d(self.conv2(x):relu(), 2)
  return self.fc(x:flatten(2))
end

local net = Net()
local adam = lg.optim.Adam(net:parameters(), {lr = lg.run.live("lr", 1e-3)})
local x, y = lg.randn(16, 1, 16, 16), lg.randint(0, 10, {16})
for step in lg.run.steps(1000000) do
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
end
