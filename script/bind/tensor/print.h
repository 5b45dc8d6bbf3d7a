#pragma once
// Prints a tensor as text: the values in aligned columns, then shape, dtype, device and grad_fn. For a large
// tensor only the first and last positions of each dim are shown. The decimal point is '.' in every locale.
// Call it on the tensor's thread; it waits for the tensor's device.
#include <optional>
#include <string>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // a tensor with more elements is summarised
  int64_t edge_items = 3;    // positions shown at each end of a summarised dim
  int line_width = 100;
  std::optional<bool> scientific = {};  // none: chosen from the values
};

// The options of tostring() on this thread; lg.set_printoptions changes them.
PrintOptions& print_options();

// "tensor([[1., 2.],\n        [3., 4.]], shape=[2, 2], dtype=f32, device=cpu, grad_fn=<add>)"
std::string print_tensor(const Tensor&, const PrintOptions& = {});

}  // namespace lunagrad
