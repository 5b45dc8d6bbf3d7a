-- A sharded model on two ranks: for tests/ui/drives/ranks_sharded.lua.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed

dist.init {timeout = 4}
lg.set_num_threads(1)
local net = nn.Sequential(nn.Linear(8, 33), nn.ReLU(), nn.Linear(33, 3))
dist.fully_shard(net, {groups = {net[1], net[3]}})
lg.run.state("net", function() return net end)
local adam = lg.optim.AdamW(net:parameters(), 1e-3)
local x, y = lg.randn(16, 8), lg.randint(0, 3, {16})
for step in lg.run.steps(1000000) do
  adam:zero_grad()
  F.cross_entropy(net(x), y):backward()
  adam:step()
  if dist.rank() == 1 and step == 1 then print "a word of rank 1" end
  if step == 5 then lg.run.breakpoint() end
end
