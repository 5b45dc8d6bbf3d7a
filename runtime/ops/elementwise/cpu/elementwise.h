#pragma once
// Runs elementwise rows and their gradients on CPU tensors of any strides and dtypes. Called through Op::cpu;
// the thread pool shares the work.
#include "runtime/core/dtype.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {

// The output must be contiguous, or be in[0] itself.
void run_elementwise(const Call&);

// The kernel, types and parameters for a call of an elementwise row.
struct RowWork {
  StretchKernel kernel = nullptr;  // null: the row is not computed for these types
  DType type;                      // of the kernel's operands
  DType result;                    // of the kernel's result
  double params[kMaxRowParams];
};
RowWork row_work(const Call&);

// Whether the kernel can read the memory as `wanted`. A bool is a byte, 0 or 1, and can be read as u8.
inline bool readable_as(DType stored, DType wanted) {
  return stored == wanted || (stored == DType::boolean && wanted == DType::u8);
}

inline constexpr int kMostRowOperands = 5;
inline constexpr int64_t kElementwiseGrain = 32768;         // elements that take about 20 µs
inline constexpr int64_t kElementwisePastCaches = 8 << 20;  // larger outputs (bytes) bypass the caches
inline constexpr double kAbsentOperand[2] = {};             // stands in for an operand that is not read

}  // namespace lunagrad
