-- nn.functional: the ops that networks use, under PyTorch's names.
local core = require "lunagrad.core"

local functional = {}

for _, name in ipairs {
  "linear", "layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm", "normalize", "rope",
  "scaled_dot_product_attention", "embedding", "dropout",
  "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "im2col", "col2im", "interpolate",
  "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d",
  "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d",
  "softmax", "log_softmax", "softmin", "cross_entropy", "mse_loss",
  "nll_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
  "kl_div", "one_hot", "pad", "glu",
  "poisson_nll_loss", "gaussian_nll_loss", "cosine_similarity", "pairwise_distance", "cosine_embedding_loss", "triplet_margin_loss",
  "margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss", "ctc_loss",
  "relu", "relu6", "sigmoid", "tanh", "gelu", "silu", "mish", "leaky_relu", "elu", "selu", "celu", "softplus",
  "softsign", "hardtanh", "hardsigmoid", "hardswish", "logsigmoid", "tanhshrink", "threshold", "prelu",
  "softshrink", "hardshrink", "rrelu",
} do
  functional[name] = core[name]
end

return functional
