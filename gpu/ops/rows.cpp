#include "gpu/ops/rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/ops/iteration.h"

namespace lunagrad::gpu {

Rows rows_along(int dim, std::span<const Tensor* const> tensors) {
  Rows rows{};
  Tensor across[4];
  const Tensor* visited[4];
  Shape shape;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& x = *tensors[k];
    shape = x.shape();
    Strides strides = x.strides();
    if (!shape.empty()) {
      rows.extent = uint32_t(shape[dim]);
      rows.step[k] = strides[dim];
      shape.erase(dim);
      strides.erase(dim);
    } else {
      rows.extent = 1;
    }
    across[k] = window(x, shape, strides);
    visited[k] = &across[k];
  }
  const Iteration space = iterate(shape, std::span(visited, tensors.size()));
  rows.count = uint32_t(space.count);
  rows.dims = uint32_t(std::max(space.dims, 1));
  if (space.dims == 0) {
    rows.size[0] = rows.count;
    for (size_t k = 0; k < tensors.size(); ++k) rows.stride[k][0] = 1;
  } else {
    std::memcpy(rows.size, space.size, sizeof rows.size);
    std::memcpy(rows.stride, space.stride, sizeof rows.stride);
  }
  return rows;
}

uint32_t threads_along(uint32_t length) {
  return std::bit_floor(std::clamp<uint32_t>(length / 4, 1, kGroupSize));
}

uint32_t whole_subgroups(const PhysicalDevice& physical) {
  return physical.subgroup_sums && kGroupSize % physical.subgroup_size == 0 ? physical.subgroup_size : 0;
}

namespace {

constexpr uint32_t kMostHeld = 8;  // vectors: 32 registers

RowPlan plan(uint32_t length, bool in_fours, const PhysicalDevice& physical) {
  const uint32_t subgroup = whole_subgroups(physical);
  if (!in_fours || length / 4 > kGroupSize * kMostHeld) {
    const uint32_t along = threads_along(length);
    return {along, 0, along >= subgroup ? subgroup : 0};
  }
  const uint32_t fours = length / 4;
  if (subgroup && fours >= subgroup && fours <= subgroup * kMostHeld)
    return {subgroup, (fours + subgroup - 1) / subgroup, subgroup};
  // A quarter as many invocations as vectors, so that the loads of an invocation overlap.
  const uint32_t along = std::clamp<uint32_t>(std::bit_ceil(fours) / 4, 1, kGroupSize);
  return {along, (fours + along - 1) / along, along >= subgroup ? subgroup : 0};
}

bool is_float(const Tensor& x) { return x.dtype() == DType::f32 || is_16bit_float(x.dtype()); }
bool is_aligned(const Tensor& x) { return is_float(x) && x.offset() % 4 == 0; }

}  // namespace

bool can_move_in_fours(const Rows& rows, std::span<const Tensor* const> tensors) {
  return lie_in_fours(rows, tensors) &&
         std::all_of(tensors.begin(), tensors.end(), [](const Tensor* x) { return is_float(*x); });
}
bool lie_in_fours(const Rows& rows, std::span<const Tensor* const> tensors) {
  bool in_fours = rows.extent % 4 == 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    in_fours = in_fours && tensors[k]->offset() % 4 == 0 && rows.step[k] == 1;
    for (uint32_t d = 0; d < rows.dims; ++d)
      in_fours = in_fours && (rows.size[d] == 1 || rows.stride[k][d] % 4 == 0);
  }
  return in_fours;
}

RowPlan plan_rows(const Rows& rows, std::span<const Tensor* const> tensors, const PhysicalDevice& physical) {
  return plan(rows.extent, can_move_in_fours(rows, tensors), physical);
}
RowPlan plan_rows(uint32_t length, std::span<const Tensor* const> tensors, const PhysicalDevice& physical) {
  const bool begin_well = std::all_of(tensors.begin(), tensors.end(),
                                      [](const Tensor* x) { return !x->defined() || is_aligned(*x); });
  return plan(length, length % 4 == 0 && begin_well, physical);
}

}  // namespace lunagrad::gpu
