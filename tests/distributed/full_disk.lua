-- The disk of one rank is full: inside lg.run.steps a warning, elsewhere one error which ends all ranks; the checkpoint before stays.
-- Arguments: how the ranks train, whose disk is full. Run it with --run-dir.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
local how, full = arg[1], tonumber(arg[2])
local net = lg.run.state("net", function() return dist[how](nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3))) end)
local adam = lg.run.state("optimizer", function() return lg.optim.Adam(net:parameters(), 1e-3) end)
for step in lg.run.steps(2) do
  adam:zero_grad()
  net(lg.randn(16, 8)):square():mean():backward()
  adam:step()
  if step == 2 and dist.rank() == full then os.execute("prlimit --pid $PPID --fsize=100") end
  lg.run.checkpoint()
end
lg.run.checkpoint()
