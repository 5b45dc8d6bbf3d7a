#pragma once
// The innermost loops of the elementwise rows that take complex numbers (takes_complex,
// elementwise/elementwise.h), compiled for each SIMD target. Constant tables and pure functions, any thread.
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {

// Kernels on stretches (elementwise_kernels.h) of complex elements. Results are complex, except for
// conditions (bool) and real-valued rows (real). Null when the row does not take complex numbers.
struct ComplexKernels {
  StretchKernel value[2];        // c64, c128
  StretchKernel gradient[3][2];  // for each operand; g is complex
};
const ComplexKernels& complex_kernels(int row);

}  // namespace lunagrad
