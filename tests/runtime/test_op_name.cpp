// The public names of internal ops.
#include <doctest/doctest.h>

#include <utility>

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
  };
  for (const auto& [internal, shown] : names) {
    CAPTURE(internal);
    CHECK(public_op_name(internal) == shown);
  }
}
