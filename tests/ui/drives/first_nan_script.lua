-- The weights shrink until, in step 20, the root of a negative number is NaN.
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.tensor({10., 1.}, {requires_grad = true}) end)
for step in lg.run.steps(400) do
  w.grad = nil
  lg.no_grad(function() w:sub_(0.0525) end)
  local scale = lg.tensor{2., 3.}
  local root = w:sqrt()
  local loss = (root * scale):sum()
  loss:backward()
  lg.run.log {loss = loss}
end
