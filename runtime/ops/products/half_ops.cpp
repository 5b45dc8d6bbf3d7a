#include "runtime/ops/products/half_ops.h"

#include "runtime/core/half_kernels.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"

namespace lunagrad {

bool cpu_computes_halves(const Call& call) {
  return call.in[0].defined() && call.in[0].dtype() == DType::bf16 && bf16_kernel() &&
         (is_bf16_product(call) || is_bf16_convolution(call));
}

}  // namespace lunagrad
