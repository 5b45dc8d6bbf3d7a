#pragma once
// What the dense ops (matmul, conv, pool, norm) share: contiguous operands and checks of operand types. Any
// thread.
#include "runtime/core/op.h"
#include "runtime/ops/elementwise/cpu/copy.h"

namespace lunagrad {

// For kernels: the CPU tensor itself if it is contiguous, else a contiguous copy.
inline Tensor in_order(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor copy = Tensor::empty(x.shape(), x.dtype());
  copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  return copy;
}

// Copies x to `out`, for kernels that then write into the copy. Does nothing in place, where `out` is x.
inline void copy_whole(const Tensor& out, const Tensor& x) {
  if (out.raw() == x.raw() && out.dtype() == x.dtype() && out.strides() == x.strides()) return;
  copy_strided(out.raw(), out.dtype(), out.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
}

// Strides in real numbers from strides in complex numbers.
inline Strides doubled(Strides strides) {
  for (int d = 0; d < strides.size(); ++d) strides[d] *= 2;
  return strides;
}

// For kernels: a contiguous copy of the real (0) or imaginary (1) parts of a complex CPU tensor.
inline Tensor part_in_order(const Tensor& z, int part) {
  const DType type = part_type(z.dtype());
  Tensor copy = Tensor::empty(z.shape(), type);
  copy_strided(copy.raw(), type, copy.strides(),
               static_cast<const char*>(z.raw()) + size_t(part) * item_size(type), type, doubled(z.strides()),
               z.shape());
  return copy;
}

// Error unless all defined operands have the type of the first.
inline void require_same_dtype(const Call& call) {
  for (size_t i = 1; i < call.in.size(); ++i)
    if (call.in[i].defined() && call.in[i].dtype() != call.in[0].dtype())
      fail(call.op->name, ": operands have types ", call.in[0].dtype(), " and ", call.in[i].dtype(),
           "; convert one of them with to()");
}

// Error unless all defined operands have one floating type.
inline void require_floating(const Call& call) {
  if (!is_floating(call.in[0].dtype()))
    fail(call.op->name, ": a floating type is needed (got ", call.in[0].dtype(), ")");
  require_same_dtype(call);
}

}  // namespace lunagrad
