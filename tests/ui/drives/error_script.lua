-- Fails in step 10, whose batch has another shape.
local lg = require "lunagrad"
local w, v = lg.randn(4, 8):requires_grad_(), lg.randn(8, 2):requires_grad_()
local optimizer = lg.optim.SGD({w, v}, {lr = 0.01})
for step in lg.run.steps(100) do
  local x = lg.randn(step == 10 and 7 or 6, 4)
  local h = x:matmul(w):relu()
  if step == 10 then h = h:narrow(2, 1, 5) end
  local y = h:matmul(v)
  optimizer:zero_grad()
  y:pow(2):mean():backward()
  optimizer:step()
end
