-- A network with elementwise chains, within modules and across them, for groups.lua.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Swish = nn.class("Swish")
function Swish:forward(x) return (x * 1.5 + 0.1) * (x * 0.5 - 0.2):sigmoid() end

local net = nn.Sequential(nn.Linear(64, 512), Swish(), nn.Linear(512, 512), Swish(), nn.Linear(512, 10))
local adam = lg.optim.AdamW(net:parameters(), {lr = 1e-3})
local x, target = lg.randn(512, 64), lg.randint(0, 10, {512})
for _ in lg.run.steps(100000) do
  local y = net(x)
  local scaled = ((y - 0.5) * 2 + 1):tanh() * 3
  collectgarbage()  -- dropped tensors need not be written to memory
  local loss = F.cross_entropy(scaled, target)
  adam:zero_grad()
  loss:backward()
  adam:step()
  lg.run.log {loss = loss}
end
