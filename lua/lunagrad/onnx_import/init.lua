-- lg.io.onnx_import(path) returns a module that computes an ONNX model's outputs from its inputs, in their order. Its
-- floating initializers are parameters (the statistics of BatchNormalization and integers are buffers), named as in the
-- file, so that the model can be trained further. It starts in evaluation mode. The files in this folder hold one
-- function for each operator.
local core = require "lunagrad.core"
local nn = require "lunagrad.nn"
local tree = require "lunagrad.nn.tree"
local Call = require "lunagrad.onnx_import.call"
local rules = require "lunagrad.onnx_import.rules"

local fail = core._fail

local operators = {}
for _, name in ipairs {"elementwise", "shapes", "reductions", "indices", "products", "windows", "sequences"} do
  for op, run in pairs(require("lunagrad.onnx_import." .. name)) do operators[op] = run end
end

local Part = nn.class "Part"
local Model = nn.class "OnnxModel"

local deepest = 32  -- nested modules, made from the dots in a name

-- Internal fields that modules get when they are needed; no initializer may have such a name.
local own_fields = {_graph = true, _hooks = true, _label = true, _placed = true, _shared = true}

-- The module and the key in it for an initializer named "encoder.0.weight"; nil if the name cannot be used. Characters
-- that a field cannot have become "_".
local function place_of(model, name)
  local holder, keys = model, {}
  for key in name:gsub("[^%w_.]", "_"):gmatch "[^.]+" do
    keys[#keys + 1] = key:find "^%d+$" and #key < 10 and tonumber(key) + 1 or key
    if own_fields[key] or #keys > deepest then return nil end
  end
  for i = 1, #keys - 1 do
    local inner = rawget(holder, keys[i])
    if inner == nil and not tree.has(holder, keys[i]) then
      inner = Part()
      holder[keys[i]] = inner
    end
    if not tree.is_module(inner) then return nil end
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
      fail(("io.onnx_import: %s broadcasts as before opset 7, which is not read"):format(Call.named(node)))
    end
  end
  if #unknown > 0 then
    table.sort(unknown)
    for i, op in ipairs(unknown) do unknown[i] = Call.printable(op) end
    fail(("io.onnx_import: the model uses %s, which %s not read"):format(table.concat(unknown, ", "), #unknown == 1 and "is" or "are"))
  end
  rules.check(graph)
  for _, node in ipairs(graph.nodes) do
    if node.op == "BatchNormalization" then statistics[node.inputs[4]], statistics[node.inputs[5]] = true, true end
  end
  local places, numbers = {}, {}
  for i, initializer in ipairs(graph.initializers) do
    local name, value = initializer[1], initializer[2]
    local holder, key = place_of(self, name)
    if not holder then
      holder, key = self, "initializer_" .. i
      while tree.has(self, key) do key = key .. "_" end
    end
    if not Call.is_floating(value) and value:numel() <= 4096 then numbers[name] = value end
    value = value:to(core.device())
    if Call.is_floating(value) and not statistics[name] then
      holder[key] = nn.Parameter(value)
    else
      holder[key] = value
      holder._kinds[key] = "buffer"  -- register_buffer takes no positions
    end
    places[name] = {holder, key}
  end
  rawset(self, "_graph", {nodes = {}, places = places, numbers = numbers, inputs = graph.inputs, outputs = graph.outputs, opset = graph.opset,
    constants = {}})
  self:_plan(graph)
end

-- Evaluates Constant nodes, and lists in each node's `free` the values whose last use it is.
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

-- Throws an operator's error with the name of its node. Out-of-memory errors and interrupts are thrown unchanged.
local function fail_at(node, message)
  if message:find "out of memory" or message:find "interrupted" then error(message, 0) end
  message = message:gsub("^[^\n:]*%.lua:%d+: ", "")
  fail(("%s of the ONNX model: %s"):format(Call.named(node), message))
end

function Model:forward(...)
  local graph, values, given = self._graph, {}, {...}
  if #given ~= #graph.inputs then
    fail(("the ONNX model takes %d inputs (%s), got %d"):format(#graph.inputs, table.concat(graph.inputs, ", "), #given))
  end
  for i, name in ipairs(graph.inputs) do
    if not core.is_tensor(given[i]) then
      fail(("input %d ('%s') of the ONNX model is a %s, not a tensor"):format(i, Call.printable(name), type(given[i])))
    end
    values[name] = given[i]
  end
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
    if not results[1] then fail_at(node, tostring(results[2])) end
    for i, name in ipairs(node.outputs) do
      if name ~= "" and results[i + 1] == nil then fail_at(node, ("its output %d is not computed"):format(i)) end
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
