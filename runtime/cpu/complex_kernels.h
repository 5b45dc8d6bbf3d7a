#pragma once
// The innermost loops of the elementwise rows that have a complex meaning (takes_complex,
// elementwise/elementwise.h), compiled for each SIMD target. Constant tables and pure functions, any thread.
#include "runtime/cpu/elementwise_kernels.h"

namespace lunagrad {

// Stretches (elementwise_kernels.h) of complex elements. Results are complex too, but for conditions, which
// are bytes, and for the values of the rows that are real-valued. Null where the row has no complex meaning.
struct ComplexKernels {
  StretchKernel value[2];        // c64, c128
  StretchKernel gradient[3][2];  // of each operand; g is complex
};
const ComplexKernels& complex_kernels(int row);

}  // namespace lunagrad
