-- A group of parameters that are whole (unsharded) at the same time: the parameters of one part of a sharded model.
-- Each rank keeps its shards. Before the part runs, forward and backward, the shards are gathered into the whole
-- parameters, which the part reads; afterwards the memory of the whole parameters is freed. Their gradients are
-- averaged over the ranks, and each rank gets the rows of its shards.
--
-- The whole parameters are leaves of the tape, one set for each slot of deterministic training. They stay the same
-- tensors, so that backward finds them; only their memory is allocated and freed.
local core = require "lunagrad.core"
local shards = require "lunagrad.shards"
local sum_of = require("lunagrad.distributed.slots").sum_of

local world, fail = core._world, core._fail
local Group = {}
Group.__index = Group

-- entries: {shard =, layout =, path =, places = {{owner =, key =}}} in the order of registration; slots: the number of
-- sets of whole parameters.
local function new(name, entries, slots)
  local self = setmetatable({name = name, entries = entries, slots = slots, held = {}, calls = 0, begun = 0}, Group)
  self.way = name == "the root group" and name or "group " .. name
  self:divide()
  return self
end

-- Divides the group into parts of one dtype and device, each of which is gathered at once. The whole parameters are
-- made again, since the shards were cast or moved.
function Group:divide()
  local by_kind = {}
  self.parts = {}
  for _, entry in ipairs(self.entries) do
    local x = entry.shard
    local kind = x:dtype() .. x:device()
    if not by_kind[kind] then
      by_kind[kind] = {kind = kind, entries = {}, notes = {}, bytes = 0, options = {dtype = x:dtype(), device = x:device()}}
      self.parts[#self.parts + 1] = by_kind[kind]
    end
    local part = by_kind[kind]
    table.insert(part.entries, entry)
    part.bytes = part.bytes + entry.layout.rows * entry.layout.row * x:element_size()
    entry.kind, entry.whole = kind, {}
  end
end

function Group:fits()
  for _, entry in ipairs(self.entries) do
    if entry.kind ~= entry.shard:dtype() .. entry.shard:device() then return false end
  end
  return true
end

local free = world.free  -- handles in Lua live until the garbage collector runs; their memory is needed earlier

-- A view of x with another shape, appended to `list`; x itself if it has this number of dims already.
local function shaped(x, shape, list)
  if #shape == x:dim() then return x end
  list[#list + 1] = x:reshape(shape)
  return list[#list]
end

-- --- parameters ---

-- Starts to gather the group. The memory of the whole parameters is allocated when they begin to arrive.
function Group:post()
  if self.pending then return end
  self.pending = {}
  for i, part in ipairs(self.parts) do
    local own, rows = {}, {}
    for n, entry in ipairs(part.entries) do own[n], rows[n] = entry.shard:detach(), entry.layout.sizes end
    self.pending[i] = world.all_gather_list(own, rows, "parameters of " .. self.name)
  end
end

-- Waits for a gather that was started and drops its result: the shards may change before it is used.
function Group:discard()
  for _, pending in ipairs(self.pending or {}) do free(world.wait_list(pending)) end
  self.pending = nil
end

-- Called when the gradient of a whole parameter is complete, after its last use. Error under create_graph.
local function arrived()
  if core.is_grad_enabled() then
    fail("fully_shard: gradients with a graph (create_graph) are not reduced; take data_parallel's model and lg.grad")
  end
end

-- The rows that this rank keeps, for an inspector.
local function rows_text(layout)
  if layout.count == 0 then return ("this rank keeps none of %d rows"):format(layout.rows) end
  return ("this rank keeps rows %d to %d of %d"):format(layout.first, layout.first + layout.count - 1, layout.rows)
end

local function whole_of(way, part, entry, slot, value)
  local x = entry.whole[slot]
  if not x then
    x = value:detach()
    entry.whole[slot] = x
    core._set_name(x:requires_grad_(true), entry.path)
    world.after_accumulation(x, arrived)
    if world.size() > 1 then
      table.insert(part.notes, world.note_leaves({x}, way, part.bytes, "reduce_scatter", rows_text(entry.layout)))
    end
  end
  x:requires_grad_(entry.shard.requires_grad)
  return x
end

-- Fills the whole parameters of a slot.
function Group:fill(slot)
  if self.held[slot] then return end
  self:post()
  local posted = self.pending
  self.pending = nil
  local _ <close> = core.no_grad()
  for i, part in ipairs(self.parts) do
    local made = world.wait_list(posted[i])
    for n, entry in ipairs(part.entries) do
      local value = shaped(made[n], entry.layout.shape, made)
      world.unshard(whole_of(self.way, part, entry, slot, value), value, entry.shard)
    end
    free(made)
  end
  self.held[slot] = true
end

-- Frees the memory of the whole parameters of a slot.
function Group:release(slot)
  if not self.held[slot] then return end
  self.held[slot] = nil
  for _, entry in ipairs(self.entries) do world.reshard(entry.whole[slot]) end
end

function Group:release_all()
  for slot in pairs(self.held) do self:release(slot) end
end

-- The whole parameters of a slot, and the fields that hold them while the group runs.
function Group:whole(slot)
  local list, places = {}, {}
  for _, entry in ipairs(self.entries) do
    local x = entry.whole[slot]
    list[#list + 1] = x
    for _, place in ipairs(entry.places) do
      if rawget(place.owner, place.key) ~= entry.shard then
        fail(("fully_shard: %s is no longer the shard; a sharded model takes no other parameters (functional_call, an assignment)")
          :format(entry.path))
      end
      places[#places + 1] = {owner = place.owner, key = place.key, value = x}
    end
  end
  return list, places
end

-- --- gradients ---

-- Drops what a pass that ended with an error left behind, and memory left by lg.grad.
function Group:reset()
  for _, sent in ipairs(self.sent or {}) do free(world.wait_list(sent.pending)) end
  self.sent, self.begun = nil, 0
  self:release_all()
  for _, entry in ipairs(self.entries) do
    for _, x in pairs(entry.whole) do x.grad = nil end
  end
end

function Group:has_gradients()
  for _, entry in ipairs(self.entries) do
    for _, x in pairs(entry.whole) do
      if x.grad then return true end
    end
  end
  return false
end

-- The gradient of a whole parameter: the sum of its slots' gradients, in a fixed tree; nil if no slot has one.
local function gradient_of(self, entry)
  local list, any = {}, nil
  for slot = 1, self.slots do
    local x = entry.whole[slot]
    list[slot] = x and x.grad or false
    any = any or list[slot]
    if x then x.grad = nil end
  end
  if not any then return nil end
  for slot = 1, self.slots do list[slot] = list[slot] or core.zeros_like(any) end
  local sum = sum_of(list, 1, self.slots)
  for _, x in ipairs(list) do
    if x ~= sum then free {x} end
  end
  return sum
end

-- Starts to reduce the gradients of a part. The gradients are handed over: their memory is freed as soon as they are
-- sent.
local function send_part(self, part)
  local entries, list, rows, flags = {}, {}, {}, {}
  for _, entry in ipairs(part.entries) do
    if entry.shard.requires_grad then
      local n = #entries + 1
      local gradient = gradient_of(self, entry)
      entries[n], flags[n], rows[n] = entry, gradient and 1 or 0, entry.layout.sizes
      list[n] = gradient or core.zeros(entry.layout.shape, part.options)
    end
  end
  if #entries == 0 then return end
  -- The flags behind the gradients say on how many ranks a gradient arrived. Every rank gets all flags.
  local sizes, behind = {}, {}
  for r = 1, world.size() do
    sizes[r] = #flags
    table.move(flags, 1, #flags, #behind + 1, behind)
  end
  list[#list + 1], rows[#rows + 1] = core.tensor(behind, part.options), sizes
  self.sent[#self.sent + 1] = {
    pending = world.reduce_scatter_list(list, rows, "mean", "gradients of " .. self.name), entries = entries,
    notes = part.notes,
  }
  free(list)  -- frees gradients on a GPU
end

-- Starts to reduce the gradients that arrived since the last call.
function Group:send()
  self:receive()
  self.calls, self.begun, self.sent = 0, 0, {}
  for _, part in ipairs(self.parts) do send_part(self, part) end
end

-- Waits for the sent gradients, and adds the rows of this rank to the gradients of its shards. A parameter without a
-- gradient on any rank gets none.
function Group:receive()
  for _, sent in ipairs(self.sent or {}) do
    local results = world.wait_list(sent.pending, sent.notes)
    local behind = results[#results]
    local flags = (behind:dtype():find "^c" and behind:real() or behind):tolist()
    for i, entry in ipairs(sent.entries) do
      local x = entry.shard
      if flags[i] > 0 then
        if x.grad then x.grad:add_(results[i]) else x.grad = results[i] end
      end
    end
    free(results)
  end
  self.sent = nil
end

return new
