-- A run in which rank 1 sleeps in each step, and before it sends a tensor to rank 0, for the profile of the ranks: run with
-- --profile FILE. With the argument "warns" ranks also warn: all of them of one thing, rank 1 of another.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
dist.init()
lg.set_num_threads(1)
local net = dist.data_parallel(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4)))
local sgd = lg.optim.SGD(net:parameters(), {lr = 0.1})
local x, y = lg.randn(16, 8), lg.randint(0, 4, {16})
for step in lg.run.steps(20) do
  if dist.rank() == 1 then os.execute("sleep 0.05") end
  local loss = F.cross_entropy(net(x), y)
  sgd:zero_grad(); loss:backward(); sgd:step()
  if dist.rank() == 0 then
    dist.receive(1)
  else
    os.execute("sleep 0.02")
    dist.send(lg.zeros(1000), 0)
  end
  if step == 20 and arg[1] == "warns" then
    if dist.rank() == 1 then require("lunagrad.core").run._warn("only rank 1 says this") end
    require("lunagrad.core").run._warn("all ranks say this")
  end
end
