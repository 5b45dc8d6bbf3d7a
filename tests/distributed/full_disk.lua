-- One rank of a sharded run cannot write any more: inside lg.run.steps a warning of all ranks, elsewhere one error on all; the
-- checkpoint before stays. Run it with --run-dir.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
local net = lg.run.state("net", function() return dist.fully_shard(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))) end)
local adam = lg.run.state("optimizer", function() return lg.optim.Adam(net:parameters(), 1e-3) end)
for step in lg.run.steps(2) do
  adam:zero_grad()
  net(lg.randn(16, 8)):square():mean():backward()
  adam:step()
  if step == 2 and dist.rank() == 1 then os.execute("prlimit --pid $PPID --fsize=100") end
  lg.run.checkpoint()
end
local ok, message = pcall(lg.run.checkpoint)
local text = "rank 1 could not write its part, so there is no checkpoint of this step; those before stay: "
assert(not ok and tostring(message):find(text, 1, true), message or "no error")
if dist.rank() == 0 then print "one error of all ranks" end
