-- lg.distributed: several processes (ranks) that run one script, started by `lunagrad run --ranks N`, mpirun or srun. Every rank
-- calls the same collectives in the same order. Ranks count from 0, as in MPI. Without init, or outside of a launcher, the world
-- has one rank, and collectives are copies.
local core = require "lunagrad.core"
local reader = require("lunagrad.arguments").reader

local world, fail, is_tensor = core._world, core._fail, core.is_tensor
local distributed = {}

-- --- the world ---

-- A hash of a file (FNV-1a), or nil where the file cannot be read.
local function checksum(path)
  local file = io and io.open(path, "rb")
  if not file then return nil end
  local text, hash = file:read "a", 0xcbf29ce484222325
  file:close()
  for at = 1, #text do hash = (hash ~ text:byte(at)) * 0x100000001b3 end
  return ("%08x"):format(hash >> 32)
end

-- A text with everything that must be equal on all ranks.
local function identity()
  local state = core.get_rng_state()
  local path = type(arg) == "table" and arg[0] and tostring(arg[0])
  local script = path and path:match "[^/]+$" or "a script"
  return ("%s (checksum %s), seed %s, random stream %s"):format(script, path and checksum(path) or "unknown", tostring(state.seed),
    tostring(state.stream))
end

local read_init = reader("init", {"timeout", 30})

function distributed.init(...)
  local given = read_init(...)
  if type(given.timeout) ~= "number" then fail(("init: timeout is a number of seconds (got %s)"):format(type(given.timeout))) end
  if world.launched_size() == 1 and os.getenv and os.getenv "LUNAGRAD_RANKS" then
    fail("init: --ranks was given, but mpirun started one process alone; its MPI is not the one of this program, which liblunagrad-mpi.so links")
  end
  world.init(given.timeout, identity())
end

function distributed.is_initialized() return world.is_open() end
function distributed.rank() return world.rank() end
function distributed.size() return world.size() end
function distributed.local_rank() return world.local_rank() end

-- A collective opens the world if the script did not.
local function open()
  if not world.is_open() then distributed.init() end
end

-- --- handles ---

local Handle = {__name = "Handle"}
Handle.__index = Handle
-- Blocks until the collective has ended, and returns its result.
function Handle:wait()
  if self.pending then
    self.result = world.wait(self.pending)
    self.pending = nil
  end
  return self.result
end
function Handle:is_done() return self.pending == nil or world.is_done(self.pending) end
function Handle:__tostring() return self:is_done() and "Handle(done)" or "Handle(on its way)" end

-- The result of a collective, or with `async` a handle.
local function ended(pending, async)
  if async then return setmetatable({pending = pending}, Handle) end
  return (world.wait(pending))
end

local function check(name, x)
  if not is_tensor(x) then fail(("%s: a Tensor expected (got %s)"):format(name, type(x))) end
  open()
end

local function differentiable(name, x, async)
  if not (x.requires_grad and core.is_grad_enabled()) then return false end
  if async then fail(("%s: a gradient needs the result at once; leave out async, or pass x:detach()"):format(name)) end
  return true
end

-- Records a collective as an op on the tape; forward(x) and backward(gradient) are collectives that are not recorded.
local function recorded(name, x, forward, backward)
  local op = core.custom_op {
    name = name,
    forward = function(_, value) return forward(value) end,
    backward = function(_, gradient) return backward(gradient) end,
  }
  return op(x)
end

-- --- collectives ---

-- Each collective is differentiable for the sum of all ranks' losses: its backward is a collective, too, so all ranks
-- must call backward.

local function wait(pending) return (world.wait(pending)) end
local function sum_of(gradient, op) return wait(world.all_reduce_(gradient:clone(), op)) end

local linear = {sum = true, mean = true}
local function check_linear(name, op)
  if not linear[op] then fail(("%s: '%s' has no gradient here; take the sum or the mean, or x:detach()"):format(name, tostring(op))) end
end

local read_reduce = reader("all_reduce_", {"op", "sum"}, {"async", false})

function distributed.all_reduce_(x, ...)
  check("all_reduce_", x)
  local given = read_reduce(...)
  if not differentiable("all_reduce_", x, given.async) then return ended(world.all_reduce_(x, given.op), given.async) end
  check_linear("all_reduce_", given.op)
  return x:copy_(recorded("all_reduce", x, function(value) return sum_of(value, given.op) end,
    function(gradient) return sum_of(gradient, given.op) end))
end

local read_broadcast = reader("broadcast_", {"root", 0}, {"async", false})

function distributed.broadcast_(x, ...)
  check("broadcast_", x)
  local given = read_broadcast(...)
  if not differentiable("broadcast_", x, given.async) then return ended(world.broadcast_(x, given.root), given.async) end
  return x:copy_(recorded("broadcast", x, function(value) return wait(world.broadcast_(value:clone(), given.root)) end,
    function(gradient)
      local sum = sum_of(gradient, "sum")
      return world.rank() == given.root and sum or sum:zero_()
    end))
end

local read_gather = reader("all_gather", {"async", false})

function distributed.all_gather(x, ...)
  check("all_gather", x)
  local given = read_gather(...)
  if not differentiable("all_gather", x, given.async) then return ended(world.all_gather(x), given.async) end
  local rows
  return recorded("all_gather", x, function(value)
    local result
    result, rows = world.wait(world.all_gather(value))
    return result
  end, function(gradient)
    local own = wait(world.reduce_scatter(gradient, "sum", rows))
    return own:reshape(x:size())
  end)
end

local read_scatter = reader("reduce_scatter", {"op", "sum"}, {"sizes"}, {"async", false})

function distributed.reduce_scatter(x, ...)
  check("reduce_scatter", x)
  local given = read_scatter(...)
  if not differentiable("reduce_scatter", x, given.async) then
    return ended(world.reduce_scatter(x, given.op, given.sizes), given.async)
  end
  check_linear("reduce_scatter", given.op)
  return recorded("reduce_scatter", x, function(value) return wait(world.reduce_scatter(value, given.op, given.sizes)) end,
    function(gradient)
      local all = wait(world.all_gather(gradient))
      return given.op == "mean" and all / world.size() or all
    end)
end

local read_exchange = reader("all_to_all", {"sizes"}, {"async", false})

function distributed.all_to_all(x, ...)
  check("all_to_all", x)
  local given = read_exchange(...)
  if not differentiable("all_to_all", x, given.async) then return ended(world.all_to_all(x, given.sizes), given.async) end
  local rows
  return recorded("all_to_all", x, function(value)
    local result
    result, rows = world.wait(world.all_to_all(value, given.sizes))
    return result
  end, function(gradient) return wait(world.all_to_all(gradient, rows)) end)
end

function distributed.barrier()
  open()
  world.barrier()
end

-- --- from one rank to another ---

local read_send = reader("send", "to", {"async", false})

function distributed.send(x, ...)
  check("send", x)
  local given = read_send(...)
  if differentiable("send", x, false) then fail("send: no gradient comes back; pass x:detach(), or take dist.pipeline") end
  local pending = world.send(x, given.to)
  if given.async then return setmetatable({pending = pending}, Handle) end
  world.wait(pending)
end

local read_receive = reader("receive", "from", {"async", false})

function distributed.receive(...)
  open()
  local given = read_receive(...)
  return ended(world.receive(given.from), given.async)
end

distributed.data_parallel = require "lunagrad.distributed.data_parallel"
distributed.fully_shard = require "lunagrad.distributed.fully_shard"
distributed.pipeline = require "lunagrad.distributed.pipeline"
distributed.SyncBatchNorm = require "lunagrad.distributed.sync_batch_norm"
for name, layer in pairs(require "lunagrad.distributed.parallel_linear") do distributed[name] = layer end

return distributed
