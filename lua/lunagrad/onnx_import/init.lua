-- lg.io.onnx_import(path) -> a module that computes an ONNX model's outputs from its inputs, in their order. Its floating
-- initializers are parameters (the statistics of BatchNormalization and integers are buffers), named as in the file, so that the
-- model can be trained further. It starts in evaluation mode. The files in this folder hold one function for each operator.
local core = require "lunagrad.core"
local nn = require "lunagrad.nn"
local tree = require "lunagrad.nn.tree"
local Call = require "lunagrad.onnx_import.call"

local fail = core._fail

local operators = {}
for _, name in ipairs {"elementwise", "shapes", "reductions", "indices", "products", "windows", "sequences"} do
  for op, run in pairs(require("lunagrad.onnx_import." .. name)) do operators[op] = run end
end

local Part = nn.class "Part"
local Model = nn.class "OnnxModel"

-- The module and the key in it for an initializer named "encoder.0.weight". Other characters become "_".
local function place_of(model, name)
  local holder, keys = model, {}
  for key in name:gsub("[^%w_.]", "_"):gmatch "[^.]+" do
    keys[#keys + 1] = key:find "^%d+$" and math.tointeger(tonumber(key) + 1) or key
  end
  for i = 1, #keys - 1 do
    local inner = rawget(holder, keys[i])
    if inner == nil then
      inner = Part()
      holder[keys[i]] = inner
    end
    if type(inner) ~= "table" then return nil end
    holder = inner
  end
  local last = keys[#keys]
  if last == nil or tree.has(holder, last) then return nil end
  return holder, last
end

function Model:init(graph)
  local unknown, statistics, listed = {}, {}, {}
  for _, node in ipairs(graph.nodes) do
    if not operators[node.op] and node.op ~= "Constant" and not listed[node.op] then
      listed[node.op] = true
      unknown[#unknown + 1] = node.op
    end
    if node.attributes.broadcast then
      fail(("io.onnx_import: node '%s' (%s) broadcasts as before opset 7, which is not read"):format(node.name, node.op))
    end
    if node.op == "BatchNormalization" then statistics[node.inputs[4]], statistics[node.inputs[5]] = true, true end
  end
  if #unknown > 0 then
    table.sort(unknown)
    fail(("io.onnx_import: the model uses %s, which %s not read"):format(table.concat(unknown, ", "), #unknown == 1 and "is" or "are"))
  end
  local places, numbers = {}, {}
  for i, initializer in ipairs(graph.initializers) do
    local name, value = initializer[1], initializer[2]
    local holder, key = place_of(self, name)
    if not holder then holder, key = self, "initializer_" .. i end
    if not Call.is_floating(value) and value:numel() <= 4096 then numbers[name] = value end
    value = value:to(core.device())
    if Call.is_floating(value) and not statistics[name] then
      holder[key] = nn.Parameter(value)
    else
      holder:register_buffer(key, value)
    end
    places[name] = {holder, key}
  end
  rawset(self, "_graph", {nodes = {}, places = places, numbers = numbers, inputs = graph.inputs, outputs = graph.outputs, opset = graph.opset,
    constants = {}})
  self:_plan(graph)
end

-- Constants become values, and each node gets the names whose last use it is.
function Model:_plan(graph)
  local mine, last = self._graph, {}
  for _, node in ipairs(graph.nodes) do
    if node.op == "Constant" then
      mine.constants[node.outputs[1]] = Call.constant(node.attributes)
    else
      mine.nodes[#mine.nodes + 1] = node
      for _, name in ipairs(node.inputs) do last[name] = node end
      node.free = {}
    end
  end
  for _, name in ipairs(mine.outputs) do last[name] = nil end
  for name, node in pairs(last) do table.insert(node.free, name) end
end

function Model:forward(...)
  local graph, values, given = self._graph, {}, {...}
  if #given ~= #graph.inputs then
    fail(("the ONNX model takes %d inputs (%s), got %d"):format(#graph.inputs, table.concat(graph.inputs, ", "), #given))
  end
  for i, name in ipairs(graph.inputs) do values[name] = given[i] end
  local function value_of(name)
    local value = values[name]
    if value ~= nil then return value end
    local place = graph.places[name]
    if place then return place[1][place[2]] end
    return graph.constants[name]
  end
  for _, node in ipairs(graph.nodes) do
    local call = Call.new(self, graph, node, value_of)
    local results = table.pack(pcall(operators[node.op], call))
    if not results[1] then
      fail(("node '%s' (%s) of the ONNX model: %s"):format(node.name, node.op, tostring(results[2])))
    end
    for i, name in ipairs(node.outputs) do
      if name ~= "" then values[name] = results[i + 1] end
    end
    for _, name in ipairs(node.free) do values[name] = nil end
  end
  local outputs = {}
  for i, name in ipairs(graph.outputs) do outputs[i] = value_of(name) end
  return table.unpack(outputs)
end

function Model:extra_repr()
  return ("%d nodes, opset %d"):format(#self._graph.nodes, self._graph.opset)
end

return function(path)
  return Model(core._onnx_read(path)):eval()
end
