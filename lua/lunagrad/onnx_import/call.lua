-- One use of an operator while a model runs: its operands, attributes, and conversions between ONNX's counting (axes from 0) and
-- ours (dims from 1).
local core = require "lunagrad.core"

local Call = {}
Call.__index = Call

function Call.new(model, graph, node, value_of)
  local call = setmetatable({model = model, graph = graph, node = node, opset = graph.opset, attributes = node.attributes}, Call)
  -- Operands such as shapes are on the CPU; they are moved to the device of the others.
  local device
  for i, name in ipairs(node.inputs) do
    local value = name ~= "" and value_of(name) or nil
    call[i] = value
    if value and value:device() ~= "cpu" then device = value:device() end
  end
  if device then
    for i in ipairs(node.inputs) do
      if call[i] and call[i]:device() ~= device then call[i] = call[i]:to(device) end
    end
  end
  return call
end

-- A name from a file as errors show it: short, on one line.
function Call.printable(name)
  local short = (#name > 60 and name:sub(1, 60) .. "…" or name):gsub("%c", "?")
  return short
end

function Call.named(node) return ("node '%s' (%s)"):format(Call.printable(node.name), Call.printable(node.op)) end

-- The value of a Constant node, on the CPU.
function Call.constant(attributes)
  if attributes.value then return attributes.value end
  if attributes.value_float then return core.tensor(attributes.value_float, {device = "cpu"}):float() end
  if attributes.value_floats then return core.tensor(attributes.value_floats, {dtype = "f32", device = "cpu"}) end
  local integers = attributes.value_int or attributes.value_ints
  if integers then return core.tensor(integers, {dtype = "i64", device = "cpu"}) end
  core._fail "io.onnx_import: a Constant holds neither a tensor nor numbers"
end

-- An attribute, or its default.
function Call:get(name, default)
  local value = self.attributes[name]
  if value == nil then return default end
  return value
end

-- The dim (from 1) of an axis (from 0).
function Call.dim(axis) return axis < 0 and axis or axis + 1 end

function Call.dims(axes)
  local out = {}
  for i, axis in ipairs(axes) do out[i] = Call.dim(axis) end
  return out
end

-- An error about the operands of this node.
function Call.refuse(message, ...) core._fail(message:format(...)) end

function Call:operand(i) return ("input %d ('%s')"):format(i, Call.printable(self.node.inputs[i])) end

-- The integers of operand i as a list, nil if it is absent. For some operators they are floats with whole values.
function Call:integers(i)
  local name = self.node.inputs[i]
  if not name or name == "" then return nil end
  local x = self.graph.numbers[name] or self[i]
  local values = x:dim() <= 1 and x:tolist() or {x}
  if type(values) ~= "table" then values = {values} end
  for k, value in ipairs(values) do
    values[k] = math.tointeger(value)
    if not values[k] then
      Call.refuse("%s is %s of shape [%s]; a list of integers is expected", self:operand(i), x:dtype(), table.concat(x:size(), ", "))
    end
  end
  return values
end

function Call:integer(i)
  local list = self:integers(i)
  if list and #list ~= 1 then Call.refuse("%s has %d numbers; one is expected", self:operand(i), #list) end
  return list and list[1]
end

-- The number in operand i; error unless it has one element.
function Call:number(i)
  if self[i]:numel() ~= 1 or self[i]:dtype() == "c64" or self[i]:dtype() == "c128" then
    Call.refuse("%s has %d elements of %s; one number is expected", self:operand(i), self[i]:numel(), self[i]:dtype())
  end
  local value = self[i]:item()
  if value == true then return 1 end
  return value or 0
end

-- Error unless operand i exists and has `least` to `most` dims (at least `least` without `most`).
function Call:expect_rank(i, least, most)
  if not self[i] then Call.refuse("input %d is missing", i) end
  local rank = self[i]:dim()
  if rank < least or rank > (most or rank) then
    Call.refuse("%s has %d dims; %s are expected", self:operand(i), rank, least == most and least or
      most and ("%d to %d"):format(least, most) or ("%d or more"):format(least))
  end
end

-- The axes: an attribute before opset `since`, operand i from then on; nil if absent.
function Call:axes(i, since)
  if self.opset < since then return self.attributes.axes end
  return self:integers(i)
end

-- Returns a checked axis, counted from 0. With `end_too` it may be `rank` itself.
function Call.axis_within(axis, rank, end_too)
  if axis < -rank or axis > rank or axis == rank and not end_too then
    Call.refuse("axis %s is out of range for %d dims", axis, rank)
  end
  return axis < 0 and axis + rank or axis
end

-- The attribute `axis` as a dim of x, from 1.
function Call:axis(x, default)
  return Call.axis_within(self:get("axis", default), x:dim()) + 1
end

-- The number of elements in the dims before an axis, and in the dims from the axis on. The axis may be the rank.
function Call.sizes_around(x, axis)
  local sizes, before, behind = x:size(), 1, 1
  axis = Call.axis_within(axis, #sizes, true)
  for d, size in ipairs(sizes) do
    if d <= axis then before = before * size else behind = behind * size end
  end
  return before, behind
end

local floating = {f16 = true, bf16 = true, f32 = true, f64 = true, c64 = true, c128 = true}
function Call.is_floating(x) return floating[x:dtype()] == true end

-- ONNX's element types and our dtypes.
Call.dtypes = {
  [1] = "f32", [2] = "u8", [3] = "i32", [4] = "i32", [5] = "i32", [6] = "i32", [7] = "i64", [9] = "bool", [10] = "f16", [11] = "f64",
  [12] = "i64", [13] = "i64", [14] = "c64", [15] = "c128", [16] = "bf16",
}

return Call
