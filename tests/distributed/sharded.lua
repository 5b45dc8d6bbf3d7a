-- What fully_shard leaves on each rank, and what it refuses. Gradients are means over the ranks; shards are rows.
local lg = require "lunagrad"
local nn, dist = lg.nn, lg.distributed
dist.init {timeout = 60}
lg.set_default_dtype "f64"
local rank, size = dist.rank(), dist.size()

local function near(got, wanted, what)
  assert(table.concat(got:size(), " ") == table.concat(wanted:size(), " "), what .. " has another shape")
  local apart = wanted:numel() == 0 and 0 or (got - wanted):abs():max():item() / math.max(wanted:abs():max():item(), 1e-3)
  assert(apart <= 1e-12, ("%s: rank %d is off by %g"):format(what, rank, apart))
end
local function refused(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), ("%s: %s"):format(text, ok and "no error" or message))
end

local function layer(x, y) return nn.Sequential(nn.Linear(x, y), nn.Tanh()) end
local Net = nn.class("Net")
function Net:init()
  self.first = nn.Linear(3, 5)
  self.blocks = nn.ModuleList {layer(5, 7), layer(7, 5), layer(5, 5)}
  self.scale = nn.Parameter(lg.tensor(1.25))
  self.unused = nn.Linear(2, 2)
  self.inner = false
end
function Net:forward(x, depth)
  x = self.first(x)
  for i = 1, depth or 3 do
    local block = self.blocks[i]
    x = self.inner and lg.checkpoint(function(y) return block(y) end, x) or block(x)
  end
  return x * self.scale
end

local function build()
  lg.manual_seed(8)
  return Net()
end
local function of(whole)  -- the rows of this rank
  local rows = whole:dim() == 0 and 1 or whole:size(1)
  local count = rows // size + (rank < rows % size and 1 or 0)
  local first = rank * (rows // size) + math.min(rank, rows % size)
  if whole:dim() == 0 then whole = whole:reshape(1) end
  return count == 0 and whole:narrow(1, 1, 0) or whole:narrow(1, first + 1, count)
end

lg.manual_seed(1)
local inputs = lg.randn(4 * size, 3)
local own = inputs:narrow(1, 4 * rank + 1, 4)
local plain, net = build(), build()
if rank > 0 then
  local _ <close> = lg.no_grad()
  for _, p in ipairs(net:parameters()) do p:zero_() end  -- rank 0's values are used
end
assert(dist.fully_shard(net, {groups = net.blocks}) == net)
for i, p in ipairs(net:parameters()) do near(p, of(plain:parameters()[i]:detach()), "shard " .. i) end

-- Compares the gradients with the gradients of one process times `times`.
local function compare(what, times)
  local wanted = plain:parameters()
  for i, p in ipairs(net:parameters()) do
    assert((p.grad == nil) == (wanted[i].grad == nil), what .. ": a gradient is missing, or there")
    if p.grad then near(p.grad, of(wanted[i].grad) * (times or 1), what .. ", gradient " .. i) end
  end
end
local function pass(options)
  plain:zero_grad()
  net:zero_grad()
  plain(inputs):square():mean():backward()
  net(own):square():mean():backward(options)
end

pass()
compare("a pass")
assert(net.unused.weight.grad == nil)
net(own):square():mean():backward()
compare("two passes", 2)
net:zero_grad()
net:no_sync(function() net(own):square():mean():backward() end)
compare("no_sync")

-- Twice through one graph, two forward passes and one backward, a block that is skipped, evaluation between the passes.
net:zero_grad()
local loss = net(own):square():mean()
loss:backward {retain_graph = true}
loss:backward()
compare("a graph that is kept", 2)
refused("was freed", function() loss:backward() end)
net:zero_grad();
(net(own):square():mean() + net(own):square():mean()):backward()
compare("two forward passes", 2)
plain:zero_grad()
net:zero_grad()
plain(inputs, 1):square():mean():backward()
loss = net(own, 1):square():mean()
do
  local _ <close> = lg.no_grad()
  near(net(own), plain(own), "evaluation")
end
loss:backward()
compare("fewer blocks")
pass()
compare("all blocks again")

-- The gradient of the input alone: no shard gets one.
net:zero_grad()
local a, b = own:clone():requires_grad_(), own:clone():requires_grad_()
near(lg.grad(net(a):sum(), a), lg.grad(plain(b):sum(), b), "gradient of the input")
for _, p in ipairs(net:parameters()) do assert(p.grad == nil) end
-- A block called alone uses the current values, not those gathered before.
for _, model in ipairs {plain, net} do
  local _ <close> = lg.no_grad()
  for _, p in ipairs(model.blocks[1]:parameters()) do p:mul_(1.5) end
end
near(net.blocks[1](lg.ones(2, 5)), plain.blocks[1](lg.ones(2, 5)), "a block by itself")
near(net.blocks[2](lg.ones(2, 7)), plain.blocks[2](lg.ones(2, 7)), "another block by itself")
pass()
compare("after a block by itself")

-- Checkpoints around the blocks, and inside of a group.
net.inner = true
pass()
compare("checkpoints")
net.inner = false
local Inside = nn.class("Inside")
function Inside:init() self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 3) end
function Inside:forward(x)
  return self.b(lg.checkpoint(function(y) return self.a(y):tanh() end, x)) + lg.checkpoint(function(y) return y * self.a.weight:sum() end, x)
end
lg.manual_seed(2)
local whole = nn.Sequential(nn.Linear(3, 3), Inside())
lg.manual_seed(2)
local parts = nn.Sequential(nn.Linear(3, 3), Inside())
dist.fully_shard(parts, {groups = {parts[2]}})
whole(inputs):square():mean():backward()
parts(own):square():mean():backward()
for i, p in ipairs(parts:parameters()) do near(p.grad, of(whole:parameters()[i].grad), "checkpoint in a group") end

-- A pass that fails on all ranks, and the next one.
local Fails = nn.class("Fails")
function Fails:forward(x)
  if self.hook then x:register_hook(function() error("refused") end) end
  return x
end
net.blocks[1]:append(Fails())  -- gradients of block 3 are on their way when it is called
net.blocks[1][3].hook = true
refused("refused", function() net(own):square():mean():backward() end)
net.blocks[1][3].hook = false
pass()
compare("after an error")
refused("create_graph", function() net(own):square():mean():backward {create_graph = true} end)
pass()
compare("after create_graph")
refused("depends on", function() lg.grad(net(own):sum(), net.first.weight) end)
refused("whole only while its group runs", function()
  local kept
  local forward = net.blocks[1].forward
  rawset(net.blocks[1], "forward", function(self, ...) return forward(self, ...) end)
  local inner = net.blocks[1][1].forward
  rawset(net.blocks[1][1], "forward", function(self, ...)
    kept = self.weight
    return inner(self, ...)
  end)
  net(own)
  return kept + 1
end)

-- Values that change between forward and backward.
loss = net(own):square():mean()
do
  local _ <close> = lg.no_grad()
  for _, p in ipairs(net:parameters()) do p:mul_(1) end
end
if size == 1 then refused("changed in place", function() loss:backward() end) end

-- Frozen, thawed, cast.
for _, model in ipairs {plain, net} do model.blocks[2]:requires_grad_(false) end
pass()
compare("a frozen block")
for _, model in ipairs {plain, net} do model.blocks[2]:requires_grad_(true) end
pass()
compare("a thawed block")
do
  local values = net:state_dict()
  net:float()
  assert(net.scale:dtype() == "f32")
  net(own:float()):square():mean():backward()
  assert(net.scale.grad:dtype() == "f32")
  net:double():load_state_dict(values)
  pass()
  compare("cast and back")
end

-- State dicts of the model, its optimizer and averages hold unsharded tensors. Sharded and plain models load them.
local function train(model, x, steps)
  local optimizer, ema = lg.optim.AdamW(model:parameters(), 1e-2), lg.optim.EMA(model, {decay = 0.5})
  for _ = 1, steps do
    model:zero_grad()
    model(x):square():mean():backward()
    optimizer:step()
    ema:update()
  end
  return optimizer, ema
end
local adam, ema = train(net, own, 3)
local other_adam, other_ema = train(plain, inputs, 3)
local state, wanted = net:state_dict(), plain:state_dict()
for name, value in pairs(wanted) do near(state[name], value, name) end
state, wanted = adam:state_dict(), other_adam:state_dict()
for number, values in pairs(wanted.state) do
  for name, value in pairs(values) do
    if lg.is_tensor(value) then
      local apart = (state.state[number][name] - value):abs():max():item()
      assert(apart <= 1e-12, name)
    end
  end
end
near(ema:state_dict().shadow_params[1], other_ema:state_dict().shadow_params[1], "average")
local again = build()
dist.fully_shard(again, {groups = again.blocks})
local new_adam, new_ema = lg.optim.AdamW(again:parameters(), 1e-2), lg.optim.EMA(again, {decay = 0.5})
again:load_state_dict(net:state_dict())
new_adam:load_state_dict(adam:state_dict())
new_ema:load_state_dict(ema:state_dict())
for i, p in ipairs(again:parameters()) do
  assert(p:equal(net:parameters()[i]))
  if adam.state[net:parameters()[i]].exp_avg then assert(new_adam.state[p].exp_avg:equal(adam.state[net:parameters()[i]].exp_avg)) end
  assert(new_ema.averages[i]:equal(ema.averages[i]))
end
refused("does not fit", function() again:load_state_dict({}) end)

-- Complex parameters.
do
  local Complex = nn.class("Complex")
  function Complex:init() self.w = nn.Parameter(lg.complex(lg.randn(5, 3), lg.randn(5, 3))) end
  function Complex:forward(y) return (y * self.w):abs():square() end
  lg.manual_seed(9)
  local one = Complex()
  lg.manual_seed(9)
  local other = dist.fully_shard(Complex())
  for _, m in ipairs {one, other} do m(2.0):sum():backward() end
  assert((other.w.grad - of(one.w.grad)):abs():sum():item() < 1e-9 and other.w.grad:dtype() == "c128")
end

-- Clipping: the norm of all rows, of every kind.
pass()
for _, kind in ipairs {2, 1, 3, math.huge} do
  pass()
  local norm = nn.utils.clip_grad_norm_(net:parameters(), 0.01, {norm_type = kind})
  near(norm, nn.utils.clip_grad_norm_(plain:parameters(), 0.01, {norm_type = kind}), "norm " .. kind)
  compare("clipped by norm " .. kind)
end
refused("clip_grad_norm_(model:parameters(), math.huge)", function() nn.utils.get_total_norm {net.scale.grad} end)
refused("is no longer the shard", function() lg.func.functional_call(net, {["first.weight"] = lg.ones(5, 3)}, own) end)
refused("lg.optim.EMA(model)", function() nn.utils.deepcopy(net) end)
for _, name in ipairs {"Adafactor", "LBFGS"} do
  refused("fully sharded model are rows", function()
    lg.optim[name](net:parameters()):step(function() return lg.tensor(0.0) end)
  end)
end

-- What is refused.
refused("is the model itself", function() local m = build() dist.fully_shard(m, {groups = {m}}) end)
refused("is no module of the model", function() local m = build() dist.fully_shard(m, {groups = {nn.Linear(2, 2)}}) end)
refused("groups[1] is a number", function() dist.fully_shard(build(), {groups = {3}}) end)
refused("is never called itself", function() local m = build() dist.fully_shard(m, {groups = {m.blocks}}) end)
refused("groups[2] is groups[1] again", function() local m = build() dist.fully_shard(m, {groups = {m.first, m.first}}) end)
refused("is in two groups, blocks.0 and blocks.0.0", function()
  local m = build()
  dist.fully_shard(m, {groups = {m.blocks[1], m.blocks[1][1]}})
end)
refused("outside of its group blocks.2", function()
  local m = build()
  m.first.weight = nn.Parameter(lg.randn(5, 5))
  m.blocks[3][1].weight = m.first.weight
  dist.fully_shard(m, {groups = m.blocks})
end)
refused("fully sharded already", function() dist.fully_shard(net) end)
refused("data parallel already", function() dist.fully_shard(dist.data_parallel(build())) end)
refused("is a shard", function() dist.data_parallel(nn.Sequential(dist.ShardedLinear(2, 2))) end)
refused("is a shard", function() dist.fully_shard(nn.Sequential(dist.ShardedLinear(2, 2))) end)
local late = build()
local early = lg.optim.SGD({late.first.weight}, 0.1)
dist.fully_shard(late)
late(own):sum():backward()
refused("make the optimizer after dist.fully_shard", function() early:step() end)
if size > 1 then
  refused("the groups differ between ranks", function()
    local m = build()
    dist.fully_shard(m, {groups = rank == 0 and {m.first} or {m.blocks[1]}})
  end)
  refused("cannot be shared", function() dist.fully_shard(build(), {deterministic = true, slots = size // 2 * 2 == size and 1 or 2}) end)
end
if rank == 0 then print(("shards of %d ranks: right"):format(size)) end
