-- One module for each activation: a row names the class, the op, and the op's parameters with PyTorch's defaults. The
-- option `inplace` is accepted where PyTorch has it and has no effect: the result has the same values, in memory of its
-- own.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local rows = {
  {"ReLU", "relu"},
  {"ReLU6", "relu6"},
  {"Sigmoid", "sigmoid"},
  {"Tanh", "tanh"},
  {"GELU", "gelu", {"approximate", "none"}},
  {"SiLU", "silu"},
  {"Mish", "mish"},
  {"LeakyReLU", "leaky_relu", {"negative_slope", 0.01}},
  {"ELU", "elu", {"alpha", 1}},
  {"SELU", "selu"},
  {"CELU", "celu", {"alpha", 1}},
  {"Softplus", "softplus", {"beta", 1}, {"threshold", 20}},
  {"Softsign", "softsign"},
  {"Hardtanh", "hardtanh", {"min_val", -1}, {"max_val", 1}},
  {"Hardsigmoid", "hardsigmoid"},
  {"Hardswish", "hardswish"},
  {"LogSigmoid", "logsigmoid"},
  {"Tanhshrink", "tanhshrink"},
  {"Softshrink", "softshrink", {"lambd", 0.5}},
  {"Hardshrink", "hardshrink", {"lambd", 0.5}},
  {"Threshold", "threshold", "threshold", "value"},
  {"Softmax", "softmax", {"dim", -1}},
  {"LogSoftmax", "log_softmax", {"dim", -1}},
  {"Softmin", "softmin", {"dim", -1}},
  {"GLU", "glu", {"dim", -1}},
}

local inplace = {}
for _, name in ipairs {
  "ReLU", "ReLU6", "SiLU", "Mish", "LeakyReLU", "ELU", "SELU", "CELU", "Hardtanh", "Hardsigmoid", "Hardswish", "Threshold",
} do
  inplace[name] = true
end

local activations = {}

for _, row in ipairs(rows) do
  local name, op, parameters = row[1], row[2], table.pack(table.unpack(row, 3))
  local Activation = class(name)
  local known = table.move(parameters, 1, #parameters, 1, {})
  if inplace[name] then known[#known + 1] = {"inplace", false} end
  local read = reader(name, table.unpack(known))

  -- The parameters in the op's order.
  function Activation:init(...)
    local a = read(...)
    if inplace[name] and type(a.inplace) ~= "boolean" then
      core._fail(("%s: inplace is true or false (got %s)"):format(name, tostring(a.inplace)))
    end
    self.arguments = {}
    for i, parameter in ipairs(parameters) do
      self.arguments[i] = a[type(parameter) == "table" and parameter[1] or parameter]
    end
  end

  local apply = core[op]
  if #parameters == 0 then
    function Activation:forward(x) return apply(x) end
  else
    function Activation:forward(x) return apply(x, table.unpack(self.arguments)) end
  end

  function Activation:extra_repr()
    local parts = {}
    for i, value in ipairs(self.arguments) do parts[i] = tostring(value) end
    return table.concat(parts, ", ")
  end

  activations[name] = Activation
end

-- PReLU({num_parameters = 1, init = 0.25}): the slope for negative values is trained, one for all
-- elements or one for each channel (dim 2).
local PReLU = class("PReLU")
local read_prelu = reader("PReLU", {"num_parameters", 1}, {"init", 0.25}, {"device"}, {"dtype"})

function PReLU:init(...)
  local a = read_prelu(...)
  self.num_parameters = a.num_parameters
  self.weight = init._parameter({a.num_parameters}, a, init.constant_, a.init)
end

function PReLU:forward(x) return core.prelu(x, self.weight) end

function PReLU:extra_repr() return ("num_parameters = %d"):format(self.num_parameters) end

activations.PReLU = PReLU

-- RReLU({lower = 1/8, upper = 1/3}): the slope for negative values is drawn for each element in training, else it is the mean.
local RReLU = class("RReLU")
local read_rrelu = reader("RReLU", {"lower", 1 / 8}, {"upper", 1 / 3})

function RReLU:init(...)
  local a = read_rrelu(...)
  self.lower, self.upper = a.lower, a.upper
end

function RReLU:forward(x) return core.rrelu(x, self.lower, self.upper, self.training) end

function RReLU:extra_repr() return ("lower = %g, upper = %g"):format(self.lower, self.upper) end

activations.RReLU = RReLU

-- Softmax2d(): softmax over the channels of [N, C, H, W] or [C, H, W].
local Softmax2d = class("Softmax2d")

function Softmax2d:init() end

function Softmax2d:forward(x)
  if x:dim() ~= 3 and x:dim() ~= 4 then
    core._fail(("Softmax2d: an input of 3 or 4 dims expected (got shape [%s])"):format(table.concat(x:size(), ", ")))
  end
  return x:softmax(-3)
end

activations.Softmax2d = Softmax2d

return activations
