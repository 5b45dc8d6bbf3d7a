-- nn.functional: the ops that networks use, under PyTorch's names.
local core = require "lunagrad.core"

local functional = {}

for _, name in ipairs {
  "linear", "layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm", "normalize", "rope",
  "local_response_norm", "scaled_dot_product_attention", "embedding", "embedding_bag", "dropout", "dropout1d", "dropout2d",
  "dropout3d", "alpha_dropout", "feature_alpha_dropout", "bilinear",
  "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "im2col", "col2im",
  "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
  "max_unpool1d", "max_unpool2d", "max_unpool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
  "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
  "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "grid_sample", "affine_grid",
  "softmax", "log_softmax", "softmin", "cross_entropy", "mse_loss",
  "nll_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
  "kl_div", "one_hot", "pad", "glu",
  "poisson_nll_loss", "gaussian_nll_loss", "cosine_similarity", "pairwise_distance", "pdist", "cosine_embedding_loss",
  "triplet_margin_loss", "margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss", "multi_margin_loss",
  "multilabel_margin_loss",
  "relu", "relu6", "sigmoid", "tanh", "gelu", "silu", "mish", "leaky_relu", "elu", "selu", "celu", "softplus",
  "softsign", "hardtanh", "hardsigmoid", "hardswish", "logsigmoid", "tanhshrink", "threshold", "prelu",
  "hardshrink", "softshrink", "rrelu",
} do
  functional[name] = core[name]
end

-- PyTorch's `inplace`, at its position behind the arguments or by name, is accepted and has no effect, as in modules.
local function without_inplace(op, count, ...)
  local given = table.pack(...)
  local last = given[given.n]
  if given.n == count + 1 and type(last) == "boolean" then
    given.n = count
  elseif type(last) == "table" and type(last.inplace) == "boolean" then
    local kept = {}
    for key, value in pairs(last) do if key ~= "inplace" then kept[key] = value end end
    given[given.n] = kept
  end
  return op(table.unpack(given, 1, given.n))
end

for name, count in pairs {
  relu = 1, relu6 = 1, selu = 1, silu = 1, mish = 1, hardsigmoid = 1, hardswish = 1, leaky_relu = 2, elu = 2, celu = 2,
  hardtanh = 3, threshold = 3, dropout = 3, dropout1d = 3, dropout2d = 3, dropout3d = 3, alpha_dropout = 3,
  feature_alpha_dropout = 3, rrelu = 4,
} do
  local op = core[name]
  functional[name] = function(x, ...)
    if ... == nil then return op(x) end
    return without_inplace(op, count, x, ...)
  end
end

-- Lengths may be tables of integers. Labels and lengths may be on the CPU beside log_probs on another device.
function functional.ctc_loss(log_probs, targets, input_lengths, target_lengths, ...)
  local function beside(value)
    if type(value) == "table" then value = core.tensor(value, {dtype = "i64"}) end
    return core.is_tensor(value) and core.is_tensor(log_probs) and value:to(log_probs:device()) or value
  end
  return core.ctc_loss(log_probs, beside(targets), beside(input_lengths), beside(target_lengths), ...)
end

-- F.unfold returns the windows of images as columns; Tensor.unfold is another function.
functional.unfold, functional.fold = core.im2col, core.col2im

-- x = F.relu_(x) writes into x.
for _, name in ipairs {"relu_", "elu_", "selu_", "celu_", "leaky_relu_", "hardtanh_", "rrelu_", "threshold_"} do
  functional[name] = core.methods[name]
end

-- F.max_pool2d_with_indices(x, …) is F.max_pool2d(x, …, {return_indices = true}): result and indices.
for dims = 1, 3 do
  for _, kind in ipairs {"max_pool%dd", "adaptive_max_pool%dd"} do
    local name = kind:format(dims)
    local op = core[name]
    functional[name .. "_with_indices"] = function(x, ...)
      local list = table.pack(...)
      local last = list[list.n]
      local options = {return_indices = true}
      if type(last) == "table" and type((next(last))) == "string" then
        for key, value in pairs(last) do options[key] = value end
        list[list.n] = nil
        list.n = list.n - 1
      end
      list[list.n + 1] = options
      return op(x, table.unpack(list, 1, list.n + 1))
    end
  end
end

return functional
