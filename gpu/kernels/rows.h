#pragma once
// Tensors as rows along one dim, as gpu/shaders/rows.glsl takes them. Pure values.
#include <cstdint>
#include <span>

#include "gpu/context.h"
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

// The same, and how many vectors of four elements each of them holds, 0 when rows are read element by
// element.
struct RowPlan {
  uint32_t along, held;
  uint32_t subgroup = 0;  // its size, where the threads of a row are one or several
  uint32_t together() const { return 256 / along; }  // rows of a work group
};
RowPlan plan_rows(const Rows&, std::span<const Tensor* const>, const PhysicalDevice&);
// The same for rows that lie in order, one after the other.
RowPlan plan_rows(uint32_t length, std::span<const Tensor* const>, const PhysicalDevice&);

}  // namespace lunagrad::gpu
