#include "runtime/run/through_f32.h"

#include "runtime/core/primitives.h"
#include "runtime/ops/half_ops.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"

namespace lunagrad {

bool has_16bit_kernel(const Call& call) {
  Device& device = call.device();
  DType type = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) {
      if (type != DType::boolean && x.dtype() != type) return false;
      type = x.dtype();
    }
  if (&device == &cpu_device() && is_pairs_of_rows(call)) return true;
  if (&device == &cpu_device())
    return call.in[0].defined() && call.in[0].dtype() == DType::bf16 && bf16_kernel() &&
           (is_bf16_product(call) || is_bf16_convolution(call));
  Call laid_out = call;
  call.op->shape(laid_out);
  return device.supports(laid_out);
}

void run_through_f32(Call& call) {
  DType type = DType::boolean;
  for (const Tensor& x : call.in)
    if (x.defined() && is_floating(x.dtype())) type = promote(type, x.dtype());
  Call upcast = call;
  for (Tensor& x : upcast.in)
    if (x.defined() && is_16bit_float(x.dtype())) x = to(x, DType::f32);
  run(upcast);
  for (const Tensor& y : upcast.out) call.out.push_back(y.dtype() == DType::f32 ? to(y, type) : y);
}

}  // namespace lunagrad
