-- Makes an Inf in step 20 in data that need no gradient, or fails in step 10; where.lua chooses.
local lg = require "lunagrad"
local nn = lg.nn
local fails = lg.run.param("fails", false)
local net = lg.run.state("net", function() return nn.Linear(4, 4) end)
local opt = lg.run.state("opt", function() return lg.optim.SGD(net:parameters(), {lr = 0.01}) end)
for step in lg.run.steps(40) do
  opt:zero_grad()
  local x = lg.randn(8, 4)
  local scaled = x / (not fails and step >= 20 and 0 or 2)
  local y = net(scaled)
  if fails and step == 10 then y = y:matmul(lg.ones(3, 2)) end
  local loss = (y - x):square():mean()
  loss:backward()
  opt:step()
  lg.run.log {loss = loss}
end
