-- A training on points.csv in the current folder, which the script waits for.
local lg = require "lunagrad"
repeat
  local file <close> = io.open("points.csv")
until file

local points = lg.data.csv("points.csv")
local model = lg.run.state("model", function() return lg.nn.Linear(2, 1) end)
lg.run.state("ballast", function() return lg.nn.Linear(4096, 4096) end)  -- keyframes of 64 MiB are few
local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(model:parameters(), {lr = 0.01}) end)

for _ in lg.run.steps(100000) do
  local x, y = points:narrow(2, 1, 2), points:narrow(2, 3, 1)
  optimizer:zero_grad()
  local loss = ((model(x) - y + 0.01 * lg.randn(y:size(1), 1)) ^ 2):mean()
  loss:backward()
  optimizer:step()
  -- Steps that take a while, so that a replay does, too.
  for _ = 1, 4 do lg.rand(160, 160):matmul(lg.rand(160, 160)) end
  lg.run.log{loss = loss}
end
