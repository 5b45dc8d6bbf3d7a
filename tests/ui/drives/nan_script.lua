local lg = require "lunagrad"
local w = lg.ones(3, {requires_grad = true})
local shift = lg.tensor{0.0, 0.05, 0.11}
for step in lg.run.steps(20) do
  local x = w - shift * step
  local y = x:log()
  y:sum():backward()
  w.grad = nil
  lg.run.log {loss = y:sum()}
end
