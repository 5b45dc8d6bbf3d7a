-- A training on points.csv in the current folder, which the script waits for.
local lg = require "lunagrad"
repeat
  local file <close> = io.open("points.csv")
until file

local points = lg.data.csv("points.csv")
local work = lg.ones(200, 200)
local model = lg.run.state("model", function() return lg.nn.Linear(2, 1) end)
lg.run.state("ballast", function() return lg.nn.Linear(4096, 4096) end)  -- keyframes of 64 MiB are few
local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(model:parameters(), {lr = 0.01}) end)

for _ in lg.run.steps(100000) do
  local x, y = points:narrow(2, 1, 2), points:narrow(2, 3, 1)
  optimizer:zero_grad()
  local loss = ((model(x) - y + 0.01 * lg.randn(y:size(1), 1)) ^ 2):mean()
  loss:backward()
  optimizer:step()
  -- The drive makes steps slow, so that it can cancel a replay of them.
  local slow <close> = io.open("slow")
  for _ = 1, slow and 80 or 4 do work:matmul(work) end
  lg.run.log{loss = loss}
end
