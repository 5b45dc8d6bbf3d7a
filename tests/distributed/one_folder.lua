-- All ranks log and write checkpoints; rank 0 alone has a folder.
local lg = require "lunagrad"
local dist = lg.distributed
dist.init()
local x = lg.run.state("x", function() return lg.zeros(3) end)
for step in lg.run.steps(5) do
  x:add_(1)
  dist.all_reduce_(x, "mean")
  lg.run.log {x = x:sum()}
  if step == 5 then lg.run.checkpoint() end
end
assert(x:sum():item() == 15)
