#pragma once
// The matrix products that `lunagrad bench --tune` measures: those of training steps, and even ones.
#include <string>
#include <vector>

#include "runtime/context.h"
#include "runtime/dtype.h"

namespace lunagrad {

struct TunedProduct {
  int64_t m, n, k, batch = 1;
  const char* layout = "NN";  // T: the operand is transposed in memory
  DType dtype = DType::f32;
  MatmulPrecision precision = MatmulPrecision::highest;

  std::string name() const;  // "128 x 1024 x 784 NT f32 high"
};

// Few and small ones for a device without a GPU, where the large ones would take minutes.
std::vector<TunedProduct> products_to_tune(bool small);

}  // namespace lunagrad
