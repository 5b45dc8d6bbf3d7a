#pragma once
// What the ops without operands share (create.cpp, random.cpp): their parameters, and the device that they
// run on.
#include "runtime/ops/families.h"

namespace lunagrad {

inline const ParamSpec kSize{"size", ParamKind::integers, {}};

DType dtype_or(const Value& given, DType fallback);

// Runs an op without operands on this device.
Tensor create(const Op&, Values params, Device&);

// Runs an op that has the parameters size and dtype, with the shape, dtype and device of operand 0. The
// call's parameter number `dtype_at` may give another dtype.
inline Tensor like(const Op& op, const Call& call, int dtype_at) {
  const Tensor& x = call.input(0);
  return create(op, {Value(x.shape()), dtype_or(call.params[size_t(dtype_at)], x.dtype())}, x.device());
}

}  // namespace lunagrad
