-- Collectives over tensors of a GPU, which go through host memory while the device continues: they give the values of
-- the same collectives over CPU tensors. Ranks may share the device. Without a GPU there is nothing to test.
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

-- A result can be used immediately. The memory of a collective whose handle is not waited for stays until the
-- collective has run.
local x = lg.ones(1000, 100, {device = device})
for _ = 1, 10 do
  dist.all_reduce_(x * 2, "sum", {async = true})
  dist.all_reduce_(x, "mean")
  x = x + 1
end
collectgarbage()
assert(x:sum():item() == 11 * 100000)

-- Training on the device: as on the CPU, within the rounding of f32.
local function near(got, wanted, what)
  local off = (got:detach():to("cpu") - wanted:detach():to("cpu")):abs():max():item() / wanted:detach():abs():max():item()
  assert(off < 2e-5, ("%s differs by %g of its largest element"):format(what, off))
end
local function layers(where)
  lg.manual_seed(3)
  local list = {nn.Sequential(nn.Linear(20, 300), nn.ReLU()), nn.Sequential(nn.Linear(300, 300), nn.ReLU()), nn.Linear(300, 4)}
  for _, layer in ipairs(list) do layer:to(where) end
  return list
end
local function train(where, how)
  local list = layers(where)
  local model = nn.Sequential(table.unpack(list))
  local net = how == "fully_shard" and dist.fully_shard(model, {groups = {list[1], list[2]}}) or dist.data_parallel(model, {bucket = 0.1})
  local sgd = lg.optim.SGD(net:parameters(), {lr = 0.1, momentum = 0.9})
  for step = 1, 8 do
    local input = leaf({16, 20}, "f32", 1000 * step + rank):to(where) / 8
    local label = (lg.arange(16) + step + rank):remainder(4):long():to(where)
    sgd:zero_grad()
    F.cross_entropy(net(input), label):backward()
    sgd:step()
  end
  return model:state_dict()
end
local on_cpu = train("cpu", "data_parallel")
for _, how in ipairs {"data_parallel", "fully_shard"} do
  for name, value in pairs(train(device, how)) do
    assert(value:device() == device)
    near(value, on_cpu[name], how .. ", " .. name)
  end
end

-- A pipeline on the device: its transfers arrive there.
local function pipeline(where)
  local list, stages = layers(where), {}
  for s = 1, size do stages[s] = s == size and nn.Sequential(table.unpack(list, s)) or list[s] or nn.Identity() end
  local pipe = dist.pipeline(stages, {micro_batches = 4, loss = F.cross_entropy})
  local input, label = leaf({16, 20}, "f32", 7):to(where) / 8, lg.arange(16):remainder(4):long():to(where)
  local loss = pipe:backward(input, label)
  assert(loss:device() == where)
  local gradients = {loss}
  for _, p in ipairs(pipe:parameters()) do gradients[#gradients + 1] = p.grad end
  return gradients
end
local wanted = pipeline "cpu"
for i, got in ipairs(pipeline(device)) do near(got, wanted[i], "pipeline, gradient " .. i) end
