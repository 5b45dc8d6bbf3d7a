#include "gpu/ops/linalg/matrices.h"

#include <algorithm>
#include <cstring>

#include "gpu/ops/iteration.h"

namespace lunagrad::gpu {

Shape batch_dims(const Tensor& x) {
  Shape batch;
  for (int d = 0; d < x.ndim() - 2; ++d) batch.push_back(x.shape()[d]);
  return batch;
}

Batch batch_of(const Shape& batch, const Tensor& a, const Tensor& b) {
  const auto firsts = [](const Tensor& x) {
    Strides strides;
    for (int d = 0; d < x.ndim() - 2; ++d) strides.push_back(x.strides()[d]);
    return window(x, batch_dims(x), strides);
  };
  const Tensor of_a = firsts(a), of_b = b.defined() ? firsts(b) : Tensor();
  const Tensor* const visited[] = {&of_a, b.defined() ? &of_b : nullptr};
  const Iteration space = iterate(batch, visited);
  Batch found{};
  found.count = uint32_t(space.count);
  found.dims = uint32_t(std::max(space.dims, 1));
  if (space.dims == 0) {  // matrices of one element, adjacent in memory
    found.size[0] = found.count;
    found.stride[0][0] = found.stride[1][0] = 1;
    return found;
  }
  std::memcpy(found.size, space.size, sizeof found.size);
  std::memcpy(found.stride, space.stride, sizeof found.stride);
  return found;
}

Matrix matrix_of(const Tensor& x, uint64_t memory, bool transposed) {
  const int n = x.ndim();
  Matrix matrix{memory, x.strides()[n - 2], x.strides()[n - 1]};
  if (transposed) std::swap(matrix.row_step, matrix.column_step);
  return matrix;
}

uint32_t most_words(DType type) { return uint32_t(32000 / item_size(type)); }

uint32_t rounded_words(uint32_t needed, DType type) {
  for (const uint32_t words : {256u, 1024u})
    if (needed <= words) return words;
  return most_words(type);
}

int64_t longest_side(DType type) { return is_complex(type) ? 48 : 64; }

bool has_small_matrices(const Tensor& x) {
  if (x.dtype() != DType::f32 && x.dtype() != DType::c64) return false;
  const int64_t longest = longest_side(x.dtype());
  constexpr int64_t kMost = int64_t(1) << 24;
  return x.numel() > 0 && indexable(x) && x.size(-1) <= longest && x.size(-2) <= longest &&
         x.numel() / (x.size(-1) * x.size(-2)) < kMost;
}

}  // namespace lunagrad::gpu
