-- A regression that learns nothing because one line is wrong. docs/tutorial.md finds the bug in the window.
local lg = require "lunagrad"
local nn = lg.nn

local lr = lg.run.live("lr", 0.01, {min = 1e-4, max = 1, log = true})

-- 1024 samples of y = sin(3 a) + b^2 with a little noise.
lg.manual_seed(1)
local points = lg.rand(1024, 2) * 2 - 1
local a, b = points:select(2, 1), points:select(2, 2)
local values = (a * 3):sin() + b * b + lg.randn(1024) * 0.05

local set = lg.data.TensorDataset(points, values)
local loader = lg.run.state("loader", function()
  return lg.data.DataLoader(set, {batch_size = 64, shuffle = true})
end)
local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.Adam(model:parameters(), {lr = lr})
end)

local next_batch = loader:cycle()
for step in lg.run.steps(2000000) do
  local x, y = next_batch()
  local prediction = model(x)
  local error = prediction - y
  local loss = error:square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  if step % 20 == 0 then lg.run.log {loss = loss} end
end

print(("variance of the values: %.3f"):format(values:var():item()))
