-- A snapshot of the state of a script for lg.surgery: copies of all tensors, and the contents of the tables of modules,
-- optimizers and averages. A restore keeps the identity of objects: a tensor stays the same parameter and gets other
-- memory, so a graph recorded before keeps the values that it saved. A tensor that was not written to since the
-- snapshot before shares its copy with that snapshot.
local core = require "lunagrad.core"
local parts = require "lunagrad.surgery.parts"

local snapshot = {}

-- tensor -> {copy =, version =, bytes =}: its values as of that version. A snapshot keeps the copies alive.
local latest = setmetatable({}, {__mode = "kv"})

local function copy_of(x)
  local known, version = latest[x], core._version(x)
  if not known or known.version ~= version then
    known = {copy = x:detach():clone(), version = version, bytes = x.nbytes}
    latest[x] = known
  end
  return known
end

-- Fields of modules that snapshots leave out: hooks, which are not state, and the shapes of the latest call.
local kept_apart = {_hooks = true, _seen = true}

local function raw_copy(t)
  local copy = {}
  for key, value in next, t do
    if not kept_apart[key] then copy[key] = value end
  end
  return copy
end

local function completed_steps() return core.run and (core.run._progress()) or 0 end

-- Takes a snapshot of the script's state and of the further objects. A restore gives the tensors in the list
-- `gradients` their gradients back, if they have none then.
function snapshot.take(further, gradients)
  local self = {tables = {}, tensors = {}, optimizers = {}, objects = {}, gradients = {}, step = completed_steps()}
  self.random = core.get_rng_state()
  local _ <close> = core.no_grad()
  local function keep_table(t)
    if t then self.tables[#self.tables + 1] = {t = t, contents = raw_copy(t)} end
  end
  for i, part in ipairs(parts.collect(further).list) do
    local value = part.value
    self.objects[i] = value
    if part.kind == "tensor" then
      self.tensors[#self.tensors + 1] = {x = value, kept = copy_of(value), requires_grad = value.requires_grad}
    else
      keep_table(value)
    end
    if part.kind == "module" then
      keep_table(value._fields)
      keep_table(value._kinds)
      keep_table(rawget(value, "_names"))
    elseif part.kind == "optimizer" then
      self.optimizers[#self.optimizers + 1] = value
    end
  end
  for _, x in ipairs(gradients or {}) do self.gradients[x] = x.grad end
  return self
end

local function restore_table(entry)
  local t, contents = entry.t, entry.contents
  local gone = {}
  for key in next, t do
    if contents[key] == nil and not kept_apart[key] then gone[#gone + 1] = key end
  end
  for _, key in ipairs(gone) do rawset(t, key, nil) end
  for key, value in next, contents do rawset(t, key, value) end
end

local function restore_tensor(entry)
  local x, kept = entry.x, entry.kept
  if x.requires_grad and not entry.requires_grad then
    x:requires_grad_(false)
    x.grad = nil
  end
  if core._version(x) ~= kept.version then
    core._replace_data(x, kept.copy:clone())
    kept.version = core._version(x)
    latest[x] = kept
  end
  if x.requires_grad ~= entry.requires_grad then x:requires_grad_(entry.requires_grad) end
end

-- Names the parameters again, by their paths in the outermost models.
local function name_parameters()
  local modules, inside = {}, {}
  for _, part in ipairs(parts.collect().list) do
    if part.kind == "module" then
      modules[#modules + 1] = part.value
      for _, child in part.value:named_children() do inside[child] = true end
    end
  end
  for _, module in ipairs(modules) do
    if not inside[module] then module:named_parameters() end
  end
end

-- Refreshes names and caches that a change invalidates.
function snapshot.refresh(optimizers)
  name_parameters()
  for _, optimizer in ipairs(optimizers) do optimizer:_forget_lists() end
  if core._forget_graphs then core._forget_graphs() end
  local again = core.run and core.run._watch_again
  if again then again() end
end

-- Restores the snapshot.
function snapshot.restore(self)
  local _ <close> = core.no_grad()
  for _, entry in ipairs(self.tables) do restore_table(entry) end
  for _, entry in ipairs(self.tensors) do restore_tensor(entry) end
  for x, gradient in pairs(self.gradients) do
    if x.requires_grad and not x.grad then x.grad = gradient end
  end
  core.set_rng_state(self.random)
  snapshot.refresh(self.optimizers)
end

-- Adds the bytes of the copies that are not in `seen` yet.
function snapshot.bytes(self, seen)
  local total = 0
  for _, entry in ipairs(self.tensors) do
    if not seen[entry.kept] then
      seen[entry.kept] = true
      total = total + entry.kept.bytes
    end
  end
  return total
end

-- Whether the snapshot contains a tensor.
function snapshot.has(self, x)
  for _, entry in ipairs(self.tensors) do
    if entry.x == x then return true end
  end
  return false
end

snapshot.completed_steps = completed_steps
return snapshot
