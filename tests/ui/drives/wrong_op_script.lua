-- Trains a network with an op of its own that errs by a hundredth in f32, forward in one place and backward in another.
local lg = require "lunagrad"
local function off(x) return x.dtype == "f32" and 1.01 or 1 end
local squared = lg.custom_op {
  name = "nearly_square",
  forward = function(ctx, x)
    ctx:save(x)
    return x * x * off(x)
  end,
  backward = function(ctx, g) return g * 2 * ctx:saved() end,
}
local net = lg.nn.Sequential(lg.nn.Linear(16, 32), lg.nn.Tanh(), lg.nn.Linear(32, 8))
local optimizer = lg.optim.SGD(net:parameters(), {lr = 1e-3})
for _ in lg.run.steps(1000000) do
  local x = lg.randn(64, 16)
  local y = squared(net(x)):mean()
  local z = net(x):relu():sum() / 100
  local loss = y + z
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end
