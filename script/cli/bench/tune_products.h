#pragma once
// The matrix products that `lunagrad bench --tune` measures: products of training steps, of square matrices
// and of long and thin matrices, and batches. Pure.
#include <string>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/dtype.h"

namespace lunagrad {

struct TunedProduct {
  int64_t m, n, k, batch = 1;
  const char* layout = "NN";  // T: the operand is transposed in memory
  DType dtype = DType::f32;
  MatmulPrecision precision = MatmulPrecision::highest;

  std::string name() const;  // "128 x 1024 x 784 NT f32 high"
};

// The products to measure. `small`: only a few small products, for a device that computes on the CPU and
// would take minutes for all.
std::vector<TunedProduct> products_to_tune(bool small);

}  // namespace lunagrad
