#pragma once
// The innermost loops of the elementwise rows that take complex numbers (takes_complex,
// elementwise/elementwise.h), compiled for each SIMD target. Constant tables and pure functions, any thread.
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {

// Kernels on stretches of complex elements, c64 and c128; g is complex. Results are complex, except for
// conditions (bool) and real-valued rows (real). Null when the row does not take complex numbers.
const RowKernels& complex_kernels(int row);

}  // namespace lunagrad
