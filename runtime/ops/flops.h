#pragma once
// Counts of floating-point operations that the records of several families share. Pure functions of the
// shapes of a call; any thread.
#include "runtime/core/op.h"

namespace lunagrad {

inline double elements(const Tensor& x) { return x.defined() ? double(x.numel()) : 0; }

// `count` operations for each element of the first output.
template <int count>
double for_results(const Call& call) {
  return count * elements(call.out[0]);
}
// `count` operations for each element of input i.
template <int count, int i = 0>
double for_input(const Call& call) {
  return count * elements(call.in[i]);
}

inline constexpr FlopRule kOnePerResult{for_results<1>, "1 for each element of the result"};
inline constexpr FlopRule kOnePerOperand{for_input<1>, "1 for each element of the operand"};

}  // namespace lunagrad
