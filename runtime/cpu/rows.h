#pragma once
// Iteration over the rows along one dim of contiguous tensors, for kernels that need a contiguous row
// (softmax, losses). If the dim is not the last, tiles of rows are transposed into a buffer, processed and
// transposed back. The thread pool shares the work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/core/shape.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/transpose_kernels.h"

namespace lunagrad {

// A 0-d tensor counts as a tensor of shape [1], as in PyTorch.
inline Shape with_one_dim(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

// A dim of a contiguous tensor as outer x size x inner elements.
struct Split {
  int64_t outer = 1, size = 1, inner = 1;
  Split(const Dims& shape, int dim) {
    for (int i = 0; i < shape.size(); ++i) (i < dim ? outer : i == dim ? size : inner) *= shape[i];
  }
};

// Calls f(row, in, out) for each of the outer * inner rows: in[k] and out point to `size` contiguous
// elements. out may be null. `row` is the row's index in the tensor without the dim.
template <class T, size_t inputs, class F>
void for_rows(const Split& split, const std::array<const T*, inputs>& in, T* out, F&& f) {
  const int64_t n = split.size, inner = split.inner;
  if (inner == 0) return;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(n, 1));
  if (inner == 1) {
    parallel_for(split.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        std::array<const T*, inputs> at;
        for (size_t k = 0; k < inputs; ++k) at[k] = in[k] + row * n;
        f(row, at, out ? out + row * n : nullptr);
      }
    });
    return;
  }
  const int64_t width =
      std::min<int64_t>(inner, std::clamp<int64_t>((1 << 14) / std::max<int64_t>(n, 1), 16, 128));
  const int64_t tiles = (inner + width - 1) / width;
  parallel_for(split.outer * tiles, iterations_in(grain, width), [&](int64_t begin, int64_t end) {
    std::vector<T> rows(size_t(int64_t(inputs + 1) * width * n));
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile % tiles * width, columns = std::min(width, inner - first);
      const int64_t base = tile / tiles * n * inner + first;
      constexpr int64_t kItem = sizeof(T), kSide = 32;  // elements along each side of a transposed tile
      const auto turn = [&](T* to, int64_t to_row, const T* from, int64_t from_column, int64_t block_rows,
                            int64_t block_columns) {
        for (int64_t r = 0; r < block_rows; r += kSide)
          for (int64_t c = 0; c < block_columns; c += kSide)
            transpose_block(to + r * to_row + c, to_row * kItem, from + r + c * from_column,
                            from_column * kItem, std::min(kSide, block_rows - r),
                            std::min(kSide, block_columns - c), kItem);
      };
      for (size_t k = 0; k < inputs; ++k)
        turn(rows.data() + int64_t(k) * width * n, n, in[k] + base, inner, columns, n);
      T* results = rows.data() + int64_t(inputs) * width * n;
      for (int64_t j = 0; j < columns; ++j) {
        std::array<const T*, inputs> at;
        for (size_t k = 0; k < inputs; ++k) at[k] = rows.data() + (int64_t(k) * width + j) * n;
        f(tile / tiles * inner + first + j, at, out ? results + j * n : nullptr);
      }
      if (out) turn(out + base, inner, results, n, n, columns);
    }
  });
}

}  // namespace lunagrad
