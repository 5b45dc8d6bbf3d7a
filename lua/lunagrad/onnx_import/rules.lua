-- The number of inputs and the kinds of attributes that each operator takes. Nodes are checked when a model is read, so
-- that operators can rely on them, and errors name the node and the attribute. Attributes that are not listed are
-- ignored.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local largest = (1 << 31) - 1  -- limit of sizes: sums and products of a few do not overflow

local function integer(low, high)
  return function(value) return math.type(value) == "integer" and value >= low and value <= high end
end
local function list_of(accepts)
  return function(values)
    if type(values) ~= "table" then return false end
    for _, value in ipairs(values) do
      if not accepts(value) then return false end
    end
    return true
  end
end
local function is_number(value) return math.type(value) == "float" end
local function is_string(value) return type(value) == "string" end

-- kind -> the check of a value, and the kind's name in errors.
local kinds = {
  int = {integer(-largest, largest), "an integer of 32 bits"}, natural = {integer(0, largest), "an integer from 0 on"},
  positive = {integer(1, largest), "an integer from 1 on"}, flag = {integer(0, 1), "0 or 1"}, float = {is_number, "a number"},
  string = {is_string, "a text"}, tensor = {core.is_tensor, "a tensor"},
  dtype = {function(value) return Call.dtypes[value] ~= nil end, "an element type that is read"},
  ints = {list_of(integer(-largest, largest)), "a list of integers of 32 bits"},
  naturals = {list_of(integer(0, largest)), "a list of integers from 0 on"},
  positives = {list_of(integer(1, largest)), "a list of integers from 1 on"},
  long = {integer(math.mininteger, math.maxinteger), "an integer"},
  longs = {list_of(integer(math.mininteger, math.maxinteger)), "a list of integers"},
  floats = {list_of(is_number), "a list of numbers"}, strings = {list_of(is_string), "a list of texts"},
}

local many = math.huge
local directions = {"forward", "reverse", "bidirectional"}
local paddings = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}

-- operator -> {least inputs, most inputs, attribute = kind or choices}; "!" behind a kind: the attribute is required.
local rules = {
  Div = {2, 2}, Mod = {2, 2, fmod = "flag"}, Max = {1, many}, Min = {1, many}, Sum = {1, many}, Mean = {1, many},
  BitShift = {2, 2, direction = {"LEFT", "RIGHT", required = true}}, Clip = {1, 3, min = "float", max = "float"}, Where = {3, 3},
  Identity = {1, 1}, Cast = {1, 1, to = "dtype!"}, CastLike = {2, 2}, IsInf = {1, 1, detect_negative = "flag", detect_positive = "flag"},
  LeakyRelu = {1, 1, alpha = "float"}, Elu = {1, 1, alpha = "float"}, Celu = {1, 1, alpha = "float"},
  Gelu = {1, 1, approximate = {"none", "tanh"}}, PRelu = {2, 2}, ThresholdedRelu = {1, 1, alpha = "float"},
  HardSigmoid = {1, 1, alpha = "float", beta = "float"}, Selu = {1, 1, alpha = "float", gamma = "float"},
  Shrink = {1, 1, bias = "float", lambd = "float"}, Dropout = {1, 3, ratio = "float"},
  Constant = {0, 0, value = "tensor", value_float = "float", value_floats = "floats", value_int = "long", value_ints = "longs"},
  Shape = {1, 1, start = "int", ["end"] = "int"}, Size = {1, 1}, Reshape = {2, 2, allowzero = "flag"}, Flatten = {1, 1, axis = "int"},
  Transpose = {1, 1, perm = "naturals"}, Unsqueeze = {1, 2, axes = "ints"}, Squeeze = {1, 2, axes = "ints"}, Expand = {2, 2}, Tile = {2, 2},
  Concat = {1, many, axis = "int!"}, Split = {1, 2, axis = "int", split = "naturals", num_outputs = "positive"},
  Slice = {1, 5, starts = "longs", ends = "longs", axes = "ints"},
  Pad = {1, 4, pads = "ints", value = "float", mode = {"constant", "reflect", "edge", "wrap"}}, ConstantOfShape = {1, 1, value = "tensor"},
  Range = {3, 3}, EyeLike = {1, 1, dtype = "dtype", k = "int"}, Trilu = {1, 2, upper = "flag"},
  DepthToSpace = {1, 1, blocksize = "positive!", mode = {"DCR", "CRD"}}, SpaceToDepth = {1, 1, blocksize = "positive!"},
  Gather = {2, 2, axis = "int"}, GatherElements = {2, 2, axis = "int"}, ScatterElements = {3, 3, axis = "int", reduction = "string"},
  Scatter = {3, 3, axis = "int"}, GatherND = {2, 2, batch_dims = "natural"}, ScatterND = {3, 3, reduction = "string"}, NonZero = {1, 1},
  OneHot = {3, 3, axis = "int"}, Compress = {2, 2, axis = "int"}, MatMul = {2, 2},
  Gemm = {2, 3, alpha = "float", beta = "float", transA = "flag", transB = "flag"}, Einsum = {1, many, equation = "string!"}, Det = {1, 1},
  ArgMax = {1, 1, axis = "int", keepdims = "flag", select_last_index = "flag"}, Softmax = {1, 1, axis = "int"}, Hardmax = {1, 1, axis = "int"},
  CumSum = {2, 2, exclusive = "flag", reverse = "flag"}, TopK = {2, 2, axis = "int", largest = "flag", sorted = "flag"},
  LpNormalization = {1, 1, axis = "int", p = "positive"}, MeanVarianceNormalization = {1, 1, axes = "ints"},
  LayerNormalization = {1, 3, axis = "int", epsilon = "float"},
  Conv = {2, 3, kernel_shape = "positives", strides = "positives", dilations = "positives", pads = "naturals", group = "positive",
    auto_pad = paddings},
  ConvTranspose = {2, 3, kernel_shape = "positives", strides = "positives", dilations = "positives", pads = "naturals", group = "positive",
    auto_pad = paddings, output_padding = "naturals", output_shape = "positives"},
  MaxPool = {1, 1, kernel_shape = "positives!", strides = "positives", dilations = "positives", pads = "naturals", ceil_mode = "flag",
    auto_pad = paddings},
  AveragePool = {1, 1, kernel_shape = "positives!", strides = "positives", dilations = "positives", pads = "naturals", ceil_mode = "flag",
    auto_pad = paddings, count_include_pad = "flag"},
  GlobalAveragePool = {1, 1}, GlobalMaxPool = {1, 1}, BatchNormalization = {5, 5, epsilon = "float", momentum = "float", training_mode = "flag"},
  InstanceNormalization = {3, 3, epsilon = "float"}, GroupNormalization = {3, 3, epsilon = "float", num_groups = "positive!"},
  LRN = {1, 1, alpha = "float", beta = "float", bias = "float", size = "positive!"},
  Resize = {1, 4, mode = {"nearest", "linear", "cubic"}, coordinate_transformation_mode = "string", cubic_coeff_a = "float",
    nearest_mode = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, exclude_outside = "flag", antialias = "flag", axes = "ints"},
  Upsample = {1, 2, mode = {"nearest", "linear"}, scales = "floats"},
  LSTM = {3, 8, activations = "strings", clip = "float", direction = directions, input_forget = "flag", layout = "flag"},
  RNN = {3, 6, activations = "strings", clip = "float", direction = directions, layout = "flag"},
  GRU = {3, 6, activations = "strings", clip = "float", direction = directions, layout = "flag", linear_before_reset = "flag"},
}
rules.ArgMin, rules.LogSoftmax = rules.ArgMax, rules.Softmax
for _, op in ipairs {"Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"} do
  rules["Reduce" .. op] = {1, 2, axes = "ints", keepdims = "flag", noop_with_empty_axes = "flag"}
end
for op in ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor HardSwish IsNaN Log Mish Neg Not Reciprocal Relu Round \z
  Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh"):gmatch "%S+" do
  rules[op] = {1, 1}
end
for op in ("Add And Equal Greater GreaterOrEqual Less LessOrEqual Mul Or Pow Sub Xor"):gmatch "%S+" do rules[op] = {2, 2} end

-- A value as errors show it: short, on one line.
local function shown(value)
  if type(value) == "table" then
    local parts = {}
    for i = 1, math.min(#value, 8) do parts[i] = shown(value[i]) end
    return "{" .. table.concat(parts, ", ") .. (#value > 8 and ", …}" or "}")
  elseif core.is_tensor(value) then
    return "a tensor"
  end
  return type(value) == "string" and ("'%s'"):format(Call.printable(value)) or tostring(value)
end

-- What is wrong with an attribute, or nil.
local function mistake(kind, value)
  local choices, required = type(kind) == "table" and kind, type(kind) == "table" and kind.required
  if type(kind) == "string" then
    required = kind:sub(-1) == "!"
    kind = kinds[required and kind:sub(1, -2) or kind]
  end
  local wanted
  if choices then
    for _, choice in ipairs(choices) do
      if value == choice then return nil end
    end
    wanted = "one of " .. table.concat(choices, ", ")
  else
    if value ~= nil and kind[1](value) then return nil end
    wanted = kind[2]
  end
  if value == nil then return required and ("is missing; %s is expected"):format(wanted) or nil end
  return ("is %s; %s is expected"):format(shown(value), wanted)
end

local function count_text(least, most)
  if most == many then return ("%d or more"):format(least) end
  return least == most and tostring(least) or ("%d to %d"):format(least, most)
end

local M = {rules = rules}

-- Checks the nodes of a graph, whose operators are known.
function M.check(graph)
  for _, node in ipairs(graph.nodes) do
    local rule = rules[node.op]
    local function refuse(what, ...)
      core._fail(("io.onnx_import: %s %s"):format(Call.named(node), what:format(...)))
    end
    local least, most, given = rule[1], rule[2], #node.inputs
    if given < least or given > most then
      refuse("has %d input%s; %s are expected", given, given == 1 and "" or "s", count_text(least, most))
    end
    for i = 1, most == many and given or least do
      if node.inputs[i] == "" then refuse("lacks input %d", i) end
    end
    if #node.outputs == 0 or node.outputs[1] == "" and #node.outputs == 1 then refuse "has no output" end
    local names = {}
    for name in pairs(rule) do
      if type(name) == "string" then names[#names + 1] = name end
    end
    table.sort(names)
    for _, name in ipairs(names) do
      local wrong = mistake(rule[name], node.attributes[name])
      if wrong then refuse("has the wrong attribute '%s': it %s", name, wrong) end
    end
  end
end

return M
