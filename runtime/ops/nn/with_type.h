#pragma once
// For kernels: any thread.
#include "runtime/core/op.h"

namespace lunagrad {

// Calls f.template operator()<T>() with the type of the result: double for f64, else float.
template <class F>
void with_type(const Call& call, F&& f) {
  call.output().dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

}  // namespace lunagrad
