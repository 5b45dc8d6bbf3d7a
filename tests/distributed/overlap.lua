-- How much of the communication is hidden behind backward. Without LUNAGRAD_TEST_LINK, writes the speed of a link, in MiB a second,
-- with which it takes half as long as backward, to the file of the argument; with it, measures the share.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
local now = lg.clock
dist.init {timeout = 60}
lg.set_num_threads(1)

local layers, width, rows = 12, 384, 1024
local mib = width * width * 4 / (1 << 20)
local list = {}
for i = 1, layers do list[i] = nn.Linear(width, width, {bias = false}) end
local net = dist.data_parallel(nn.Sequential(table.unpack(list)), {bucket = mib})  -- a bucket for each layer
local x = lg.randn(rows, width)

local function seconds(alone)
  net:zero_grad()
  local function forward() return net(x):square():mean() end
  local loss = alone and net:no_sync(forward) or forward()
  dist.barrier()
  local start = now()
  loss:backward()
  return now() - start
end

local function best(alone)
  local least = math.huge
  for _ = 1, 12 do least = math.min(least, seconds(alone)) end
  return least
end

best(false)  -- the order of arrival is known after the first pass
local backward, together = best(true), best(false)
local speed = tonumber(os.getenv "LUNAGRAD_TEST_LINK" or "")
if not speed then
  if dist.rank() == 0 then
    local file = assert(io.open(arg[1], "w"))
    file:write(math.max(1, math.floor(2 * layers * mib / backward)), " ", together)
    file:close()
  end
elseif dist.rank() == 0 then
  local file = assert(io.open(arg[1]))
  local _, fast = file:read("n", "n")
  file:close()
  local total, last = layers * mib / speed, mib / speed  -- of all buckets, and of the one that nothing can hide
  local hidden = 1 - (together - fast - last) / (total - last)
  print(("backward %.1f ms, with a fast link %.1f ms, with one that takes %.1f ms %.1f ms: %.0f %% of what can be hidden is"):format(
    1e3 * backward, 1e3 * fast, 1e3 * total, 1e3 * together, 100 * hidden))
  assert(hidden >= 0.8, "less than 80 % is hidden")
end
