-- Nodes of every operator that lg.io.onnx_import reads, with attributes and operands that are wrong in one or more ways: each model either
-- computes something, or is refused by an error that names the node. arg[1]: models for each operator, by default 10, or 150 with
-- LUNAGRAD_TEST_ALL; arg[2]: seed.
package.path = arg[0]:match "^(.*)tests/fuzz/" .. "tests/lua/?.lua;" .. package.path
local lg = require "lunagrad"
local onnx_file = require "onnx_file"
local rules = require("lunagrad.onnx_import.rules").rules

local each, seed = math.tointeger(tonumber(arg[1] or os.getenv "LUNAGRAD_TEST_ALL" and 150 or 10)), math.tointeger(tonumber(arg[2] or 1))
math.randomseed(seed, 0)
lg.manual_seed(seed)
local path = os.tmpname()

local function pick(list) return list[math.random(#list)] end
local integers = {0, 1, 2, 3, -1, -2, 4, 5, 7, 99, -99, 1 << 31, (1 << 31) - 1, 1 << 40, 1 << 62, math.maxinteger, math.mininteger}
local numbers = {0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, 1e300, math.huge, -math.huge, 0 / 0}
local texts = {"", "nearest", "linear", "LEFT", "constant", "forward", "ij,jk->ik", "i...->", "x\ny", "'", ("z"):rep(99), "end", "add", "relu"}
local function value()
  local kind = math.random(8)
  if kind <= 3 then return pick(integers) end
  if kind == 4 then return pick(numbers) end
  if kind == 5 then return pick(texts) end
  if kind == 6 then return lg.ones(math.random(0, 2)) end
  local from, list = kind == 7 and integers or pick {numbers, texts, integers}, {}
  for i = 1, math.random(0, 5) do list[i] = pick(from) end
  return list
end
-- A value that is of the kind, more often than not.
local function likely(kind)
  if math.random(4) == 1 then return value() end
  if type(kind) == "table" then return pick(kind) end
  kind = kind:gsub("!", "")
  local small = function() return math.random(-1, 3) end
  if kind == "flag" then return math.random(0, 1) end
  if kind == "float" then return pick(numbers) end
  if kind == "string" then return pick(texts) end
  if kind == "tensor" then return lg.ones(1) end
  if kind == "dtype" then return math.random(1, 16) end
  local function one()
    if kind:find "positive" then return math.random(1, 3) end
    return kind:find "natural" and math.random(0, 2) or small()
  end
  if kind == "floats" or kind == "strings" then
    local list = {}
    for i = 1, math.random(0, 4) do list[i] = pick(kind == "floats" and {0.5, 1.0, 2.0} or texts) end
    return list
  end
  if not kind:find "s$" then return one() end
  local list = {}
  for i = 1, pick {0, 1, 2, 2, 3, 4, 4} do list[i] = one() end
  return list
end

local shapes = {{}, {0}, {1}, {2}, {3}, {4}, {2, 3}, {0, 3}, {3, 2, 4}, {2, 4, 4}, {1, 4, 4, 4}, {2, 4, 6, 6}, {1, 12, 3}, {1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}}
local function operand()
  local kind = math.random(5)
  if kind <= 2 then return lg.randn(pick(shapes)) end
  if kind == 3 then
    local list = {}
    for i = 1, math.random(1, 4) do list[i] = pick {0, 1, 2, 3, -1, -1, 1, pick(integers)} end
    return lg.tensor(list, {dtype = "i64"})
  end
  return kind == 4 and lg.tensor(pick {0, 1, -1, 2, pick(integers)}, {dtype = "i64"}) or lg.randn(pick(shapes)):gt(0)
end

local names = {}
for op in pairs(rules) do names[#names + 1] = op end
table.sort(names)
local computed, refused = 0, 0
for _, op in ipairs(names) do
  local rule = rules[op]
  for _ = 1, each do
    local attributes, initializers, inputs = {}, {}, {}
    for key, kind in pairs(rule) do
      if type(key) == "string" and math.random(3) > 1 then attributes[key] = likely(kind) end
    end
    local most = math.min(rule[2], 4)
    for i = 1, math.random(20) == 1 and math.random(0, 5) or math.random(rule[1], math.max(most, rule[1])) do
      inputs[i] = math.random(30) == 1 and "" or "v" .. i
      initializers[i] = {"v" .. i, operand()}
    end
    local outputs = {}
    for i = 1, pick {1, 1, 1, 1, 2, 3} do outputs[i] = "y" .. i end
    local model = {opset = pick {1, 7, 9, 10, 11, 12, 13, 17, 18, 21}, initializers = initializers, outputs = {"y1"},
      nodes = {{op, inputs, outputs, attributes, "the node"}}}
    onnx_file.write(path, model)
    local ok, message = pcall(function() return lg.no_grad(function() return lg.io.onnx_import(path)() end) end)
    if ok then
      computed = computed + 1
    else
      refused = refused + 1
      message = tostring(message)
      local good = message:find("the node", 1, true) or message:find "out of memory" or message:find "%.onnx" or message:find("lua_", 1, true)
      if not good or message:find "onnx_import/" or message:find "attempt to" then
        os.rename(path, "wrong.onnx")
        error(("%s, opset %d: %s"):format(op, model.opset, message), 0)
      end
    end
  end
end
os.remove(path)
print(("%d models of %d operators: %d computed, %d refused"):format(computed + refused, #names, computed, refused))
assert(computed > refused / 50 and refused > computed / 50)
