-- What a long run costs in memory, with no collectgarbage in sight: prints the figures, fails when they are too large.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

-- A line of /proc/self/status, in MiB.
local function status(name)
  for line in io.lines("/proc/self/status") do
    local kib = line:match("^" .. name .. ":%s*(%d+) kB")
    if kib then return kib / 1024 end
  end
end

local net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
local optimizer = lg.optim.Adam(net:parameters(), {lr = 1e-3})
local x, y = lg.rand(64, 16), lg.rand(64, 1)

local function train(steps)
  for _ = 1, steps do
    local loss = F.mse_loss(net(x), y)
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
  end
end

train(1000)
local early = status "VmRSS"
train(9000)
local late = status "VmRSS"
print(("resident after 1,000 steps %.1f MiB, after 10,000 steps %.1f MiB"):format(early, late))
assert(late <= early * 1.02, "the resident size grew by more than 2 %")

local before = status "VmRSS"
for _ = 1, 20000 do lg.ones(1024, 1024) end
local peak = status "VmHWM"
print(("peak over 20,000 dropped temporaries of 4 MiB: %.0f MiB (%.0f MiB before them)"):format(peak, before))
assert(peak < 1024, "dropped temporaries took more than 1 GiB")
