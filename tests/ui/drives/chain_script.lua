-- A chain of 200 layers without modules, of four different sizes.
local lg = require "lunagrad"
local F = lg.nn.functional

local weights = {}
for i = 1, 200 do weights[i] = (lg.randn(8 + i % 4, 8 + (i - 1) % 4) / 3):requires_grad_() end
local x = lg.randn(4, 8)
for step in lg.run.steps(1000000) do
  local y = x
  for i = 1, 200 do y = F.linear(y, weights[i]):tanh() end
  local loss = y:square():mean()
  for _, weight in ipairs(weights) do weight.grad = nil end
  loss:backward()
  lg.run.log {loss = loss}
end
