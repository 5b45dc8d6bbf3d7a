-- Collectives over tensors of a GPU, which travel through host memory while the device goes on: the values of the same collectives
-- over tensors of the CPU. Ranks may share the device. Without a GPU there is nothing to test.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
local device
for _, one in ipairs(lg.devices()) do
  local name = type(one) == "table" and one.name or one
  if name ~= "cpu" then device = device or name end
end
if not device then
  print "there is no GPU"
  return
end
dist.init {timeout = 120}
local rank, size = dist.rank(), dist.size()

local function same(got, want, what)
  assert(got:device() == device and got:to("cpu"):equal(want), ("%s: rank %d has %s for %s"):format(what, rank, tostring(got), tostring(want)))
end
local function leaf(shape, dtype, seed)
  lg.manual_seed(seed)
  return (lg.randn(shape) * 8):to(dtype)
end
local views = {
  whole = function(x) return x:clone() end,
  transposed = function(x) return x:dim() >= 2 and x:transpose(1, 2):clone():transpose(1, 2) or x:clone() end,
  window = function(x) return lg.cat({x:unsqueeze(1), x:unsqueeze(1)}, 1):select(1, 2) end,
}

for round, shape in ipairs {{}, {1}, {0, 3}, {5, 7}, {3, 4, 65}, {70001}} do
  for _, dtype in ipairs {"f32", "bf16", "f16", "i64", "u8"} do
    for name, view in pairs(views) do
      local here, what = leaf(shape, dtype, 100 * round + rank), ("%s of shape {%s}, %s"):format(dtype, table.concat(shape, ", "), name)
      local there = view(here:to(device))
      -- The device goes on with other work meanwhile.
      local other = there:to("f32") + 1
      local first, second = dist.all_reduce_(there, "sum", {async = true}), dist.all_reduce_(here, "sum", {async = true})
      same(other:clone(), leaf(shape, dtype, 100 * round + rank):to("f32") + 1, "other work beside " .. what)
      assert(first:wait():device() == device)
      same(there, second:wait(), "all_reduce_ of " .. what)
      same(dist.broadcast_(there + rank, size - 1), dist.broadcast_(here + rank, size - 1), "broadcast_ of " .. what)
      if #shape > 0 then
        same(dist.all_gather(there), dist.all_gather(here), "all_gather of " .. what)
        same(dist.reduce_scatter(there, "sum"), dist.reduce_scatter(here, "sum"), "reduce_scatter of " .. what)
      end
    end
  end
end

-- A result can be used at once, and the memory of a handle that nobody waits for stays until it is carried out.
local x = lg.ones(1000, 100, {device = device})
for _ = 1, 10 do
  dist.all_reduce_(x * 2, "sum", {async = true})
  dist.all_reduce_(x, "mean")
  x = x + 1
end
collectgarbage()
assert(x:sum():item() == 11 * 100000)

-- Training on the device: as on the CPU, within the rounding of f32.
local function train(where)
  lg.manual_seed(3)
  local model = nn.Sequential(nn.Linear(20, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 4)):to(where)
  local net = dist.data_parallel(model, {bucket = 0.1})
  local sgd = lg.optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})
  for step = 1, 8 do
    local input = leaf({16, 20}, "f32", 1000 * step + rank):to(where) / 8
    local label = (lg.arange(16) + step + rank):remainder(4):long():to(where)
    sgd:zero_grad()
    F.cross_entropy(net(input), label):backward()
    sgd:step()
  end
  return model
end
local on_cpu, on_gpu = train("cpu"):parameters(), train(device):parameters()
for i, p in ipairs(on_cpu) do
  local off = (on_gpu[i]:detach():to("cpu") - p:detach()):abs():max():item() / p:detach():abs():max():item()
  assert(off < 2e-5, ("parameter %d differs by %g of its largest element"):format(i, off))
end
