-- XOR: the smallest problem that needs a hidden layer.
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(1)

local x = lg.tensor {{0.0, 0}, {0, 1}, {1, 0}, {1, 1}}
local y = lg.tensor {{0.0}, {1}, {1}, {0}}

local model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
print(model)

local loss_of = nn.MSELoss()
local optimizer = lg.optim.Adam(model:parameters(), {lr = lg.run.param("lr", 0.05)})

local loss
for step in lg.run.steps(400) do
  optimizer:zero_grad()
  loss = loss_of(model(x), y)
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end

local answer = model(x)
for i = 1, 4 do
  print(("%d xor %d = %.3f"):format(x[i][1]:item(), x[i][2]:item(), answer[i]:item()))
end
assert(loss:item() < 0.01, "the network did not learn xor")
