-- Short steps with three metrics each, at most 25,000 a second: what arrives while the window is held up by other programs is
-- memory too.
local lg = require "lunagrad"
for step in lg.run.steps(1000000000) do
  lg.run.log {loss = 1 / step + step % 7, accuracy = step % 100 / 100, rate = 0.1}
  if step % 1000 == 0 then os.execute("sleep 0.03") end
end
