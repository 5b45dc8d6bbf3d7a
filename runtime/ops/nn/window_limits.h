#pragma once
// Limits of the sizes, strides, paddings and dilations of windows: positions and sizes that are computed from
// them fit 64 bits, and 32 bits of a GPU. Pure; any thread.
#include "runtime/core/error.h"
#include "runtime/core/shape.h"

namespace lunagrad {

inline constexpr const char* kSpatialAxes[] = {"W", "H, W", "D, H, W"};  // of 1 to 3 spatial dims

inline constexpr int64_t kLongestStep = (int64_t(1) << 30) - 1;

// Error when a number of the list is not in least … kLongestStep.
inline void check_steps(const char* op, const char* name, const Dims& list, int64_t least) {
  for (const int64_t step : list) {
    if (step < least) fail(op, ": ", name, " must be at least ", least, " (got ", list, ")");
    if (step > kLongestStep) fail(op, ": ", name, " must be at most ", kLongestStep, " (got ", list, ")");
  }
}

}  // namespace lunagrad
