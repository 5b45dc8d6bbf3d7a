-- data_parallel(model, options): every rank has the whole model and computes the gradients of its samples; backward
-- returns when the gradients are averaged over the ranks. Parameters and buffers start with the values of rank 0. The
-- model itself is changed and returned: its forward prepares the averaging, and it has a method no_sync.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local buckets = require "lunagrad.distributed.buckets"
local passes = require "lunagrad.distributed.passes"
local tree = require "lunagrad.nn.tree"

local world, fail = core._world, core._fail

local read = arguments.reader("data_parallel", "model", {"bucket", 25}, {"deterministic", false}, {"slots", 8}, {"threads"})

-- --- gradients ---

-- The parameters whose gradients are averaged, in the reverse order of registration, which is nearly the order in which
-- gradients arrive.
local function trained(model)
  local entries = {}
  for _, entry in ipairs(tree.collect(model, "parameter", true)) do
    if entry.tensor.requires_grad then table.insert(entries, 1, entry) end
  end
  return entries
end

local function make_buckets(state, entries)
  state.entries = entries
  state.buckets = buckets(entries, state.bytes)
end

-- After the first pass the buckets follow the order in which the gradients arrived on rank 0.
local function reorder(state)
  local order = {}
  for i, entry in ipairs(state.entries) do order[i] = (state.arrival[entry.tensor] or #state.entries + i) end
  local places = core.tensor(order, {dtype = "i64", device = "cpu"})
  world.wait(world.broadcast_(places, 0, "order of gradients"))
  local rank, sorted = places:tolist(), {}
  for i, entry in ipairs(state.entries) do sorted[i] = {entry = entry, at = rank[i]} end
  table.sort(sorted, function(a, b) return a.at < b.at end)
  local entries = {}
  for i, item in ipairs(sorted) do entries[i] = item.entry end
  state.arrival = nil
  make_buckets(state, entries)
end

local function finish(state)
  local _ <close> = core.no_grad()
  state.buckets:finish()
  state.unshared = nil
  passes.average_statistics(state.buffers)
  state.pass = nil
  if state.arrival then reorder(state) end
end

-- Called at the first gradient of a backward pass through the model.
local function begin(state)
  local pass = world.pass_number()
  if state.pass == pass then return end
  state.pass = pass
  state.buckets:begin()
  state.arrived = 0
  world.at_end_of_backward(function() finish(state) end)
end

local function arrive(state, x)
  if not state or state.pass == nil or state.pass ~= world.pass_number() then return end
  if x.grad.requires_grad then
    fail("data_parallel: gradients with a graph (create_graph) are not averaged; take lg.grad, and all_reduce_ its results")
  end
  state.arrived = state.arrived + 1
  if state.arrival then state.arrival[x] = state.arrived end
  local _ <close> = core.no_grad()
  state.buckets:arrive(x)
end

-- Installs functions that are called when the gradient of a parameter is complete. They hold the model weakly, since
-- the parameters hold them.
local function watch(state)
  for x, id in pairs(state.watched) do world.remove_after(x, id) end
  state.watched = {}
  for _, entry in ipairs(state.entries) do
    local held = setmetatable({state = state, x = entry.tensor}, {__mode = "v"})
    state.watched[entry.tensor] = world.after_accumulation(entry.tensor, function() arrive(held.state, held.x) end)
  end
end

-- Between two steps parameters may be frozen, unfrozen, cast and moved, on all ranks alike.
local function prepare(state, model)
  state.buffers = tree.collect(model, "buffer", true)
  local entries = trained(model)
  local same = #entries == #state.entries
  for _, entry in ipairs(same and entries or {}) do same = same and state.buckets:fits(entry.tensor) end
  if same then return end
  state.arrival = {}
  make_buckets(state, entries)
  watch(state)
end

-- --- forward ---

local function call(state, model, forward, ...)
  if state.inside or not core.is_grad_enabled() then return forward(model, ...) end
  local synced = not state.alone
  if synced then prepare(state, model) end
  state.inside = state.count ~= nil
  local _ <close> = setmetatable({}, {__close = function() state.inside = false end})
  local results = passes.run(state, model, forward, ...)
  if synced then
    for i = 1, results.n do passes.arm(results[i], function() begin(state) end) end
  end
  return table.unpack(results, 1, results.n)
end

-- model:no_sync(fn, …): gradients computed in fn are added to .grad on each rank by itself; the next pass outside
-- averages the sums.
local function no_sync(state, fn, ...)
  if type(fn) ~= "function" then fail(("no_sync: a function expected (got %s)"):format(type(fn))) end
  local before = state.alone
  state.alone, state.unshared = true, true
  local _ <close> = setmetatable({}, {__close = function() state.alone = before end})
  return fn(...)
end

return function(...)
  local given = read(...)
  local model = given.model
  if not tree.is_module(model) then fail(("data_parallel: a module expected (got %s)"):format(type(model))) end
  if rawget(model, "_data_parallel") then fail("data_parallel: the model is data parallel already") end
  if type(given.bucket) ~= "number" or not (given.bucket > 0) then
    fail(("data_parallel: bucket is a number of MiB above 0 (got %s)"):format(tostring(given.bucket)))
  end
  if not world.is_open() then require("lunagrad.distributed").init() end
  local state = {
    name = "data_parallel", bytes = math.ceil(given.bucket * (1 << 20)), watched = {}, entries = {}, arrival = {},
  }
  if given.deterministic then passes.make_deterministic(state, given.slots, given.threads) end
  passes.share_start(state, model)
  make_buckets(state, trained(model))
  if #state.entries == 0 then fail("data_parallel: no parameter of the model requires a gradient") end
  watch(state)
  local forward = model.forward
  rawset(model, "_data_parallel", state)
  rawset(model, "forward", function(self, ...) return call(state, self, forward, ...) end)
  rawset(model, "no_sync", function(_, fn, ...) return no_sync(state, fn, ...) end)
  return model
end
