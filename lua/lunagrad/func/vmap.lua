-- vmap(fn, in_dims, out_dims, randomness, {chunk_size =}): a function that runs fn for all samples at once. The engine
-- does the batching: inside, a tensor stands for one sample, and each op runs on the whole batch (runtime/vmap/).
local arguments = require "lunagrad.arguments"
local core = require "lunagrad.core"
local tree = require "lunagrad.func.tree"

local fail, is_tensor = core._fail, core.is_tensor

local read = arguments.reader("vmap", "func", {"in_dims", 1}, {"out_dims", 1}, {"randomness", "error"}, {"chunk_size"})

local function shape_text(x) return "[" .. table.concat(x:size(), ", ") .. "]" end

local function position(x, dim, what)
  local n = x:dim()
  if math.type(dim) ~= "integer" then
    fail(("vmap: %s must be an integer or nil (got %s)"):format(what, tostring(dim)))
  end
  if dim == 0 or dim > n or dim < -n then
    fail(("vmap: %s is %d, which is out of range for shape %s (dims count from 1)"):format(what, dim, shape_text(x)))
  end
  return dim > 0 and dim or dim + n + 1
end

-- Calls f(tensor, dim, name) for each leaf of an argument; dims is a number or nil for all leaves, or a tree of
-- numbers.
local function map_dims(value, dims, f, name)
  if not tree.is_branch(value) then return f(value, dims or nil, name) end
  local mapped = {}
  for key, item in pairs(value) do
    local its = dims
    if type(dims) == "table" then its = dims[key] end
    mapped[key] = map_dims(item, its, f, name .. "." .. tostring(key))
  end
  return mapped
end

local function dims_for(dims, i)
  if type(dims) == "table" then return dims[i] end
  return dims
end

-- The arguments with their batch dims in front, and the common size of these dims.
local function batch_first(args, in_dims)
  local size, first
  local moved = {n = args.n}
  for i = 1, args.n do
    moved[i] = map_dims(args[i], dims_for(in_dims, i), function(leaf, dim, name)
      if dim == nil then return leaf end
      if not is_tensor(leaf) then
        if type(in_dims) == "number" then return leaf end
        fail(("vmap: in_dims of %s is %s, but it is a %s, not a tensor"):format(name, tostring(dim), type(leaf)))
      end
      dim = position(leaf, dim, "in_dims of " .. name)
      local its = leaf:size(dim)
      if size and its ~= size then
        fail(("vmap: %s has %d samples (shape %s, dim %d), %s has %d"):format(name, its, shape_text(leaf), dim, first,
          size))
      end
      size, first = its, first or name
      return {sample = dim == 1 and leaf or leaf:movedim(dim, 1)}
    end, "argument " .. i)
  end
  if not size then fail("vmap: no argument has a batch dim; in_dims names one for at least one tensor") end
  return moved, size
end

-- Leaves with a batch dim are wrapped in a table {sample = tensor}.
local function unwrap(value, f)
  if not tree.is_branch(value) then return value end
  if is_tensor(rawget(value, "sample")) and next(value, next(value)) == nil then return f(value.sample) end
  local mapped = {}
  for key, item in pairs(value) do mapped[key] = unwrap(item, f) end
  return mapped
end

local function leave(level) core._vmap_leave(level.id) end

local function run(fn, moved, size, out_dims, randomness)
  local level <close> = setmetatable({id = core._vmap_enter(size, randomness)}, {__close = leave})
  local args = {}
  for i = 1, moved.n do args[i] = unwrap(moved[i], function(x) return core._batch(x, level.id) end) end
  local results = table.pack(fn(table.unpack(args, 1, moved.n)))
  if results.n == 0 then fail("vmap: the function returned nothing; it must return tensors") end
  for i = 1, results.n do
    local dims = out_dims
    if type(out_dims) == "table" then dims = out_dims[i] end
    results[i] = map_dims(results[i], dims, function(leaf, dim, name)
      if not is_tensor(leaf) then
        fail(("vmap: the function must return tensors (%s is a %s)"):format(name, type(leaf)))
      end
      if dim == nil then
        if core._is_batched(leaf) then
          fail(("vmap: out_dims of %s is nil, but its samples differ; say in which dim they go"):format(name))
        end
        return leaf
      end
      local whole = core._unbatch(leaf, level.id)
      dim = position(whole, dim, "out_dims of " .. name)
      return dim == 1 and whole or whole:movedim(1, dim)
    end, "result " .. i)
  end
  return results
end

local function join(pieces, out_dims, i)
  local dims = out_dims
  if type(out_dims) == "table" then dims = out_dims[i] end
  local function concat(list, dim)
    if not tree.is_branch(list[1]) then return dim and core.cat(list, dim) or list[1] end
    local branch = {}
    for key in pairs(list[1]) do
      local items = {}
      for k, piece in ipairs(list) do items[k] = piece[key] end
      local its = dim
      if type(dim) == "table" then its = dim[key] end
      branch[key] = concat(items, its)
    end
    return branch
  end
  local list = {}
  for k, piece in ipairs(pieces) do list[k] = piece[i] end
  return concat(list, dims)
end

return function(...)
  local a = read(...)
  local fn, chunk = a.func, a.chunk_size
  if type(fn) ~= "function" and not (getmetatable(fn) and getmetatable(fn).__call) then
    fail(("vmap: a function expected (got a %s)"):format(type(fn)))
  end
  if chunk ~= nil and (math.type(chunk) ~= "integer" or chunk < 1) then
    fail(("vmap: chunk_size must be an integer of at least 1 (got %s)"):format(tostring(chunk)))
  end
  return function(...)
    local moved, size = batch_first(table.pack(...), a.in_dims)
    if not chunk or chunk >= size then
      local results = run(fn, moved, size, a.out_dims, a.randomness)
      return table.unpack(results, 1, results.n)
    end
    local pieces = {}
    for first = 1, size, chunk do
      local length = math.min(chunk, size - first + 1)
      local part = {n = moved.n}
      for i = 1, moved.n do
        part[i] = unwrap(moved[i], function(x) return {sample = x:narrow(1, first, length)} end)
      end
      pieces[#pieces + 1] = run(fn, part, length, a.out_dims, a.randomness)
    end
    local results = {}
    for i = 1, pieces[1].n do results[i] = join(pieces, a.out_dims, i) end
    return table.unpack(results, 1, pieces[1].n)
  end
end
