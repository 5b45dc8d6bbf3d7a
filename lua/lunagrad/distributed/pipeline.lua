-- pipeline(stages, {micro_batches = M, loss = f}): each rank runs one stage of a model, and sends the activations of
-- each part of the batch (micro batch) to the next rank. After its first forward passes a rank alternates one forward
-- and one backward (1F1B: Narayanan et al. 2019), so that it keeps the activations of at most as many micro batches as
-- there are stages from its own to the last. Gradients are added in the order of the micro batches, as in one process.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local class = require("lunagrad.nn.class").of_library
local Module = require "lunagrad.nn.module"
local ModuleList = require("lunagrad.nn.containers").ModuleList
local passes = require "lunagrad.distributed.passes"
local shards = require "lunagrad.shards"
local tree = require "lunagrad.nn.tree"

local world, fail, is_tensor = core._world, core._fail, core.is_tensor

local Pipeline = class("Pipeline")

local read = arguments.reader("pipeline", "stages", {"micro_batches", 1}, {"loss"}, {"schedule", "1f1b"})

local function shape_text(x) return "[" .. table.concat(x:size(), ", ") .. "]" end

-- --- stages ---

local function list_of(stages)
  if tree.is_module(stages) then return stages:children() end
  if not arguments.is_plain(stages) then
    fail(("pipeline: a list of modules expected, one for each rank (got %s)"):format(type(stages)))
  end
  return stages
end

local function check_stages(stages)
  for i, stage in ipairs(stages) do
    if not tree.is_module(stage) then fail(("pipeline: stages[%d] is a %s, not a module"):format(i, type(stage))) end
    if stage.forward == Module.forward then fail(("pipeline: stages[%d], a %s, has no forward"):format(i, stage.__name)) end
    tree.each_module(stage, function(_, module)
      if rawget(module, "_data_parallel") or rawget(module, "_fully_shard") then
        fail(("pipeline: stages[%d] is data parallel or sharded already; pass plain modules"):format(i))
      end
    end, "", true)
  end
  if #stages ~= world.size() then
    fail(("pipeline: %d stages for %d ranks; make one stage for each rank, of several layers as nn.Sequential(…)"):format(#stages,
      world.size()))
  end
  local owner = {}
  for i, stage in ipairs(stages) do
    for _, entry in ipairs(tree.collect(stage, "parameter", true)) do
      local other = owner[entry.tensor]
      if other then
        fail(("pipeline: %s of stages[%d] belongs to stages[%d], too; give each stage its own parameters"):format(entry.path, i, other))
      end
      owner[entry.tensor] = i
    end
  end
end

local function check_options(given)
  if given.schedule ~= "1f1b" then
    fail(("pipeline: there is no schedule '%s'; leave it out, or write \"1f1b\""):format(tostring(given.schedule)))
  end
  local count = given.micro_batches
  if math.type(count) ~= "integer" or count < 1 then
    fail(("pipeline: micro_batches is an integer from 1 on (got %s)"):format(tostring(count)))
  end
  if given.loss == nil then fail("pipeline: the loss is missing: {loss = function(output, target) … end}") end
end

function Pipeline:init(...)
  local given = read(...)
  check_options(given)
  if not world.is_open() then require("lunagrad.distributed").init() end
  local stages = list_of(given.stages)
  check_stages(stages)
  local rank = world.rank()
  self._state = {name = "pipeline"}
  passes.share_start(self._state, ModuleList(stages), (", and a pipeline of %d micro batches"):format(given.micro_batches))
  self.stage = stages[rank + 1]
  self.micro_batches = given.micro_batches
  self.peak_micro_batches = 0  -- the most micro batches whose activations this rank kept at once
  self._loss = given.loss
  self._first, self._last = rank == 0, rank == world.size() - 1
  if world.size() > 1 then
    for _, x in ipairs(self.stage:parameters()) do shards.note_stage(x) end
    self.stage:register_state_dict_post_hook(function(stage)
      for _, x in ipairs(stage:parameters()) do shards.check_stage(x) end
    end)
  end
end

-- --- transfers ---

-- Returns a function that receives a value from a rank for each micro batch. The next value may arrive while this one
-- is used.
local function coming(from, what, count)
  local function post(m) return world.receive(from, ("%s of micro batch %d"):format(what, m)) end
  local pending
  return function(m)
    local value = world.wait(pending or post(m))
    pending = m < count and post(m + 1) or nil
    return value
  end
end

-- Returns send(m, x), which sends a value to a rank while the script continues, and wait(), which returns when all have
-- arrived.
local function going(to, what)
  local list = {}
  local function send(m, x)
    while list[1] and world.is_done(list[1]) do world.wait(table.remove(list, 1)) end
    list[#list + 1] = world.send(x:detach(), to, ("%s of micro batch %d"):format(what, m))
  end
  local function wait()
    for _, pending in ipairs(list) do world.wait(pending) end
  end
  return send, wait
end

local function connect(self, backward)
  local rank, count = world.rank(), self.micro_batches
  local links, waits = {}, {}
  if not self._first then links.input = coming(rank - 1, "activations", count) end
  if not self._last then links.output, waits[1] = going(rank + 1, "activations") end
  if backward and not self._last then links.gradient = coming(rank + 1, "gradients", count) end
  if backward and not self._first then links.back, waits[#waits + 1] = going(rank - 1, "gradients") end
  function links.wait()
    for _, wait in ipairs(waits) do wait() end
  end
  return links
end

-- Returns the last rank's value on every rank.
local function from_last(self, value, what)
  local last = world.size() - 1
  if not self._last then return world.wait(world.receive(last, what)):to(self:_device()) end
  local list = {}
  for r = 0, last - 1 do list[#list + 1] = world.send(value, r, what) end
  for _, pending in ipairs(list) do world.wait(pending) end
  return value
end

-- --- a pass ---

function Pipeline:_device()
  local x = self.stage:parameters()[1]
  return x and x:device() or core.zeros({1}):device()
end

-- Returns a function from the number of a micro batch to its part of a batch.
local function parts_of(self, name, x)
  local count = self.micro_batches
  if not is_tensor(x) or x:dim() == 0 then
    fail(("pipeline: %s is a Tensor with samples along dim 1 (got %s)"):format(name, is_tensor(x) and "no dims" or type(x)))
  end
  local rows = x:size(1)
  if rows % count ~= 0 or rows == 0 then
    fail(("pipeline: %s has %d samples, which %d micro batches cannot share; take a batch_size that they divide, and drop_last"):format(
      name, rows, count))
  end
  local each = rows // count
  return function(m) return x:narrow(1, (m - 1) * each + 1, each) end
end

-- Runs the stage on a micro batch. All results must have the shape of the first.
local function compute(self, m, x)
  passes.seed(self._state, (m - 1) * world.size() + world.rank())
  local y = self.stage(x)
  if not is_tensor(y) then fail(("pipeline: a stage returns one Tensor (stage %d returned a %s)"):format(world.rank() + 1, type(y))) end
  local shape = shape_text(y)
  if m == 1 then self._state.shape = shape end
  if shape ~= self._state.shape then
    fail(("pipeline: stage %d returned %s for micro batch %d and %s for the first; its shape may depend on the number of samples only")
      :format(world.rank() + 1, shape, m, self._state.shape))
  end
  return y
end

-- Restores the script's random generator at the end of a scope.
local function kept_random()
  local own = core.get_rng_state()
  return setmetatable({}, {__close = function() core.set_rng_state(own) end})
end

-- pipe:backward(x, target): the loss of the batch, the mean over its micro batches, on every rank. Adds to the
-- gradients of the stage's parameters. Rank 0 reads x, the last rank target.
function Pipeline:backward(x, target)
  local count, rank, size = self.micro_batches, world.rank(), world.size()
  local inputs = (self._first or x ~= nil) and parts_of(self, "the input", x)
  local targets = (self._last or target ~= nil) and parts_of(self, "the target", target)
  local _ <close> = kept_random()
  passes.count(self._state)
  local links, live, kept, total = connect(self, true), {}, 0, nil
  local device = self:_device()

  local function forward(m)
    local input = self._first and inputs(m) or links.input(m):to(device)
    if not self._first and core.is_floating_point(input) then input:requires_grad_(true) end
    local y = compute(self, m, input)
    if self._last then
      y = self._loss(y, targets(m)) / count
      if not is_tensor(y) or y:dim() > 0 then fail("pipeline: the loss is a Tensor without dims, such as a mean over samples") end
      total = total and total + y:detach() or y:detach()
    else
      links.output(m, y)
    end
    live[m], kept = {input = input, output = y}, kept + 1
    self.peak_micro_batches = math.max(self.peak_micro_batches, kept)
  end

  local function backward(m)
    local input, y = live[m].input, live[m].output
    live[m], kept = nil, kept - 1
    if self._last then
      y:backward()
    else
      local gradient = links.gradient(m)
      if y.requires_grad then y:backward(gradient:to(y:device())) end  -- y needs none if all before it is frozen
    end
    if self._first then return end
    links.back(m, input.grad or core.zeros_like(input))
    input.grad = nil
  end

  local ahead = math.min(size - 1 - rank, count)
  for m = 1, ahead do forward(m) end
  for m = ahead + 1, count do
    forward(m)
    backward(m - ahead)
  end
  for m = count - ahead + 1, count do backward(m) end
  links.wait()
  return from_last(self, total, "loss of the pipeline")
end

-- pipe(x): the output of the last stage, on every rank, without gradients. Rank 0 reads x.
function Pipeline:forward(x)
  if core.is_grad_enabled() then
    fail("pipeline: pipe(x) computes no gradients; call it under lg.no_grad(), and pipe:backward(x, target) to train")
  end
  local inputs = (self._first or x ~= nil) and parts_of(self, "the input", x)
  local _ <close> = kept_random()
  passes.count(self._state)
  local links, parts = connect(self, false), {}
  local device = self:_device()
  for m = 1, self.micro_batches do
    local y = compute(self, m, self._first and inputs(m) or links.input(m):to(device))
    if self._last then parts[m] = y else links.output(m, y) end
  end
  links.wait()
  return from_last(self, self._last and core.cat(parts, 1), "output of the pipeline")
end

return Pipeline
