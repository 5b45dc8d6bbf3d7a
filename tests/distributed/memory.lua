-- The memory of a rank that trains a model of 50 million parameters with AdamW. Between two steps a rank keeps its
-- share of parameters, gradients and the optimizer's state. Forward adds the unsharded parameters of two groups, the
-- running one and the next. Backward adds the unsharded parameters of one group, its gradients, and one group in
-- transfer, next to this rank's rows of it and to the transfer thread's buffer.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 120}
local rank, size = dist.rank(), dist.size()
local mib = 1 << 20

local width, count = 1024, 48
local layers = {}
for i = 1, count do layers[i] = nn.Sequential(nn.Linear(width, width), nn.Tanh()) end
local model = nn.Sequential(table.unpack(layers))
local parameters = 0
for _, p in ipairs(model:parameters()) do parameters = parameters + p:numel() end
assert(parameters > 49e6)
local all, group = 16 * parameters, 4 * parameters / count  -- bytes: values, gradients, two states; values of a group

dist.fully_shard(model, {groups = layers})
layers = nil
local adam = lg.optim.AdamW(model:parameters(), 1e-4)
local x = lg.randn(1, width)
local share, rest, peaks, loss = all / size, 0, {}, nil
local function measure(name, f)
  lg.reset_peak_memory()
  f()
  peaks[name] = (lg.memory().peak - share) / group
end
for step = 1, 3 do
  adam:zero_grad {set_to_none = false}  -- the gradients' share is there all the time
  measure("forward", function() loss = model(x):square():mean() end)
  measure("backward", function() loss:backward() end)
  loss = nil
  measure("step", function() adam:step() end)
  collectgarbage()
  if step > 1 then rest = math.max(rest, lg.memory().in_use) end
end
if rank == 0 then
  print(("%d ranks: %.1f MiB of %.1f stay on each; beside them forward has %.2f groups of %.1f MiB, backward %.2f, the step %.2f"):format(size,
    rest / mib, all / mib, peaks.forward, group / mib, peaks.backward, peaks.step))
end
local room = math.min(16 * mib, group) / group  -- the transfer thread's buffer, where the other ranks' parts are added
assert(rest <= share + 0.2 * group, "more than a share stays")
assert(peaks.forward <= 2.2, "forward has more than two groups")
assert(peaks.backward <= 3 + 1 / size + room + 0.2, "backward has more than three groups")
