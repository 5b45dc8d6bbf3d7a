-- Shards: the rows of a tensor, along dim 1, that each rank keeps. This file knows which tensors of this process are
-- shards, and of which whole tensor. Optimizers, gradient clipping and checkpoints use it when they need more than
-- single elements.
local core = require "lunagrad.core"

local world, fail = core._world, core._fail
local shards = {}

local layouts = setmetatable({}, {__mode = "k"})  -- tensor -> layout
local cut = setmetatable({}, {__mode = "k"})      -- whole tensors that were replaced by their shards

-- How a tensor of this shape is divided: {shape =, rows =, row =, sizes =, firsts =, first =, count =}. It has `rows`
-- rows of `row` elements; rank r has sizes[r + 1] rows, from row firsts[r + 1] on; `first` and `count` are the values
-- of `rank`. If the rows do not divide evenly, the first ranks have one more. A tensor without dims is one row.
function shards.layout(shape, size, rank)
  size, rank = size or world.size(), rank or world.rank()
  local rows, row = shape[1] or 1, 1
  for i = 2, #shape do row = row * shape[i] end
  local made = {shape = shape, rows = rows, row = row, sizes = {}, firsts = {}}
  local at = 1
  for r = 1, size do
    local count = rows // size + (r <= rows % size and 1 or 0)
    made.sizes[r], made.firsts[r] = count, at
    at = at + count
  end
  made.first, made.count = made.firsts[rank + 1], made.sizes[rank + 1]
  return made
end

-- The shape of this rank's rows.
function shards.shape(layout)
  local shape = {layout.count}
  for i = 2, #layout.shape do shape[i] = layout.shape[i] end
  return shape
end

-- This rank's rows of a whole tensor, in memory of their own.
function shards.rows(whole, layout)
  local x = whole:detach()
  if layout.count == 0 then return core.empty(shards.shape(layout), {dtype = x:dtype(), device = x:device()}) end
  if x:dim() == 0 then x = x:reshape({1}) end
  return x:narrow(1, layout.first, layout.count):clone()
end

-- Gathers the whole tensor from the rows of all ranks (a collective).
function shards.whole(x, layout, label)
  return (world.wait(world.all_gather(x:detach(), label))):reshape(layout.shape)
end

function shards.mark(x, layout)
  layouts[x] = layout
  return x
end
function shards.of(x) return layouts[x] end
function shards.any() return next(layouts) ~= nil end

function shards.note_cut(x) cut[x] = true end
function shards.was_cut(x) return cut[x] == true end

-- For optimizers that need more than single elements. `x` has the shape of a parameter, as its gradient has. If the
-- parameter is a shard, all ranks must call these functions together.

-- The sum of the squares of all elements. In deterministic training it is computed from the whole tensor, so that its bits do not
-- depend on the number of ranks.
function shards.sum_of_squares(parameter, x)
  local layout = layouts[parameter]
  if layout and layout.deterministic then x = shards.whole(x, layout) end
  local sum = (x * x):sum()
  if not layout or layout.deterministic then return sum end
  return (world.wait(world.all_reduce_(sum, "sum")))
end

function shards.whole_for(parameter, x)
  return layouts[parameter] and shards.whole(x, layouts[parameter]) or x
end
function shards.rows_for(parameter, whole)
  return layouts[parameter] and shards.rows(whole, layouts[parameter]) or whole
end
function shards.refuse(name, parameter)
  if not layouts[parameter] then return end
  core._fail(("%s: parameters of a fully sharded model are rows of a weight, and this rule needs the whole; take lg.optim.AdamW or "
    .. "another rule that works element by element, or dist.data_parallel"):format(name))
end

-- The norm of all gradients together, f64 or f32, without dims. Gradients of shards count with the rows of all ranks.
function shards.norm(parameters, norm_type)
  local own, whole, deterministic, dtype = {}, {}, false, "f32"
  for _, x in ipairs(parameters) do
    local layout, gradient = layouts[x], x.grad and x.grad:detach()
    if x:dtype() == "f64" then dtype = "f64" end
    if x:element_size() < 4 and gradient then gradient = gradient:float() end
    if gradient and layout and layout.deterministic then gradient, deterministic = shards.whole(gradient, layout), true end
    if gradient and gradient:numel() > 0 then
      local list = layout and not layout.deterministic and own or whole
      list[#list + 1] = gradient:reshape(-1):vector_norm(norm_type):double():cpu()
    end
  end
  local function joint(list) return core.stack(list):vector_norm(norm_type) end
  if deterministic or #parameters == 0 then return #whole > 0 and joint(whole):to(dtype) or core.tensor(0.0) end
  -- A rank without a row contributes nothing: 0, or inf where the norm is a minimum.
  local none = norm_type == -math.huge and math.huge or 0
  local sum = #own > 0 and joint(own) or core.tensor(none, {dtype = "f64", device = "cpu"})
  if norm_type == math.huge then sum = world.wait(world.all_reduce_(sum, "max"))
  elseif norm_type == -math.huge then sum = world.wait(world.all_reduce_(sum, "min"))
  elseif norm_type == 0 then sum = world.wait(world.all_reduce_(sum, "sum"))
  else sum = world.wait(world.all_reduce_(sum ^ norm_type, "sum")) ^ (1 / norm_type) end
  whole[#whole + 1] = sum
  if norm_type == 0 then return core.stack(whole):sum():to(dtype) end
  return joint(whole):to(dtype)
end

-- If one of the parameters is a shard: whether `value` is true on all ranks; else `value`.
function shards.all_agree(parameters, value)
  for _, x in ipairs(parameters) do
    if layouts[x] then
      local flag = core.tensor({value and 1 or 0}, {dtype = "i64", device = "cpu"})
      return world.wait(world.all_reduce_(flag, "min")):item() == 1
    end
  end
  return value
end

-- shards.by_rank(f, …): while f runs, states hold only the rows of this rank, marked as shards, for a checkpoint into
-- which every rank writes its own rows. Otherwise states hold whole tensors.
local by_rank = false
function shards.by_rank(f, ...)
  local before = by_rank
  by_rank = true
  local _ <close> = setmetatable({}, {__close = function() by_rank = before end})
  return f(...)
end

-- Parameters that only this rank has, since it runs their stage of a pipeline: a checkpoint would contain only rank 0's
-- parameters.
local staged = setmetatable({}, {__mode = "k"})
function shards.note_stage(x) staged[x] = true end
function shards.check_stage(x)
  if not (by_rank and staged[x]) then return end
  fail("run.state: the ranks of a pipeline have different states, and a checkpoint holds the state of rank 0; let each rank save its own: "
    .. "lg.io.save(\"part-\" .. dist.rank() .. \".safetensors\", {net = pipe:state_dict(), adam = adam:state_dict()})")
end

-- A state tensor with the shape of its parameter, for a state dict: whole (a collective), or in by_rank this rank's
-- rows, marked.
function shards.state(parameter, value, label)
  shards.check_stage(parameter)
  local layout = layouts[parameter]
  if not layout then return value end
  if by_rank then return shards.mark(value:detach(), layout) end
  return shards.whole(value, layout, label)
end

-- A state tensor as the parameter needs it: for a shard, its rows if the whole tensor is given.
function shards.fit(value, parameter)
  local layout = layouts[parameter]
  if not layout or not core.is_tensor(value) then return value end
  local wanted, given = table.concat(layout.shape, " "), table.concat(value:size(), " ")
  if given == wanted and given ~= table.concat(parameter:size(), " ") then return shards.rows(value, layout) end
  return value
end

return shards
