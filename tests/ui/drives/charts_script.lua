-- Logs the metrics of a GAN without training: two losses, the second over several decades, a share, and norms with a prefix. For charts.lua.
local lg = require "lunagrad"
for step in lg.run.steps(400) do
  lg.run.log {["grad/d"] = 1 + step % 3, ["grad/g"] = 2, accuracy = 1 - 1 / step}
  local peak = step == 49 and 10.44 or 0
  lg.run.log {["loss/d"] = math.exp(-step / 40) + peak, ["loss/g"] = 0.5, other_loss = 1 + step / 400}
  if step > 200 then lg.run.log {late_loss = 1} end
  if step == 200 then lg.run.breakpoint() end
end
