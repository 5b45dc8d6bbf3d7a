-- whole.lua FOLDER: the newest checkpoint of a sharded run has all files that it names, whichever ranks were killed; a
-- run can continue from it.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
local step = lg.run.resume(arg[1])
assert(step and step > 0, "no checkpoint")
local net = lg.run.state("net", function() return dist.fully_shard(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))) end)
local adam = lg.run.state("optimizer", function() return lg.optim.Adam(net:parameters(), 1e-3) end)
for _, p in ipairs(net:parameters()) do
  assert(adam.state[p].step == step, "the optimizer is at another step")
  assert(adam.state[p].exp_avg_sq:gt(0):any():item() and p:isfinite():all():item())
end
