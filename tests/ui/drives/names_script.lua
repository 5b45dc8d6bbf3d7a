-- Two networks of one class: each step trains both.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.manual_seed(1)
local G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
local D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
local of_g, of_d = lg.optim.Adam(G:parameters(), {lr = 1e-3}), lg.optim.Adam(D:parameters(), {lr = 1e-3})
for step in lg.run.steps(1000000) do
  of_d:zero_grad()
  local real = F.softplus(-D(lg.randn(32, 2) + 3)):mean()
  real:backward()
  of_d:step()
  of_g:zero_grad()
  local fooled = F.softplus(-D(G(lg.randn(32, 4)))):mean()
  fooled:backward()
  of_g:step()
  lg.run.log {fooled = fooled:item()}
end
