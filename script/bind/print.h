#pragma once
// Tensors as text for people: values in aligned columns, long dims cut to their ends, then shape, dtype,
// device and place in the tape. The decimal point is '.' whatever the locale. Called on the tensor's thread;
// waits for its device.
#include <string>

#include "runtime/tensor.h"

namespace lunagrad {

struct PrintOptions {
  int precision = 4;         // digits after the point
  int64_t threshold = 1000;  // more elements than this are summarised
  int64_t edge_items = 3;    // how many are shown at each end of a summarised dim
  int line_width = 100;
};

// "tensor([[1., 2.],\n        [3., 4.]], shape=[2, 2], dtype=f32, device=cpu, grad_fn=<add>)"
std::string print_tensor(const Tensor&, const PrintOptions& = {});

}  // namespace lunagrad
