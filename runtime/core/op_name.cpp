#include "runtime/core/op_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lunagrad {
namespace {

using Rename = std::pair<std::string_view, std::string_view>;

// Internal ops whose name is not the public op's with something behind it.
constexpr std::array<Rename, 15> kRenamed = {{{"attention", "scaled_dot_product_attention"},
                                              {"attention_mask", "scaled_dot_product_attention"},
                                              {"grouped_attention", "scaled_dot_product_attention"},
                                              {"cast", "to"},
                                              {"to_device", "to"},
                                              {"copy", "copy_"},
                                              {"distance", "cdist"},
                                              {"embedding_bag_sum", "embedding_bag"},
                                              {"lstm_layer", "lstm"},
                                              {"gru_layer", "gru"},
                                              {"pair_column_sums", "cdist"},
                                              {"pair_row_sums", "cdist"},
                                              {"rnn_tanh_layer", "rnn"},
                                              {"rnn_relu_layer", "rnn"},
                                              {"select_once", "select"}}};

// What internal ops have behind the name of the public op.
constexpr std::array<std::string_view, 12> kForms = {"_dtype",    "_alpha",   "_bias",     "_train",
                                                     "_eval",     "_indices", "_pick",     "_options",
                                                     "_rounding", "_value",   "_decimals", "_bounds"};
constexpr std::array<std::string_view, 3> kGradients = {"_grad", "_grad_input", "_grad_weight"};

template <size_t N>
bool cut(std::string_view& name, const std::array<std::string_view, N>& ends) {
  for (const std::string_view end : ends)
    if (name.size() > end.size() && name.ends_with(end)) return name.remove_suffix(end.size()), true;
  return false;
}

}  // namespace

std::string public_op_name(std::string_view op) {
  if (!op.starts_with('_') || op.size() == 1) return std::string(op);
  op.remove_prefix(1);
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
