-- A pipeline of as many stages as ranks: gradients, losses and parameters after training have the bits of one process
-- that runs the same micro batches one after the other; how many micro batches a rank keeps; errors.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

-- Layers between which the shapes differ: images, maps, vectors.
local function layers()
  lg.manual_seed(4)
  local list = {nn.Conv2d(1, 4, 3), nn.Sequential(nn.BatchNorm2d(4), nn.ReLU()), nn.Sequential(nn.Flatten(), nn.Linear(64, 24)),
    nn.Tanh(), nn.Linear(24, 16), nn.LayerNorm(16), nn.Linear(16, 8), nn.Linear(8, 5)}
  for _, p in ipairs(list[5]:parameters()) do p:requires_grad_(false) end
  return list
end
-- The layers of each of `count` stages; the last has the rest.
local function stages_of(count)
  local list, all, each = {}, layers(), 8 // count
  for s = 1, count do list[s] = nn.Sequential(table.unpack(all, (s - 1) * each + 1, s == count and 8 or s * each)) end
  return list
end

local function near_zero(x, what) assert(x:abs():max():item() == 0, what) end
local function same(got, wanted, what)
  assert((got == nil) == (wanted == nil), what .. ": one is missing")
  if got then assert(got:equal(wanted), ("%s: rank %d is off by %g"):format(what, rank, (got - wanted):abs():max():item())) end
end

local function batch(step, rows)
  lg.manual_seed(100 + step)
  return lg.randn(rows, 1, 6, 6), lg.randint(0, 5, {rows})
end

for _, count in ipairs {1, 2, 3, 4, 9} do
  local pipe = dist.pipeline(stages_of(size), {micro_batches = count, loss = F.cross_entropy, schedule = "1f1b"})
  local whole = stages_of(size)
  local own = whole[rank + 1]
  local all = nn.Sequential(table.unpack(whole))
  local ours = lg.optim.SGD(pipe:parameters(), {lr = 0.1, momentum = 0.9})
  local theirs = lg.optim.SGD(all:parameters(), {lr = 0.1, momentum = 0.9})
  for step = 1, 4 do
    local x, y = batch(step, 4 * count)
    theirs:zero_grad()
    local wanted
    for m = 1, count do
      local loss = F.cross_entropy(all(x:narrow(1, 4 * m - 3, 4)), y:narrow(1, 4 * m - 3, 4)) / count
      loss:backward()
      wanted = wanted and wanted + loss:detach() or loss:detach()
    end
    ours:zero_grad()
    -- The first rank alone needs x, the last rank alone needs y.
    local loss = pipe:backward(rank == 0 and x or nil, rank == size - 1 and y or nil)
    local what = ("%d micro batches, step %d"):format(count, step)
    same(loss, wanted, what .. ", loss")
    for i, p in ipairs(pipe.stage:parameters()) do same(p.grad, own:parameters()[i].grad, what .. ", gradient " .. i) end
    ours:step()
    theirs:step()
  end
  local state, wanted = pipe.stage:state_dict(), own:state_dict()
  for name, value in pairs(wanted) do same(state[name], value, name) end
  assert(pipe.peak_micro_batches == math.min(count, size - rank),
    ("rank %d kept %d of %d micro batches"):format(rank, pipe.peak_micro_batches, count))
  local _ <close> = lg.no_grad()
  pipe:eval()
  all:eval()
  local x = batch(9, 4 * count)
  local parts = {}
  for m = 1, count do parts[m] = all(x:narrow(1, 4 * m - 3, 4)) end
  same(pipe(x), lg.cat(parts, 1), "output")
end

-- A stage without parameters, and a frozen one: gradients pass through both, but no gradients are computed for a frozen
-- first stage.
if size > 1 then
  local stages, sum = {}, 0
  for s = 1, size do stages[s] = s % 2 == 0 and nn.Identity() or nn.Linear(3, 3) end
  stages[1]:requires_grad_(false)
  local pipe = dist.pipeline(stages, {micro_batches = 2, loss = function(y) return y:square():mean() end})
  local x = lg.ones(4, 3, {requires_grad = true})
  pipe:backward(x:detach(), x:detach())
  for _, p in ipairs(pipe:parameters()) do sum = sum + (p.grad and p.grad:abs():sum():item() or 0) end
  assert((sum > 0) == (rank > 0 and rank % 2 == 0))
end

-- Dropout differs between micro batches and ranks, and repeats with the seed.
do
  local function run()
    lg.manual_seed(3)
    local list = {}
    for s = 1, size do list[s] = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5)) end
    local pipe = dist.pipeline(list, {micro_batches = 2, loss = function(y) return y:square():mean() end})
    local before = lg.get_rng_state()
    pipe:backward(lg.ones(4, 16), lg.ones(4))
    assert(lg.get_rng_state().stream == before.stream, "the random numbers of the script went on")
    return pipe:parameters()[1].grad
  end
  same(run(), run(), "dropout with a seed")
end

-- Gradients of two calls add up.
do
  local pipe = dist.pipeline(stages_of(size), {micro_batches = 1, loss = F.cross_entropy})
  pipe:eval()
  local x, y = batch(1, 8)
  pipe:backward(x, y)
  local kept = {}
  for i, p in ipairs(pipe:parameters()) do kept[i] = p.grad and p.grad * 2 or false end
  pipe:backward(x, y)
  for i, p in ipairs(pipe:parameters()) do
    if p.grad then near_zero(p.grad - kept[i], "two calls") end
  end
end

-- --- what is refused ---

local function refused(text, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(text, 1, true), ("%s: %s"):format(text, ok and "no error" or message))
end
local loss = F.cross_entropy
for _, count in ipairs {0, -1, 1.5} do
  refused("micro_batches is an integer from 1 on", dist.pipeline, stages_of(size), {micro_batches = count, loss = loss})
end
refused(("%d stages for %d ranks"):format(size + 1, size), dist.pipeline, stages_of(size + 1), {loss = loss})
refused("there is no schedule 'gpipe'", dist.pipeline, stages_of(size), {loss = loss, schedule = "gpipe"})
refused("the loss is missing", dist.pipeline, stages_of(size))
refused("a list of modules expected", dist.pipeline, 3, {loss = loss})
refused("stages[1] is a number", dist.pipeline, {3}, {loss = loss})
local pipe = dist.pipeline(stages_of(size), {micro_batches = 3, loss = loss})
refused("has 4 samples, which 3 micro batches cannot share", pipe.backward, pipe, batch(1, 4))
refused("computes no gradients", pipe, (batch(1, 3)))
refused("is a Tensor with samples along dim 1 (got number)", pipe.backward, pipe, 3, lg.ones(3))
if size > 1 then
  local shared, list = nn.Linear(3, 3), {}
  for s = 1, size do list[s] = nn.Sequential(s <= 2 and shared or nn.Linear(3, 3)) end
  refused("0.weight of stages[2] belongs to stages[1], too", dist.pipeline, list, {loss = loss})
  refused("the ranks of a pipeline have different states", lg.run.state, "pipe", function() return pipe end)
  if #pipe:parameters() > 0 then
    refused("the ranks of a pipeline have different states", lg.run.state, "adam", function()
      local adam = lg.optim.Adam(pipe:parameters())
      for _, p in ipairs(pipe:parameters()) do
        if p.requires_grad then p.grad = lg.ones_like(p) end
      end
      adam:step()
      return adam
    end)
  end
end
-- A stage that returns another shape for a later micro batch. tests/distributed/astray.lua tests it with several ranks.
local Grows = nn.class("Grows")
function Grows:init() self.calls = 0 end
function Grows:forward(x)
  self.calls = self.calls + 1
  return self.calls == 2 and lg.cat({x, x}, 2) or x
end
if size == 1 then
  local growing = dist.pipeline({Grows()}, {micro_batches = 2, loss = function(y) return y:mean() end})
  refused("stage 1 returned [2, 6] for micro batch 2 and [2, 3] for the first", growing.backward, growing,
    lg.ones(4, 3, {requires_grad = true}), lg.ones(4))
end
dist.barrier()
if rank == 0 then print(("a pipeline of %d stages: the bits of one process"):format(size)) end
