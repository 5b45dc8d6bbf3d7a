#pragma once
// For the tensors' thread.
#include "runtime/ops.h"

namespace lunagrad {

// x / max(its 2-norm along dim, eps). Implemented in norm.cpp.
Tensor unit(const Tensor& x, int dim, double eps);

}  // namespace lunagrad
