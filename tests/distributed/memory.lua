-- The memory of a rank that trains a model of 50 million parameters with AdamW. What stays between two steps is its share of
-- parameters, gradients and the optimizer's state; a pass adds groups that are whole: their parameters, the next group's, and
-- gradients on their way.
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
local rest, peak = 0, 0
for step = 1, 3 do
  lg.reset_peak_memory()
  adam:zero_grad()
  model(x):square():mean():backward()
  adam:step()
  if step == 1 then collectgarbage() end  -- the whole model as it was built
  rest, peak = math.max(rest, step > 1 and lg.memory().in_use or 0), step > 1 and math.max(peak, lg.memory().peak) or 0
end
if rank == 0 then
  print(("%d ranks: %.1f MiB of %.1f stay on each, a pass adds %.1f groups of %.1f MiB"):format(size, rest / mib, all / mib,
    (peak - all / size) / group, group / mib))
end
assert(rest <= all / size + group, "more than a share and a group stays")
assert(peak <= all / size + 5 * group, "a pass adds more than five groups")
