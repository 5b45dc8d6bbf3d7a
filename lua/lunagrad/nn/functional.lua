-- nn.functional: the ops that networks are made of, under PyTorch's names.
local core = require "lunagrad.core"

local functional = {}

for _, name in ipairs {
  "linear", "conv2d", "max_pool2d", "layer_norm", "embedding", "dropout",
  "softmax", "log_softmax", "cross_entropy", "mse_loss",
  "relu", "relu6", "sigmoid", "tanh", "gelu", "silu", "mish", "leaky_relu", "elu", "selu", "celu", "softplus",
  "softsign", "hardtanh", "hardsigmoid", "hardswish", "logsigmoid", "tanhshrink", "threshold", "prelu",
} do
  functional[name] = core[name]
end

return functional
