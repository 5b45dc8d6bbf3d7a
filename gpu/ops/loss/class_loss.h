#pragma once
// What cross_entropy (loss.cpp) and nll_loss (nll.cpp) share.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Parameters of both (runtime/ops/loss/cross_entropy.cpp).
inline constexpr int kIgnoreAt = 0, kReductionAt = 1;

// Whether all operands but the labels are f32; the one before the labels may also be a 16-bit float.
inline bool fits_class_loss(const Call& call, size_t labels) {
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!call.in[i].defined()) continue;
    const DType type = call.in[i].dtype();
    if (i == labels ? is_floating(type) : type != DType::f32 && !(i + 1 == labels && is_16bit_float(type)))
      return false;
  }
  return indexable(call.in[labels - 1]);
}
inline bool supports_class_loss(const Call& call) { return fits_class_loss(call, 1); }
inline bool supports_class_loss_grad(const Call& call) { return fits_class_loss(call, 2); }

}  // namespace lunagrad::gpu
