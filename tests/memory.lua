-- The memory of a long run that never calls collectgarbage: prints the figures, fails when they are too large.
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

-- Excludes file pages, which the kernel drops and reads again when other programs need memory. A leak grows in each
-- 20,000 steps; a thread that computes a part for the first time allocates its buffers once.
train(20000)  -- the heap reaches its size
local sizes, least = {status "RssAnon"}, math.huge
for i = 2, 4 do
  train(20000)
  sizes[i] = status "RssAnon"
  least = math.min(least, sizes[i] - sizes[i - 1])
end
print(("memory after each 20,000 steps: %.1f, %.1f, %.1f, %.1f MiB"):format(table.unpack(sizes)))
assert(least <= 1.6, "each 20,000 steps took more than 1.6 MiB")

local before = status "VmRSS"
for _ = 1, 20000 do lg.ones(1024, 1024) end
local peak = status "VmHWM"
print(("peak over 20,000 dropped temporaries of 4 MiB: %.0f MiB (%.0f MiB before them)"):format(peak, before))
assert(peak < 1024, "dropped temporaries took more than 1 GiB")

-- A value that a variable keeps for a while lives through two collections. Backward frees it nevertheless.
local weights = {}
for i = 1, 8 do weights[i] = lg.randn(1024, 1024):mul(0.03):requires_grad_() end
local input = lg.randn(1024, 1024)
local function deep()
  local x = input
  for _, w in ipairs(weights) do
    w.grad = nil
    local kept = x
    for _ = 1, 3 do x = (x:matmul(w) + kept):tanh() end
  end
  return x:sum()
end
local most = 0
for step = 1, 6 do
  lg.reset_peak_memory()
  deep():backward()
  if step > 2 then most = math.max(most, lg.memory().peak) end
end
local live = lg.memory().in_use
print(("peak of a backward pass %.0f MiB, after it %.0f MiB"):format(most / 2^20, live / 2^20))
assert(most < 160 * 2^20 and live < 100 * 2^20, "values that the script had dropped lived through a backward pass")
