-- lg.distributed in a world of one, and the mistakes that every world refuses. tests/distributed/ has several ranks.
local lg = require "lunagrad"
local expect = require "expect"
local dist, nn, F = lg.distributed, lg.nn, lg.nn.functional

assert(not dist.is_initialized() and dist.rank() == 0 and dist.size() == 1)
dist.init()
dist.init {timeout = 5}  -- a second call changes nothing
assert(dist.is_initialized() and dist.rank() == 0 and dist.size() == 1 and dist.local_rank() == 0)

-- Collectives are copies.
local x = lg.arange(6):float():reshape(2, 3)
assert(dist.all_reduce_(x, "mean") == x)
expect.close(x, {{0, 1, 2}, {3, 4, 5}})
expect.equal(dist.all_gather(x:t()):tolist(), x:t():tolist())
expect.equal(dist.reduce_scatter(x, {sizes = {2}}):tolist(), x:tolist())
expect.equal(dist.all_to_all(x):tolist(), x:tolist())
assert(dist.all_gather(lg.tensor(7)):equal(lg.tensor {7}))
assert(dist.broadcast_(x, {async = true}):wait() == x)
local handle = dist.all_reduce_(x, {op = "max", async = true})
assert(handle:is_done() and handle:wait() == x and handle:wait() == x and tostring(handle) == "Handle(done)")
dist.barrier()

-- Gradients.
local w = lg.ones(2, 3, {requires_grad = true})
for _, f in ipairs {dist.all_gather, dist.reduce_scatter, dist.all_to_all,
  function(y) return dist.all_reduce_(y) end, function(y) return dist.broadcast_(y) end} do
  w.grad = nil;
  (f(w * 3) * x):sum():backward()
  expect.equal(w.grad:tolist(), (x * 3):tolist())
end

-- Mistakes.
expect.call_raises("all_reduce_: a Tensor expected (got number)", dist.all_reduce_, 3)
expect.call_raises("there is no reduction 'avg'", dist.all_reduce_, x, "avg")
expect.call_raises("the mean of i64 is no i64", dist.all_reduce_, lg.arange(3), "mean")
expect.call_raises("broadcast: there is no rank 1 among 1 (they count from 0)", dist.broadcast_, x, 1)
expect.call_raises("reduce_scatter: 2 sizes for 1 ranks", dist.reduce_scatter, x, {sizes = {1, 1}})
expect.call_raises("reduce_scatter: the sizes sum to 3, dim 1 has 2", dist.reduce_scatter, x, {sizes = {3}})
expect.call_raises("all_to_all: a tensor with dim 1 is needed", dist.all_to_all, lg.tensor(1))
for _, length in ipairs {-1, 0, 1, 1 << 40} do
  local sizes = setmetatable({2}, {__len = function() return length end})
  local text = "plain table expected, got one with a metatable that has __len"
  expect.call_raises(text, dist.reduce_scatter, x, {sizes = sizes})
  expect.call_raises(text, dist.all_to_all, x, {sizes = sizes})
end
expect.call_raises("a gradient needs the result at once", dist.all_gather, w, {async = true})
expect.call_raises("'max' has no gradient here", dist.all_reduce_, w * 1, "max")
expect.call_raises("send: there is no rank 1 among 1", dist.send, x, 1)
expect.call_raises("receive: rank 0 is this rank; take another one", dist.receive, 0)
expect.call_raises("send: no gradient comes back; pass x:detach()", dist.send, w, 1)
expect.call_raises("data_parallel: a module expected (got number)", dist.data_parallel, 3)
expect.call_raises("slots must be a power of two (got 6)", dist.data_parallel, nn.Linear(2, 2), {deterministic = true, slots = 6})
expect.call_raises("bucket is a number of MiB above 0 (got 0)", dist.data_parallel, nn.Linear(2, 2), {bucket = 0})

-- A data parallel model is the model; in a world of one it trains as it did.
local function train(model, steps)
  local optimizer = lg.optim.SGD(model:parameters(), 0.1)
  lg.manual_seed(2)
  local a, b = lg.randn(8, 4), lg.randint(0, 3, {8})
  for _ = 1, steps do
    optimizer:zero_grad()
    F.cross_entropy(model(a), b):backward()
    optimizer:step()
  end
  return model:state_dict()
end
local function net()
  lg.manual_seed(1)
  return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))
end
local plain = train(net(), 10)
local model = net()
local parallel = dist.data_parallel(model)
assert(parallel == model)
expect.call_raises("the model is data parallel already", dist.data_parallel, model)
local state = train(model, 10)
for name, value in pairs(plain) do assert(value:equal(state[name]), name) end

-- Slots: batch norm sees each of them alone, and one number for the whole batch is their mean.
local sliced = dist.data_parallel(net(), {deterministic = true, slots = 4})
state = train(sliced, 10)
local differs = 0
for name, value in pairs(plain) do differs = differs + (value:equal(state[name]) and 0 or 1) end
assert(differs > 0 and state["1.num_batches_tracked"]:item() == 10)
expect.call_raises("6 samples cannot be cut into 4 slots", sliced, lg.randn(6, 4))
assert(select(2, pcall(sliced.eval(sliced), lg.randn(8, 4))):size(2) == 3)
local Loss = nn.class("Loss")
function Loss:init() self.fc = nn.Linear(4, 1) end
function Loss:forward(a) return {loss = self.fc(a):square():mean(), rows = self.fc(a)} end
local loss = dist.data_parallel(Loss(), {deterministic = true, slots = 2})
local out = loss(lg.ones(4, 4))
assert(out.loss:dim() == 0 and out.rows:size(1) == 4)
out.loss:backward()
expect.close(out.loss:item(), out.rows:square():mean():item(), 1e-6)

-- A checkpoint inside of a slot runs again with the parameters of the slot.
local Block = nn.class("Block")
function Block:init(checkpointed)
  self.checkpointed = checkpointed
  self.inner = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3))
end
function Block:forward(a) return self.checkpointed and lg.checkpoint(self.inner, a) or self.inner(a) end
local function block(checkpointed)
  lg.manual_seed(1)
  return train(dist.data_parallel(Block(checkpointed), {deterministic = true, slots = 4}), 5)
end
local kept = block(false)
for name, value in pairs(block(true)) do assert(value:equal(kept[name]), name) end
local fc = nn.Linear(4, 2)
local given = {weight = lg.randn(2, 4, {requires_grad = true}), bias = lg.zeros(2)}
local Call = nn.class("Call")
function Call:init() self.fc = fc end
function Call:forward(a) return lg.checkpoint(function(b) return self.fc(b) end, a) end
lg.func.functional_call(Call(), {["fc.weight"] = given.weight, ["fc.bias"] = given.bias}, {lg.ones(3, 4)}):sum():backward()
expect.equal(given.weight.grad:tolist(), lg.full({2, 4}, 3.0):tolist())
assert(fc.weight.grad == nil)

-- no_sync, frozen and thawed parameters, a pass with an error.
model:no_sync(function() model(lg.randn(8, 4)):sum():backward() end)
model[1].weight:requires_grad_(false)
model:zero_grad()
model(lg.randn(8, 4)):sum():backward()
assert(model[1].weight.grad == nil and model[1].bias.grad)
model[1].weight:requires_grad_(true)
model:zero_grad()
local y = model(lg.randn(8, 4))
local hook = model[4].bias:register_hook(function() error("refused") end)
expect.raises("refused", function() y:sum():backward() end)
hook:remove()
model:zero_grad()
model(lg.randn(8, 4)):sum():backward()
assert(model[1].weight.grad and model[4].bias.grad)
model:zero_grad()
expect.raises("create_graph", function() model(lg.randn(8, 4)):square():sum():backward(nil, {create_graph = true}) end)
model:zero_grad()  -- a gradient with a graph refers to its parameter

-- Loaders: in a world of one, the part of a rank is everything.
local set = lg.data.TensorDataset(lg.arange(10))
local loader = lg.data.DataLoader(set, {batch_size = 4, shuffle = true, seed = 1})
local function order()
  local list = {}
  for batch in loader do for _, v in ipairs(batch:tolist()) do list[#list + 1] = v end end
  return list
end
local before = order()
loader.begun = 0
assert(loader:shard() == loader)
expect.equal(order(), before)
expect.raises("an IterableDataset makes its own order", function()
  lg.data.DataLoader(lg.data.IterableDataset(function() return function() end end)):shard()
end)

-- A sharded model in a world of one: nodes keep no values of the parameters, also custom ops and checkpoints inside of a group, and
-- get them again for each backward.
do
  local scaled = lg.custom_op {
    name = "scaled",
    forward = function(ctx, a, w)
      ctx:save(a, w)
      return a * w
    end,
    backward = function(ctx, g)
      local a, w = ctx:saved()
      return g * w, (g * a):sum(1)
    end,
  }
  local Block = nn.class("Block")
  function Block:init() self.fc, self.scale = nn.Linear(4, 4), nn.Parameter(lg.randn(4)) end
  function Block:forward(a)
    return scaled(lg.checkpoint(function(b) return self.fc(b):tanh() end, a), self.scale) + a:matmul(self.fc.weight)
  end
  local function build()
    lg.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 4), Block(), nn.LSTM(4, 4), nn.Identity())
  end
  local one, other = build(), build()
  dist.fully_shard(other, {groups = {other[2], other[3]}})
  local a = lg.randn(5, 4)
  local losses = {one(a):square():sum(), other(a):square():sum()}
  for round = 1, 2 do
    for _, loss in ipairs(losses) do loss:backward {retain_graph = round == 1} end
    for i, p in ipairs(other:parameters()) do
      assert(p.grad:isclose(one:parameters()[i].grad, {rtol = 1e-6, atol = 1e-6}):all():item())
    end
  end
  expect.raises("was freed", function() losses[2]:backward() end)
  local loss = other(a):square():sum()
  lg.optim.SGD(other:parameters(), 0.1):step()
  expect.raises("_sgd_step_ changed in place", function() loss:backward() end)
  expect.raises("no longer the shard", function()
    other[2].scale = nn.Parameter(lg.ones(4))
    other(a)
  end)
  expect.raises("fully_shard: a module expected", function() dist.fully_shard(3) end)
  expect.raises("has no parameters", function() dist.fully_shard(nn.Sequential(nn.Tanh())) end)
end
