-- Trains for as many steps as the first argument says, with a checkpoint at the end, and saves the model and its optimizer in the file
-- of the second. The third says how the ranks train; fully_shard-plain is not deterministic.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
dist.init {timeout = 60}
local steps, path, how = tonumber(arg[1]), arg[2], arg[3] or "data_parallel"
local deterministic = how ~= "fully_shard-plain"
lg.manual_seed(2)
local set = lg.data.TensorDataset(lg.randn(96, 6), lg.randint(0, 3, {96}))
local loader = lg.run.state("loader", function()
  return lg.data.DataLoader(set, {batch_size = 24, shuffle = true, seed = 4}):shard()
end)
local net = lg.run.state("net", function()
  local first = nn.Sequential(nn.Linear(6, 16), deterministic and nn.BatchNorm1d(16) or nn.LayerNorm(16))
  local model = nn.Sequential(first, nn.Dropout(deterministic and 0.3 or 0), nn.Linear(16, 3))
  if how == "data_parallel" then return dist.data_parallel(model, {deterministic = true}) end
  if not deterministic then model:double() end
  return dist.fully_shard(model, {groups = {first}, deterministic = deterministic})
end)
-- A sharded tensor as a state of its own: every rank has some rows.
local weight = lg.run.state("weight", function() return net:parameters()[1] end)
assert(weight == net:parameters()[1])
local optimizer = lg.run.state("optimizer", function() return lg.optim.AdamW(net:parameters(), 1e-2) end)
local ema = lg.run.state("ema", function() return lg.optim.EMA(net, {decay = 0.9}) end)
local batches = loader:cycle()
for step in lg.run.steps(steps) do
  local x, y = batches()
  optimizer:zero_grad()
  F.cross_entropy(net(deterministic and x or x:double()), y):backward()
  optimizer:step()
  ema:update()
  if step == steps or step % 20 == 0 then lg.run.checkpoint() end
end
local result = {net = net:state_dict(), optimizer = optimizer:state_dict(), ema = ema:state_dict()}
if dist.rank() == 0 then lg.io.save(path, result) end
