-- A sum of losses whose graph grows, then weights that become NaN.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
local opt = lg.optim.SGD(model:parameters(), {lr = 0.05})
local total = lg.tensor(0.)
for step in lg.run.steps(3000) do
  opt:zero_grad()
  local x = lg.randn(256, 4)
  local loss = F.mse_loss(model(x), x:sum(2, true))
  if step == 2000 then loss = loss * (loss - loss):log() end
  loss:backward()
  opt:step()
  if step < 200 then total = total + loss end
  lg.run.log {loss = loss}
end
