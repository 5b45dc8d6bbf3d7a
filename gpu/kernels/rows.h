#pragma once
// Tensors as rows along one dim, as gpu/shaders/rows.glsl takes them. Pure values.
#include <cstdint>
#include <span>

#include "runtime/tensor.h"

namespace lunagrad::gpu {

struct Rows {
  uint32_t count, extent;
  uint32_t dims;
  uint32_t size[8];
  uint32_t padding;
  int64_t stride[4][8];
  int64_t step[4];
};
static_assert(offsetof(Rows, stride) == 48);

// Up to four tensors of one shape with at least one dim.
Rows rows_along(int dim, std::span<const Tensor* const> tensors);
// How many threads share a row of this length: a power of two.
uint32_t threads_along(uint32_t length);

}  // namespace lunagrad::gpu
