-- How much of the communication is hidden behind backward. Without LUNAGRAD_TEST_LINK, writes the speed of a link, in MiB a second,
-- with which it takes half as long as backward, to the file of the first argument; with it, measures the share. The second argument
-- says how the ranks train.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
local now = lg.clock
dist.init {timeout = 60}
lg.set_num_threads(1)

local layers, width, rows = 12, 384, 1024
local sharded = arg[2] == "fully_shard"
-- What travels for a layer: its gradients, and in a sharded model this rank's rows of its weight before them.
local mib = width * width * 4 / (1 << 20)
local sent = sharded and mib * (1 + 1 / dist.size()) or mib
local list = {}
for i = 1, layers do list[i] = nn.Linear(width, width, {bias = false}) end
local net = nn.Sequential(table.unpack(list))
if sharded then dist.fully_shard(net, {groups = list}) else dist.data_parallel(net, {bucket = mib}) end  -- a bucket for each layer
local alone = nn.Sequential()
for i = 1, layers do alone:append(nn.Linear(width, width, {bias = false})) end
local x = lg.randn(rows, width)

local function seconds(model)
  model:zero_grad()
  local loss = model(x):square():mean()
  dist.barrier()
  local start = now()
  loss:backward()
  return now() - start
end

local function best(model)
  local least = math.huge
  for _ = 1, 12 do least = math.min(least, seconds(model)) end
  return least
end

best(net)  -- the order of arrival is known after the first pass
local backward, together = best(alone), best(net)
local speed = tonumber(os.getenv "LUNAGRAD_TEST_LINK" or "")
if not speed then
  if dist.rank() == 0 then
    local file = assert(io.open(arg[1], "w"))
    file:write(math.max(1, math.floor(2 * layers * sent / backward)), " ", together)
    file:close()
  end
elseif dist.rank() == 0 then
  local file = assert(io.open(arg[1]))
  local _, fast = file:read("n", "n")
  file:close()
  local total, last = layers * sent / speed, sent / speed  -- of all layers, and of the one that nothing can hide
  local hidden = 1 - (together - fast - last) / (total - last)
  print(("backward %.1f ms, with a fast link %.1f ms, with one that takes %.1f ms %.1f ms: %.0f %% of what can be hidden is"):format(
    1e3 * backward, 1e3 * fast, 1e3 * total, 1e3 * together, 100 * hidden))
  assert(hidden >= 0.8, "less than 80 % is hidden")
end
