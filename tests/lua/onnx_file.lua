-- Writes ONNX files (onnx.proto) from tables, right and wrong ones:
-- {opset =, initializers = {{name, tensor}, …}, inputs = {name, …}, outputs = {name, …}, nodes = {{op, inputs, outputs, attributes, name}, …}}
-- An attribute is an integer, a float, a text, a tensor or a list of one of the first three; {} is an empty list of integers.
local lg = require "lunagrad"

local M = {}

local function varint(value)
  local out = {}
  repeat
    local low = value & 127
    value = value >> 7
    out[#out + 1] = string.char(value ~= 0 and low | 128 or low)
  until value == 0
  return table.concat(out)
end
function M.whole(field, value) return varint(field << 3) .. varint(value) end
function M.bytes(field, value) return varint(field << 3 | 2) .. varint(#value) .. value end
function M.single(field, value) return varint(field << 3 | 5) .. string.pack("<f", value) end
local whole, bytes, single = M.whole, M.bytes, M.single

local types = {f32 = {1, "f"}, u8 = {2, "B"}, i32 = {6, "i4"}, i64 = {7, "i8"}, f64 = {11, "d"}, bool = {9, "B"}}

function M.tensor(name, x)
  local code, form = table.unpack(types[x:dtype()])
  local out = {}
  for _, size in ipairs(x:size()) do out[#out + 1] = whole(1, size) end
  out[#out + 1] = whole(2, code)
  out[#out + 1] = bytes(8, name)
  local values = {}
  for i, value in ipairs(x:numel() == 0 and {} or x:reshape(-1):tolist()) do
    if type(value) == "boolean" then value = value and 1 or 0 end
    values[i] = string.pack("<" .. form, value)
  end
  out[#out + 1] = bytes(9, table.concat(values))
  return table.concat(out)
end

local function attribute(name, value)
  local out = bytes(1, name)
  if lg.is_tensor(value) then return out .. bytes(5, M.tensor("", value)) .. whole(20, 4) end
  if type(value) == "string" then return out .. bytes(4, value) .. whole(20, 3) end
  if math.type(value) == "integer" then return out .. whole(3, value) .. whole(20, 2) end
  if math.type(value) == "float" then return out .. single(2, value) .. whole(20, 1) end
  for _, item in ipairs(value) do
    out = out .. (type(item) == "string" and bytes(9, item) or math.type(item) == "integer" and whole(8, item) or single(7, item))
  end
  local first = value[1]
  return out .. whole(20, type(first) == "string" and 8 or math.type(first) == "float" and 6 or 7)
end

function M.node(op, inputs, outputs, attributes, name)
  local out = {}
  for _, input in ipairs(inputs) do out[#out + 1] = bytes(1, input) end
  for _, output in ipairs(outputs) do out[#out + 1] = bytes(2, output) end
  out[#out + 1] = bytes(3, name or "n") .. bytes(4, op)
  local names = {}
  for key in pairs(attributes or {}) do names[#names + 1] = key end
  table.sort(names)
  for _, key in ipairs(names) do out[#out + 1] = bytes(5, attribute(key, attributes[key])) end
  return table.concat(out)
end

-- The bytes of a model. `extra`: fields of the graph behind the others.
function M.model(model)
  local graph = {}
  for _, node in ipairs(model.nodes or {}) do graph[#graph + 1] = bytes(1, M.node(table.unpack(node, 1, 5))) end
  graph[#graph + 1] = bytes(2, "graph")
  for _, item in ipairs(model.initializers or {}) do graph[#graph + 1] = bytes(5, M.tensor(item[1], item[2])) end
  for _, name in ipairs(model.inputs or {}) do graph[#graph + 1] = bytes(11, bytes(1, name)) end
  for _, name in ipairs(model.outputs or {}) do graph[#graph + 1] = bytes(12, bytes(1, name)) end
  graph[#graph + 1] = model.extra
  return whole(1, 8) .. bytes(7, table.concat(graph)) .. bytes(8, bytes(1, "") .. whole(2, model.opset or 17))
end

function M.write(path, content)
  local file <close> = assert(io.open(path, "wb"))
  file:write(type(content) == "table" and M.model(content) or content)
end

return M
