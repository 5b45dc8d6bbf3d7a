#pragma once
// Tensors as rows along one dim, for gpu/ops/glsl/rows.glsl. Pure values.
#include <cstdint>
#include <span>

#include "gpu/ops/kernels.h"

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

// The rows along `dim` of up to four tensors of one shape.
Rows rows_along(int dim, std::span<const Tensor* const> tensors);
// How many invocations share a row: a power of two, at most kGroupSize.
uint32_t threads_along(uint32_t length);
// Whether all rows can be accessed four elements at a time: they are f32 or 16-bit floats, and their elements
// are adjacent and begin at multiples of four.
bool can_move_in_fours(const Rows&, std::span<const Tensor* const>);
// The same for elements of any type.
bool lie_in_fours(const Rows&, std::span<const Tensor* const>);
// The subgroup size if workgroups are whole subgroups that combine their values, else 0.
uint32_t whole_subgroups(const PhysicalDevice&);

struct RowPlan {
  uint32_t along;         // invocations per row
  uint32_t held;          // vectors of four elements that each invocation holds in registers; 0: none
  uint32_t subgroup = 0;  // the subgroup size if a row's invocations are whole subgroups, else 0
  uint32_t together() const { return kGroupSize / along; }  // rows of a workgroup
};
RowPlan plan_rows(const Rows&, std::span<const Tensor* const>, const PhysicalDevice&);
// The same for rows of contiguous tensors.
RowPlan plan_rows(uint32_t length, std::span<const Tensor* const>, const PhysicalDevice&);

}  // namespace lunagrad::gpu
