#pragma once
// Conversion of contiguous elements from one dtype to another, with the results of convert() (dtype.h),
// compiled for each SIMD target. Pure functions, any thread.
#include <cstdint>

#include "runtime/core/dtype.h"

namespace lunagrad {

using ConvertRow = void (*)(const void* from, void* to, int64_t count);
ConvertRow convert_row(DType to, DType from);

}  // namespace lunagrad
