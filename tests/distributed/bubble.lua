-- How long the ranks of a pipeline wait: forward and backward of every stage sleep, so that (p - 1) / (m + p - 1) of the time is idle
-- with p stages and m micro batches. The argument is m.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
lg.set_num_threads(1)
local rank, size, count = dist.rank(), dist.size(), tonumber(arg[1])

local busy = 0
local function sleep(seconds)
  local start = lg.clock()
  os.execute(("sleep %g"):format(seconds))
  busy = busy + lg.clock() - start
end
local work = lg.custom_op {
  name = "work",
  forward = function(_, x)
    sleep(0.04)
    return x:clone()
  end,
  backward = function(_, gradient)
    sleep(0.08)
    return gradient
  end,
}
local Stage = nn.class("Stage")
function Stage:init() self.fc = nn.Linear(32, 32) end
function Stage:forward(x) return work(self.fc(x)) end

local stages = {}
for s = 1, size do stages[s] = Stage() end
local pipe = dist.pipeline(stages, {micro_batches = count, loss = function(y) return y:square():mean() end})
local x = lg.randn(4 * count, 32)
local least
for _ = 1, 3 do
  dist.barrier()
  busy = 0
  local start = lg.clock()
  pipe:backward(x, x)
  dist.barrier()  -- the last stage ends first
  local idle = 1 - busy / (lg.clock() - start)
  least = math.min(least or idle, idle)
end
local mean = dist.all_reduce_(lg.tensor(least), "mean"):item()
local wanted = (size - 1) / (count + size - 1)
if rank == 0 then print(("%d stages, %d micro batches: %.3f of the time is idle, %.3f by the schedule"):format(size, count, mean, wanted)) end
assert(math.abs(mean - wanted) < 0.05, "another share of the time is idle")
assert(pipe.peak_micro_batches <= size - rank, "more micro batches are kept than stages follow")
