-- A loss with a gradient penalty: each step has an inner pass, whose graph the outer one goes through.
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(1)
local critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
local optimizer = lg.optim.Adam(critic:parameters(), {lr = 1e-3})
for step in lg.run.steps(1000000) do
  local real, fake = lg.randn(12, 2) + 3, lg.randn(12, 2)
  local between = (real + fake):requires_grad_()
  local g = lg.grad(critic(between):sum(), {between}, {create_graph = true})[1]
  local penalty = (g:pow(2):sum(2):add(1e-8):sqrt() - 1):pow(2):mean()
  optimizer:zero_grad()
  local loss = critic(fake):mean() - critic(real):mean() + penalty * 10
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss:item()}
end
