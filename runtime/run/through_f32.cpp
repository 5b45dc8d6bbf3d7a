#include "runtime/run/through_f32.h"

#include "runtime/core/half_kernels.h"
#include "runtime/core/primitives.h"

namespace lunagrad {

bool has_16bit_kernel(const Call& call) {
  Device& device = call.device();
  DType type = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) {
      if (type != DType::boolean && x.dtype() != type) return false;
      type = x.dtype();
    }
  if (&device == &cpu_device()) return cpu_computes_halves(call);
  Call laid_out = call;
  call.op->shape(laid_out);
  return device.supports(laid_out);
}

void run_through_f32(Call& call) {
  DType narrow = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) narrow = promote(narrow, x.dtype());
  Call wide = call;
  for (Tensor& x : wide.in)
    if (x.defined() && is_16bit_float(x.dtype())) x = to(x, DType::f32);
  run(wide);
  for (const Tensor& y : wide.out) call.out.push_back(y.dtype() == DType::f32 ? to(y, narrow) : y);
}

}  // namespace lunagrad
