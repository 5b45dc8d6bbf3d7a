-- Trains for as many steps as the argument says, with a checkpoint at the end.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
dist.init {timeout = 60}
local steps = tonumber(arg[1])
lg.manual_seed(2)
local set = lg.data.TensorDataset(lg.randn(64, 6), lg.randint(0, 3, {64}))
local loader = lg.run.state("loader", function()
  return lg.data.DataLoader(set, {batch_size = 16, shuffle = true, seed = 4}):shard()
end)
local net = lg.run.state("net", function()
  return dist.data_parallel(nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Dropout(0.3), nn.Linear(16, 3)),
    {deterministic = true})
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.AdamW(net:parameters(), 1e-2) end)
local batches = loader:cycle()
for step in lg.run.steps(steps) do
  local x, y = batches()
  optimizer:zero_grad()
  F.cross_entropy(net(x), y):backward()
  optimizer:step()
  if step == steps then lg.run.checkpoint() end
end
