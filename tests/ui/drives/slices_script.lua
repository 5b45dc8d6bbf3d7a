-- For slices.lua: tensors with four dims, logarithms of negative numbers, and an op with a wrong gradient.
local lg = require "lunagrad"
local F = lg.nn.functional

lg.manual_seed(1)
local twice = lg.custom_op {
  name = "twice",
  forward = function(ctx, x) return x * 2 end,
  backward = function(ctx, gradient) return gradient end,
}
local weight = lg.randn(6, 3, 3, 3):requires_grad_()
for step in lg.run.steps() do
  local y = F.conv2d(lg.randn(4, 3, 16, 16), weight)
  local loss = twice(y:log()):sum()
  weight.grad = nil
  loss:backward()
  print("step " .. step)
end
