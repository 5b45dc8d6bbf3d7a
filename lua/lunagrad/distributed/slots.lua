-- The deterministic form of a forward pass: the batch is cut into a fixed number of slots, and each rank runs its
-- share. Each slot has parameters of its own (aliases), so that the slots' gradients arrive one by one and are added in
-- a fixed tree; the ranks' gradients are added in the same tree. So the bits do not depend on the number of ranks.
local core = require "lunagrad.core"
local functional_call = require("lunagrad.func.module").functional_call
local is_plain = require("lunagrad.arguments").is_plain
local tree = require "lunagrad.nn.tree"

local world, fail, is_tensor = core._world, core._fail, core.is_tensor
local slots = {}

-- The sum of `count` terms (a power of two) of a list, from `first` on: the sum of the first half plus the sum of the
-- second.
local function sum_of(list, first, count)
  if count == 1 then return list[first] end
  local half = count // 2
  return sum_of(list, first, half) + sum_of(list, first + half, half)
end

slots.sum_of = sum_of

-- The number of slots of this rank; `name` is the calling function, for errors.
function slots.share(count, name)
  local size = world.size()
  if math.type(count) ~= "integer" or count < 1 or count & (count - 1) ~= 0 then
    fail(("%s: slots must be a power of two (got %s)"):format(name, tostring(count)))
  elseif count % size ~= 0 then
    fail(("%s: %d slots cannot be shared by %d ranks; take 1, 2, 4, … ranks, at most as many as slots"):format(
      name, count, size))
  end
  return count // size
end

-- `count` aliases of a parameter; their gradients are added in a tree.
local function aliases(x, count)
  if not x.requires_grad then
    local list = {}
    for i = 1, count do list[i] = x end
    return list
  end
  return table.pack(core.custom_op {
    name = "slots",
    forward = function(_, value)
      local list = {}
      for i = 1, count do list[i] = value:detach() end
      return table.unpack(list)
    end,
    backward = function(_, ...) return sum_of({...}, 1, count) end,
  }(x))
end

-- Joins the results of the slots: tensors along dim 1, single numbers as their mean, tables field by field.
local function join(parts, rows, name)
  local one = parts[1]
  if is_tensor(one) then
    if one:dim() == 0 then return sum_of(parts, 1, #parts) / #parts end
    if one:size(1) ~= rows then
      fail(("%s: the model returned a tensor with dim 1 of %d for %d samples; a deterministic run puts the slots together along it")
        :format(name, one:size(1), rows))
    end
    return core.cat(parts, 1)
  elseif is_plain(one) then
    local joined = {}
    for key in pairs(one) do
      local fields = {}
      for i, part in ipairs(parts) do fields[i] = part[key] end
      joined[key] = join(fields, rows, name)
    end
    return joined
  end
  return one
end

local function batch_of(arguments, name)
  for i = 1, arguments.n do
    if is_tensor(arguments[i]) and arguments[i]:dim() > 0 then return arguments[i]:size(1) end
  end
  fail(name .. ": a deterministic run cuts a batch along dim 1; no argument is a tensor that has one")
end

local running = false
function slots.running() return running end

-- Calls the model slot by slot and returns its results, packed. options: name, the calling function; count, the slots
-- of this rank; start(slot), called before each slot; whole, the slots share the parameters; buffers, of which each
-- slot gets a copy: the mean of the copies is kept where `mean(entry)`, else the copy of slot 1.
function slots.run(model, arguments, options)
  local name, count = options.name, options.count
  local rows = batch_of(arguments, name)
  if rows % count ~= 0 or rows == 0 then
    fail(("%s: %d samples cannot be cut into %d slots; take a batch_size that all slots can share, and drop_last"):format(
      name, rows, count))
  end
  local each = rows // count
  local own, buffers = {}, {}
  for _, entry in ipairs(tree.collect(model, "parameter", true)) do
    if entry.tensor:element_size() < 4 then
      fail(("%s: %s is %s; a deterministic run adds f32 or f64 gradients (lg.autocast computes in 16 bits)"):format(name,
        entry.path, entry.tensor:dtype()))
    end
    if not options.whole then own[entry.path] = aliases(entry.tensor, count) end
  end
  for _, entry in ipairs(options.buffers) do buffers[entry.path] = {} end
  local parts = {}
  running = true
  local _ <close> = setmetatable({}, {__close = function() running = false end})
  for slot = 1, count do
    options.start(slot)
    local values, inputs = {}, {n = arguments.n}
    for path, list in pairs(own) do values[path] = list[slot] end
    for _, entry in ipairs(options.buffers) do
      values[entry.path] = entry.tensor:clone()
      buffers[entry.path][slot] = values[entry.path]
    end
    for i = 1, arguments.n do
      local x = arguments[i]
      inputs[i] = is_tensor(x) and x:dim() > 0 and x:size(1) == rows and x:narrow(1, (slot - 1) * each + 1, each) or x
    end
    parts[slot] = table.pack(functional_call(model, values, inputs))
  end
  local results = {n = parts[1].n}
  for i = 1, results.n do
    local list = {}
    for slot = 1, count do list[slot] = parts[slot][i] end
    results[i] = join(list, each, name)
  end
  local _ <close> = core.no_grad()
  for _, entry in ipairs(options.buffers) do
    local copies = buffers[entry.path]
    entry.tensor:copy_(options.mean(entry) and sum_of(copies, 1, count) / count or copies[1])
  end
  return results
end

return slots
