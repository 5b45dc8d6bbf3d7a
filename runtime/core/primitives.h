#pragma once
// The operations that the engine itself calls: the tape sums, casts and compares gradients, run() copies
// operands between devices. ops.h declares the same functions with their default arguments, and runtime/ops/
// implements them. This file keeps the tape independent of all other operations. Each call runs an op record
// (op.h). For the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

Tensor add(const Tensor& a, const Tensor& b);  // operands broadcast
Tensor mul(const Tensor& a, const Tensor& b);
Tensor abs(const Tensor& x);
Tensor conj(const Tensor& x);
Tensor isfinite(const Tensor& x);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor sum(const Tensor&, const Dims& dims, bool keepdim);  // dims {}: all
Tensor all(const Tensor&, const Dims& dims, bool keepdim);
Tensor sum_to(const Tensor&, const Shape&);  // sums the dims that broadcasting added
Tensor real(const Tensor&);                  // a view; returns a real tensor unchanged
Tensor zeros(const Shape&, DType, Device&);
Tensor ones_like(const Tensor&);
Tensor to(const Tensor&, DType);                     // cast; the same tensor when it has the type
Tensor to(const Tensor&, Device&);                   // copy to a device; the same tensor when it is there
Tensor clone(const Tensor&);                         // contiguous copy
Tensor contiguous(const Tensor&);                    // the same tensor when it is contiguous
Tensor copy_(const Tensor& x, const Tensor& value);  // in place; value is broadcast and cast

}  // namespace lunagrad
