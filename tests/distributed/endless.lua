-- Trains and writes checkpoints until it is killed. The argument says how the ranks train.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
dist.init()
local how = arg[1] or "data_parallel"
local net = lg.run.state("net", function() return dist[how](nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(net:parameters(), 1e-3) end)
for _ in lg.run.steps(1000000) do
  optimizer:zero_grad()
  F.cross_entropy(net(lg.randn(16, 8)), lg.randint(0, 3, {16})):backward()
  optimizer:step()
  lg.run.checkpoint {keep_last = 3}
end
