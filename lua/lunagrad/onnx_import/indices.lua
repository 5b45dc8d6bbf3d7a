-- Operators that select or write by index. Indices count from 0; negative ones from the end.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}
local refuse = Call.refuse

local function positive(index, size)
  index = index:long()
  return core.where(index:lt(0), index + size, index)
end

function M.Gather(call)
  local x = call[1]
  local axis = call:axis(x, 0)
  local index = positive(call[2], x:size(axis))
  local shape = {}
  for d, size in ipairs(x:size()) do
    if d == axis then
      for _, count in ipairs(index:size()) do shape[#shape + 1] = count end
    else
      shape[#shape + 1] = size
    end
  end
  return core.index_select(x, axis, index:reshape(-1)):reshape(shape)
end

function M.GatherElements(call)
  local axis = call:axis(call[1], 0)
  return core.gather(call[1], axis, positive(call[2], call[1]:size(axis)))
end

function M.ScatterElements(call)
  local x = call[1]
  local axis = call:axis(x, 0)
  local index = positive(call[2], x:size(axis))
  local how = call:get("reduction", "none")
  if how == "none" then return core.scatter(x, axis, index, call[3]) end
  if how == "add" then return core.scatter_add(x, axis, index, call[3]) end
  refuse("reduction '%s' is not read", Call.printable(how))
end
M.Scatter = M.ScatterElements

-- The position of each index tuple (last dim) in the first dims of a tensor of these sizes, flattened.
local function flat_positions(index, sizes, first)
  local depth = index:size(-1)
  local position
  for k = 1, depth do
    local part = positive(index:select(-1, k), sizes[first + k - 1])
    position = position and position * sizes[first + k - 1] + part or part
  end
  return position
end

local function product(sizes, first, last)
  local out = 1
  for d = first, last do out = out * sizes[d] end
  return out
end

-- Error unless the last dim of the index fits the dims of x from `first` on.
local function check_depth(call, first)
  call:expect_rank(2, 1)
  local depth, rank = call[2]:size(-1), call[1]:dim()
  if depth < 1 or first + depth > rank then
    refuse("its indices name %d dims from dim %d on, and its first input has %d", depth, first + 1, rank)
  end
end

function M.GatherND(call)
  local x, index, batch = call[1], call[2], call:get("batch_dims", 0)
  check_depth(call, batch)
  if batch >= index:dim() then refuse("batch_dims is %d, and its indices have %d dims", batch, index:dim()) end
  local sizes, depth = x:size(), call[2]:size(-1)
  local shape = index:size()
  table.remove(shape)
  for d = batch + depth + 1, #sizes do shape[#shape + 1] = sizes[d] end
  local groups, rows = product(sizes, 1, batch), product(sizes, batch + 1, batch + depth)
  local rest = product(sizes, batch + depth + 1, #sizes)
  local position = flat_positions(index, sizes, batch + 1):reshape(groups, -1)
  position = position + core.arange(groups, {device = position:device()}):unsqueeze(2) * rows
  return core.index_select(x:reshape(groups * rows, rest), 1, position:reshape(-1)):reshape(shape)
end

function M.ScatterND(call)
  local x, index = call[1], call[2]
  check_depth(call, 0)
  local sizes, depth = x:size(), index:size(-1)
  local rows, rest = product(sizes, 1, depth), product(sizes, depth + 1, #sizes)
  local position = flat_positions(index, sizes, 1):reshape(-1)
  local flat, updates = x:reshape(rows, rest), call[3]:reshape(-1, rest)
  local how = call:get("reduction", "none")
  if how == "none" then return core.index_copy(flat, 1, position, updates):reshape(sizes) end
  if how == "add" then return core.index_add(flat, 1, position, updates):reshape(sizes) end
  refuse("reduction '%s' is not read", Call.printable(how))
end

function M.NonZero(call) return core.nonzero(call[1]):t() end

function M.OneHot(call)
  local depth, values, axis = call:integer(2), call[3], call:get("axis", -1)
  if values:dim() ~= 1 or values:size(1) ~= 2 then refuse("%s has the shape [%s], not [2]", call:operand(3), table.concat(values:size(), ", ")) end
  if depth < 1 then refuse("its depth is %d", depth) end
  axis = Call.axis_within(axis, call[1]:dim() + 1)
  local index = positive(call[1], depth)
  local one_hot = core.one_hot(index, depth):to "bool"
  if axis ~= call[1]:dim() then one_hot = one_hot:movedim(-1, axis + 1) end
  return core.where(one_hot, values[2], values[1])
end

function M.Compress(call)
  local x, condition = call[1], core.nonzero(call[2]):reshape(-1)
  if call.attributes.axis then return core.index_select(x, call:axis(x), condition) end
  return core.index_select(x:reshape(-1), 1, condition)
end

return M
