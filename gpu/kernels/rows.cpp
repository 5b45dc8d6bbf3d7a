#include "gpu/kernels/rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/kernels/iteration.h"

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
    across[k] = Tensor(x.storage_ref(), LayoutRef(new Layout(shape, strides)), x.offset(), x.dtype());
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

uint32_t threads_along(uint32_t length) { return std::bit_floor(std::clamp<uint32_t>(length / 4, 1, 256)); }

}  // namespace lunagrad::gpu
