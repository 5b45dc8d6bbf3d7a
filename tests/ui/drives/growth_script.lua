-- Short steps, as many as the machine can do, with three metrics each.
local lg = require "lunagrad"
for step in lg.run.steps(1000000000) do
  lg.run.log {loss = 1 / step + step % 7, accuracy = step % 100 / 100, rate = 0.1}
end
