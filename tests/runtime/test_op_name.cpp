// The public names of internal ops.
#include <doctest/doctest.h>

#include <utility>

#include "runtime/core/op.h"
#include "runtime/core/op_name.h"

using namespace lunagrad;

TEST_CASE("internal ops have the name of the public op, gradients of the op that they differentiate") {
  const std::pair<const char*, const char*> names[] = {
      {"relu", "relu"},
      {"_", "_"},
      {"_cross_entropy", "cross_entropy"},
      {"_cross_entropy_grad", "gradient of cross_entropy"},
      {"_attention", "scaled_dot_product_attention"},
      {"_attention_grad", "gradient of scaled_dot_product_attention"},
      {"_attention_mask_grad", "gradient of scaled_dot_product_attention"},
      {"_conv2d_grad_input", "gradient of conv2d"},
      {"_conv2d_grad_weight", "gradient of conv2d"},
      {"_max_pool2d_indices", "max_pool2d"},
      {"_softmax_dtype", "softmax"},
      {"_batch_norm_train", "batch_norm"},
      {"_lstm_layer_grad", "gradient of lstm"},
      {"_cast", "to"},
      {"_as_strided", "as_strided"},
      {"_mul_grad_a", "gradient of mul"},
      {"__bce_logits_grad_b", "gradient of binary_cross_entropy_with_logits"},
      {"_gather_with", "gather"},
      {"_flat_positions", "index"},
      {"_scatter_mean", "scatter_reduce"},
      {"_fold_windows", "gradient of unfold"},
  };
  for (const auto& [internal, shown] : names) {
    CAPTURE(internal);
    CHECK(public_op_name(internal) == shown);
  }
}

TEST_CASE("every gradient is named after the op that it differentiates") {
  int gradients = 0;
  for (const Op* const op : all_ops()) {
    const std::string_view name = op->name;
    const size_t at = name.rfind("_grad");
    const bool is_gradient = at != std::string_view::npos && (at + 5 == name.size() || at + 7 == name.size());
    if (!name.starts_with('_') || !is_gradient) continue;
    ++gradients;
    const std::string shown = public_op_name(name);
    CHECK_MESSAGE(shown.starts_with("gradient of "), name << " is shown as " << shown);
    CHECK_MESSAGE(shown.find("_grad") == std::string::npos, name << " is shown as " << shown);
  }
  CHECK(gradients > 50);
}
