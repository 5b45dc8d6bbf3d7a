-- Shared by the forward passes of models that several ranks train: equal values at the start, random numbers that
-- depend on a step, a pass and a part of the batch, deterministic slots, and running statistics.
local core = require "lunagrad.core"
local draws = require "lunagrad.data.draws"
local is_plain = require("lunagrad.arguments").is_plain
local names = require "lunagrad.nn.names"
local shards = require "lunagrad.shards"
local slots = require "lunagrad.distributed.slots"
local tree = require "lunagrad.nn.tree"

local world, is_tensor = core._world, core.is_tensor
local passes = {}

local function check_devices(name, entries)
  local first = entries[1]
  for _, entry in ipairs(entries) do
    local one, other = first.tensor:device(), entry.tensor:device()
    if one ~= other then
      core._fail(("%s: %s is on %s and %s on %s; move the model to one device first: model:to(\"%s\")"):format(name, first.path, one,
        entry.path, other, other == "cpu" and one or other))
    end
  end
end

-- Gives all ranks the model's values and the seed of rank 0. A model that differs between ranks is an error. `more`
-- describes what else must be equal on all ranks.
function passes.share_start(state, model, more)
  local entries = tree.collect(model, "any", true)
  for _, entry in ipairs(entries) do
    if shards.of(entry.tensor) then
      core._fail(("%s: %s is a shard already; leave the sharded module out of the model, or build it whole"):format(state.name,
        entry.path))
    end
  end
  check_devices(state.name, entries)
  for _, entry in ipairs(entries) do names.note_parameter(entry.tensor, entry.path) end
  local waiting = {}
  for i, entry in ipairs(entries) do waiting[i] = world.broadcast_(entry.tensor, 0, entry.path) end
  for _, pending in ipairs(waiting) do world.wait(pending) end
  local seed = core.tensor({core._new_seed()}, {dtype = "i64", device = "cpu"})
  state.seed = world.wait(world.broadcast_(seed, 0, "the seed" .. (more or ""))):item()
end

-- Statistics that training updates. Other buffers keep their initial values.
local averaged = {running_mean = true, running_var = true}
local function is_averaged(entry) return averaged[entry.key] == true end

-- Averages the running statistics over the ranks; all of one dtype and device are sent together.
function passes.average_statistics(buffers)
  local groups, order = {}, {}
  for _, entry in ipairs(buffers) do
    if is_averaged(entry) then
      local kind = entry.tensor:dtype() .. entry.tensor:device()
      if not groups[kind] then
        groups[kind] = {}
        order[#order + 1] = kind
      end
      table.insert(groups[kind], entry.tensor)
    end
  end
  for _, kind in ipairs(order) do
    local list, parts, at = groups[kind], {}, 1
    for i, x in ipairs(list) do parts[i] = x:reshape(-1) end
    local flat = core.cat(parts, 1)
    world.wait(world.all_reduce_(flat, "mean", "running statistics"))
    for _, x in ipairs(list) do
      x:copy_(flat:narrow(1, at, x:numel()):reshape(x:size()))
      at = at + x:numel()
    end
  end
end

-- Calls f when the gradient of a result of the model arrives. Returns whether a result requires a gradient.
function passes.arm(value, f)
  local armed = false
  if is_tensor(value) then
    if value.requires_grad then
      value:register_hook(f)
      armed = true
    end
  elseif is_plain(value) then
    for _, item in pairs(value) do armed = passes.arm(item, f) or armed end
  end
  return armed
end

-- Counts the passes of a step of lg.run.steps, from 1, so that a resumed run continues the count. Outside such steps it
-- counts all passes. The recomputation of a checkpoint belongs to the pass of its forward.
function passes.count(state)
  if core._recomputing() then return end
  local run = core.run
  local step = run and run._in_steps() and run._progress() or 0
  if step ~= state.step then state.step, state.pass_of_step = step, 0 end
  state.pass_of_step = state.pass_of_step + 1
end

-- Seeds the generator for a part of the batch, by the shared seed, the step, the pass in the step and the number of the
-- part.
function passes.seed(state, part)
  core.set_rng_state {seed = draws(state.seed, state.step, state.pass_of_step, part):seed(), stream = 0}
end

-- Calls the model with the random numbers of the pass and returns its results, packed. If `state.count` is the number
-- of this rank's slots, they run one after the other, and state.slot is the number of the running slot. state: name, of
-- the function in messages; count; whole, the parameters are the same for all slots; and fields of these functions.
function passes.run(state, model, forward, ...)
  local own = core.get_rng_state()
  local _ <close> = setmetatable({}, {__close = function()
    core.set_rng_state(own)
    state.slot = nil
  end})
  passes.count(state)
  if not state.count then
    passes.seed(state, world.rank())
    return table.pack(forward(model, ...))
  end
  local first = world.rank() * state.count
  return slots.run(model, table.pack(...), {
    name = state.name, count = state.count, buffers = tree.collect(model, "buffer", true), mean = is_averaged,
    whole = state.whole,
    start = function(slot)
      state.slot = slot
      passes.seed(state, first + slot - 1)
    end,
  })
end

-- Sets deterministic training: the number of slots of this rank, and the same number of threads on each rank.
function passes.make_deterministic(state, count, threads)
  state.count = slots.share(count, state.name)
  core.set_num_threads(threads or 1)  -- some sums depend on the number of threads
end

return passes
