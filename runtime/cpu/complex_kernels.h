#pragma once
// The innermost loops of the elementwise rows that take complex numbers (takes_complex,
// elementwise/elementwise.h), compiled for each SIMD target. Constant tables and pure functions, any thread.
#include "runtime/cpu/elementwise_kernels.h"

namespace lunagrad {

// Kernels on stretches (elementwise_kernels.h) of complex elements. Results are complex, except those of
// conditions (bool) and of real-valued rows (real). Null where the row does not take complex numbers.
struct ComplexKernels {
  StretchKernel value[2];        // c64, c128
  StretchKernel gradient[3][2];  // of each operand; g is complex
};
const ComplexKernels& complex_kernels(int row);

}  // namespace lunagrad
