-- Logs curves of every kind without training: for the drive of Curves and Runs.
local lg = require "lunagrad"
lg.run.live("lr", 0.1, {min = 0, max = 1})
lg.run.state("net", function() return lg.nn.Linear(2, 2) end)
for step in lg.run.steps(300) do
  local x = step / 300
  local loss = math.exp(-3 * x) + 0.05 * math.sin(step)
  lg.run.log{loss = step == 60 and 0 / 0 or loss, val_loss = loss + 0.1, change = 100 * math.sin(step / 20) ^ 3, samples = step * 64}
  if step == 100 then lg.run.checkpoint() end
  if step == 200 then lg.run.breakpoint() end
end
