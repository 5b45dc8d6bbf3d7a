-- What data_parallel leaves in .grad: means over the ranks, also where only some ranks have a gradient.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

local Two = nn.class("Two")
function Two:init() self.a, self.b, self.c = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2) end
function Two:forward(x, both) return both and self.a(x) + self.b(x) or self.a(x) end
local net = dist.data_parallel(Two())
local x = lg.ones(1, 2) * (rank + 1)
local mean = (size + 1) / 2  -- of rank + 1
local function near(value, wanted, what)
  assert(math.abs(value - wanted) < 1e-6, ("%s: rank %d has %g for %g"):format(what, rank, value, wanted))
end
local function of(layer) return layer.weight.grad:select(1, 1):select(1, 1):item() end

net(x, true):sum():backward()
near(of(net.a), mean, "a")
near(of(net.b), mean, "b")
assert(net.c.weight.grad == nil, "nobody used c")

-- Without zero_grad the next gradients are added to the mean.
net(x, false):sum():backward()
near(of(net.a), 2 * mean, "a twice")
near(of(net.b), mean, "b as before")

-- Only rank 0 used b, in a pass without sync.
net:zero_grad()
net:no_sync(function() net(x, rank == 0):sum():backward() end)
near(of(net.a), rank + 1, "a of this rank alone")
net(x, false):sum():backward()
near(of(net.a), 2 * mean, "a of both passes")
near(of(net.b), 1 / size, "b of rank 0")

-- Two losses, one backward; two forward passes, one backward; a loss in a table.
net:zero_grad();
(net(x, true):sum() + net(x, false):sum()):backward()
near(of(net.a), 2 * mean, "two passes")

-- A pass that fails on all ranks, and the next one.
net:zero_grad()
local hook = net.a.bias:register_hook(function() error("refused") end)
assert(not pcall(function() net(x, true):sum():backward() end))
hook:remove()
net:zero_grad()
net(x, true):sum():backward()
near(of(net.a), mean, "after an error")

-- Frozen and thawed.
net.a.weight:requires_grad_(false)
net:zero_grad()
net(x, true):sum():backward()
assert(net.a.weight.grad == nil)
near(of(net.b), mean, "beside a frozen one")
net.a.weight:requires_grad_(true)
net:zero_grad()
net(x, true):sum():backward()
near(of(net.a), mean, "thawed")

-- Cast.
net:to("f64")
x = x:to("f64")
net:zero_grad()
net(x, true):sum():backward()
assert(net.a.weight.grad:dtype() == "f64")
near(of(net.a), mean, "cast")

-- Evaluation changes nothing and needs no other rank.
if rank == 0 then
  local _ <close> = lg.no_grad()
  net(x, true)
end

-- Running statistics are the mean of the ranks'.
local norm = dist.data_parallel(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3, {momentum = 1.0})))
local inputs = lg.arange(12):float():reshape(4, 3) * (rank + 1)
norm(inputs):sum():backward()
local all = dist.all_gather(norm[2].running_mean:reshape(1, 3))
local own = dist.all_gather(norm[1](inputs):detach():mean(1):reshape(1, 3)):mean(1)
for r = 1, size do assert((all:select(1, r) - own):abs():max():item() < 1e-4) end
if rank == 0 then print(("gradients of %d ranks: right"):format(size)) end
