-- Two ranks for tests/ui/drives/ranks.lua; rank 1 is slower. It fails while there is a file "fail", and comes too late
-- while there is a file "hang". With a file "unsent" the run ends after a transfer that no rank receives.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed

dist.init {timeout = 4}
lg.set_num_threads(1)
local net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
dist.data_parallel(net, {bucket = 0.01})
local adam = lg.optim.Adam(net:parameters(), {lr = lg.run.live("lr", 1e-3, {min = 1e-4, max = 1e-2})})
local x, y = lg.randn(64, 16), lg.randint(0, 4, {64})
-- Each rank also sends the number of the step to the other: messages that an earlier run left must not arrive.
local function check(got, step) assert(got:min():item() == step and got:max():item() == step, "a tensor of another step arrived") end
for step in lg.run.steps(1000000) do
  local other = 1 - dist.rank()
  local going = dist.send(lg.full({200000}, step), other, {async = true})
  local coming = dist.rank() == 0 and dist.receive(other, {async = true})
  if dist.rank() == 1 then
    check(dist.receive(other), step)
    os.execute("sleep 0.03")
    if io.open("fail") then error("rank 1 was asked to fail") end
    if io.open("hang") then os.execute("sleep 6") end
  end
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad()
  loss:backward()
  adam:step()
  if coming then check(coming:wait(), step) end
  going:wait()
  if step % 10 == 0 then lg.run.log {loss = loss} end
  if step == 2 then lg.run.breakpoint() end
  if step == 5 and io.open("unsent") then
    if dist.rank() == 1 then dist.send(lg.zeros(200000), 0, {async = true}) end
    break
  end
end
