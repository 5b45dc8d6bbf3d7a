-- A training that logs what a probe can read, so that both can be compared.
local lg = require "lunagrad"
local steps = lg.run.param("steps", 100000)
local lr = lg.run.live("lr", 0.05, {min = 1e-4, max = 1})

local Net = lg.nn.class "Net"
function Net:init()
  self.fc1, self.fc2 = lg.nn.Linear(256, 256), lg.nn.Linear(256, 4)
end
function Net:forward(x) return self.fc2(self.fc1(x):tanh()) end

local model = lg.run.state("model", function() return Net() end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(model:parameters(), {lr = lr}) end)

for step in lg.run.steps(steps) do
  local x = lg.randn(256, 256)
  local target = x:narrow(2, 1, 4) * 0.5
  optimizer:zero_grad()
  local loss = ((model(x) - target) ^ 2):mean()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss, fc1 = model.fc1.weight.grad:norm()}
end
