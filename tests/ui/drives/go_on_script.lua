-- A small training whose loss line a drive replaces. Its last line of output has every bit of the result.
local lg = require "lunagrad"
local nn = lg.nn
local model = lg.run.state("model", function() return nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)) end)
local opt = lg.run.state("opt", function() return lg.optim.Adam(model:parameters(), {lr = 0.01}) end)
local steps = tonumber(arg[1] or 60)
for step in lg.run.steps(steps) do
  opt:zero_grad()
  local x = lg.randn(2000, 8)
  local loss = (model(x) - x:sum(2, true)):square():mean()
  loss:backward()
  opt:step()
  lg.run.log {loss = loss}
end
print(("end %d %a"):format(steps, model[1].weight:sum():item()))
