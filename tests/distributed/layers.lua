-- Layers whose ranks work together against the layer of one process with all samples: values, gradients, running statistics.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

local function near(got, wanted, tolerance, what)
  assert(table.concat(got:size(), " ") == table.concat(wanted:size(), " "), what .. " has another shape")
  if wanted:numel() == 0 then return end
  local apart = (got:double() - wanted:double()):abs():max():item() / math.max(wanted:double():abs():max():item(), 1e-3)
  assert(apart <= tolerance, ("%s: rank %d is off by %g"):format(what, rank, apart))
end

-- This rank's part of `count` samples; the parts differ, and the first ranks of many have none.
local function part(count)
  local first = count * rank // size + 1
  return first, count * (rank + 1) // size - first + 1
end
local function own(x)
  local first, count = part(x:size(1))
  return count == 0 and x:narrow(1, 1, 0) or x:narrow(1, first, count)
end

-- SyncBatchNorm: the sum of all ranks' losses is the loss of the whole batch.
local shapes = {{"BatchNorm1d", {5, 3}}, {"BatchNorm1d", {7, 3, 4}}, {"BatchNorm2d", {9, 3, 2, 5}}, {"BatchNorm3d", {5, 2, 3, 2, 2}}}
for _, dtype in ipairs {"f32", "f64"} do
  local tolerance = dtype == "f64" and 1e-12 or 1e-6
  for _, case in ipairs(shapes) do
    for _, affine in ipairs {true, false} do
      local name, shape = case[1], case[2]
      lg.manual_seed(11)
      local x = (lg.randn(shape, {dtype = "f64"}) * 2 + 3):to(dtype)
      local seed = lg.randn(shape, {dtype = "f64"}):to(dtype)
      local whole = nn[name](shape[2], {dtype = dtype, affine = affine})
      if affine then
        local _ <close> = lg.no_grad()
        whole.weight:copy_(lg.rand(shape[2]) + 0.5)
        whole.bias:copy_(lg.randn(shape[2]))
      end
      local synced = dist.SyncBatchNorm.convert(nn.Sequential(nn.utils.deepcopy(whole)))
      assert(getmetatable(synced[1]) == dist.SyncBatchNorm)
      local a, b = x:clone():requires_grad_(), own(x):clone():requires_grad_()
      for _ = 1, 2 do
        local y, z = whole(a), synced(b)
        local what = ("%s, %s%s"):format(name, dtype, affine and "" or ", without weight");
        (y * seed):sum():backward();
        (z * own(seed)):sum():backward()
        near(z, own(y), tolerance, what)
        near(b.grad, own(a.grad), tolerance, what .. ", gradient of the input")
        for i, p in ipairs(synced:parameters()) do
          near(dist.all_reduce_(p.grad:clone()), whole:parameters()[i].grad, tolerance, what .. ", gradient of a parameter")
        end
        near(synced[1].running_mean, whole.running_mean, tolerance, what .. ", running mean")
        near(synced[1].running_var, whole.running_var, tolerance, what .. ", running variance")
        assert(synced[1].num_batches_tracked:equal(whole.num_batches_tracked))
      end
      whole:eval()
      synced:eval()
      near(synced(b), own(whole(a)), tolerance, name .. " in evaluation")
    end
  end
end

-- 16-bit floats, as in lg.autocast: the result has their type.
do
  lg.manual_seed(12)
  local x, whole = lg.randn(6, 3, 4) * 2 + 3, nn.BatchNorm1d(3)
  local synced = dist.SyncBatchNorm.convert(nn.utils.deepcopy(whole))
  local y, z = whole(x:bfloat16():float()), synced(own(x):bfloat16())
  assert(z:dtype() == "bf16")
  near(z, own(y), 4e-3, "bf16")
  near(synced.running_var, whole.running_var, 1e-6, "running variance of bf16")
end

-- ShardedLinear: the gradient of the weight is the mean of the ranks', each with its samples.
for _, bias in ipairs {true, false} do
  for _, outputs in ipairs {1, 5, 16} do
    lg.manual_seed(3)
    local layer = nn.Linear(4, outputs, {bias = bias})
    lg.manual_seed(rank == 0 and 3 or 4)
    local sharded = dist.ShardedLinear(4, outputs, {bias = bias})
    lg.manual_seed(5)
    local x, seed = lg.randn(3 * size, 4), lg.randn(3 * size, outputs)
    local a, b = x:clone():requires_grad_(), x:narrow(1, 3 * rank + 1, 3):clone():requires_grad_()
    local y, z = layer(a), sharded(b);
    (y * seed):sum():backward();
    (z * seed:narrow(1, 3 * rank + 1, 3)):sum():backward()
    near(z, y:narrow(1, 3 * rank + 1, 3), 1e-6, "ShardedLinear")
    near(b.grad, a.grad:narrow(1, 3 * rank + 1, 3), 1e-6, "ShardedLinear, gradient of the input")
    for i, p in ipairs(sharded:parameters()) do
      assert(p:size(1) <= (outputs + size - 1) // size, "a rank has more than its rows")
      near(dist.all_gather(p.grad) * size, layer:parameters()[i].grad, 2e-6, "ShardedLinear, gradient of a parameter")
    end
  end
end

-- ColumnParallelLinear and RowParallelLinear: every rank computes the same loss of the same samples.
for _, joined in ipairs {true, false} do
  lg.manual_seed(6)
  local first, second = nn.Linear(6, 11), nn.Linear(11, 3)
  lg.manual_seed(6)
  local column = dist.ColumnParallelLinear(6, 11, {gather_output = joined})
  local row = dist.RowParallelLinear(11, 3, {input_is_parallel = not joined})
  local x, seed = lg.randn(4, 5, 6), lg.randn(4, 5, 3)
  local a, b = x:clone():requires_grad_(), x:clone():requires_grad_()
  local y, z = second(first(a):tanh()), row(column(b):tanh());
  (y * seed):sum():backward();
  (z * seed):sum():backward()
  near(z, y, 1e-6, "column and row")
  near(b.grad, a.grad, 2e-6, "column and row, gradient of the input")
  near(dist.all_gather(column.weight.grad), first.weight.grad, 2e-6, "gradient of the columns' weight")
  near(dist.all_gather(column.bias.grad), first.bias.grad, 2e-6, "gradient of the columns' bias")
  near(dist.all_gather(row.weight.grad:t():contiguous()), second.weight.grad:t(), 2e-6, "gradient of the rows' weight")
  near(row.bias.grad, second.bias.grad, 2e-6, "gradient of the rows' bias")
end
if rank == 0 then print(("layers of %d ranks: as in one process"):format(size)) end
