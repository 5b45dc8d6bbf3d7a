#include "runtime/core/op_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lunagrad {
namespace {

using Rename = std::pair<std::string_view, std::string_view>;

// Internal ops whose name is not the public op's with something behind it.
constexpr std::array<Rename, 32> kRenamed = {{{"attention", "scaled_dot_product_attention"},
                                              {"attention_mask", "scaled_dot_product_attention"},
                                              {"grouped_attention", "scaled_dot_product_attention"},
                                              {"add_product", "addmm_"},
                                              {"bce", "binary_cross_entropy"},
                                              {"bce_logits", "binary_cross_entropy_with_logits"},
                                              {"cast", "to"},
                                              {"clip_grad_norm", "clip_grad_norm_"},
                                              {"cofactor", "gradient of det"},
                                              {"to_device", "to"},
                                              {"copy", "copy_"},
                                              {"distance", "cdist"},
                                              {"embedding_bag_max", "embedding_bag"},
                                              {"embedding_bag_sum", "embedding_bag"},
                                              {"flat_positions", "index"},
                                              {"fold_windows", "gradient of unfold"},
                                              {"huber", "huber_loss"},
                                              {"lstm_layer", "lstm"},
                                              {"gru_layer", "gru"},
                                              {"nonzero_at", "nonzero"},
                                              {"pair_column_sums", "cdist"},
                                              {"pair_row_sums", "cdist"},
                                              {"repeated_positions", "segment_reduce"},
                                              {"row_cosine", "cosine_similarity"},
                                              {"row_distance", "pairwise_distance"},
                                              {"rnn_tanh_layer", "rnn"},
                                              {"rnn_relu_layer", "rnn"},
                                              {"runs", "unique_consecutive"},
                                              {"runs_before", "unique_consecutive"},
                                              {"scatter_mean", "scatter_reduce"},
                                              {"select_once", "select"},
                                              {"sorted", "unique"}}};

// What internal ops have behind the name of the public op.
constexpr std::array<std::string_view, 13> kForms = {"_dtype", "_with",     "_alpha", "_bias",    "_train",
                                                     "_eval",  "_indices",  "_pick",  "_options", "_rounding",
                                                     "_value", "_decimals", "_bounds"};
constexpr std::array<std::string_view, 6> kGradients = {"_grad",   "_grad_a",     "_grad_b",
                                                        "_grad_c", "_grad_input", "_grad_weight"};

template <size_t N>
bool cut(std::string_view& name, const std::array<std::string_view, N>& ends) {
  for (const std::string_view end : ends)
    if (name.size() > end.size() && name.ends_with(end)) return name.remove_suffix(end.size()), true;
  return false;
}

}  // namespace

std::string public_op_name(std::string_view op) {
  if (!op.starts_with('_') || op.size() == 1) return std::string(op);
  while (op.size() > 1 && op.starts_with('_')) op.remove_prefix(1);
  const bool gradient = cut(op, kGradients);
  const auto renamed =
      std::find_if(kRenamed.begin(), kRenamed.end(), [&](const Rename& one) { return one.first == op; });
  if (renamed != kRenamed.end())
    op = renamed->second;
  else
    cut(op, kForms);
  return (gradient ? "gradient of " : "") + std::string(op);
}

}  // namespace lunagrad
