#pragma once
// Operands of deferred calls.
#include "runtime/ops.h"

namespace lunagrad::tests {

inline Tensor numbers(const Shape& shape, DType type = DType::f32) {
  return to(randn(shape, DType::f64), type);
}

}  // namespace lunagrad::tests
