-- How much of the communication is hidden behind backward. Arguments: a file, and how the ranks train. Without LUNAGRAD_TEST_LINK, the
-- speed of a link in MiB a second, writes the time of backward to the file; with it, measures the share. What backward computes is
-- a sleep, so that the result does not depend on what else the processors do.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
lg.set_num_threads(1)

local layers, width = 12, 384
local sharded = arg[2] == "fully_shard"
-- What is sent for a layer: its gradients, and in a sharded model this rank's rows of its weight before them.
local mib = width * width * 4 / (1 << 20)
local sent = sharded and mib * (1 + 1 / dist.size()) or mib

local compute = lg.custom_op {
  name = "compute",
  forward = function(_, x) return x:clone() end,
  backward = function(_, gradient)
    os.execute("sleep 0.04")
    return gradient
  end,
}
local Layer = nn.class("Layer")
function Layer:init() self.fc = nn.Linear(width, width, {bias = false}) end
function Layer:forward(x) return self.fc(compute(x)) end

local list = {}
for i = 1, layers do list[i] = Layer() end
local net = nn.Sequential(table.unpack(list))
if sharded then dist.fully_shard(net, {groups = list}) else dist.data_parallel(net, {bucket = mib}) end  -- a bucket for each layer
local x = lg.randn(4, width):requires_grad_()

local least = math.huge
for _ = 1, 8 do  -- the order of arrival is known after the first pass
  net:zero_grad()
  local loss = net(x):square():mean()
  dist.barrier()
  local start = lg.clock()
  loss:backward()
  least = math.min(least, lg.clock() - start)
end

local speed = tonumber(os.getenv "LUNAGRAD_TEST_LINK" or "")
if dist.rank() ~= 0 then return end
if not speed then
  local file = assert(io.open(arg[1], "w"))
  file:write(least)
  file:close()
else
  local file = assert(io.open(arg[1]))
  local fast = file:read "n"
  file:close()
  local total = layers * sent / speed
  local hidden = 1 - (least - fast) / total
  print(("%s: backward %.0f ms, with a link that takes %.0f ms %.0f ms: %.0f %% is hidden"):format(arg[2], 1e3 * fast, 1e3 * total,
    1e3 * least, 100 * hidden))
  assert(hidden >= 0.8, "less than 80 % is hidden")
end
