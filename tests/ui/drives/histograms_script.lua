-- 200 steps; half of a weight's gradient is exactly 0, since half of its inputs are.
local lg = require "lunagrad"
local net = lg.nn.Linear(32, 16)
local x = lg.cat({lg.randn(64, 16), lg.zeros(64, 16)}, 2)
local sgd = lg.optim.SGD(net:parameters(), {lr = 0.01})
for step in lg.run.steps(200) do
  local loss = (net(x) ^ 2):mean()
  sgd:zero_grad(); loss:backward(); sgd:step()
  lg.run.log {loss = loss}
  if step == 3 then lg.run.breakpoint() end
  local until_then = os.clock() + 0.01
  while os.clock() < until_then do end
end
