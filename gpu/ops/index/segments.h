#pragma once
// Reductions by index: rows of a source are added, multiplied or compared with the rows of a target that an
// index selects. The entries of the index are sorted with their positions, then the rows of equal entries,
// which form a segment, are reduced in order, in parts whose length follows from the sizes alone. So the cost
// grows with the source, not with the target or the number of equal entries, and the bits are always the
// same.
#include "gpu/ops/index/indexed_rows.h"

namespace lunagrad::gpu {

enum class Reduction : uint32_t {
  sum = shaders::Segments::kAdd,
  product = shaders::Segments::kProduct,
  largest = shaders::Segments::kLargest,
  smallest = shaders::Segments::kSmallest
};

// target [outer, size, inner] is combined with the reduction of the rows of source [outer, count, inner] that
// go to each of its rows, as in combine.glsl; a sum is multiplied by alpha first. Both are contiguous, f32 or
// integers.
void reduce_by_index(Reduction, const Tensor& target, const Tensor& source, const IndexedRows&, double alpha,
                     Recorder&);
// Rows of the target that get rows of the source become the mean of these rows, and with include_self of
// themselves. `numbers` has the target's shape; the elements of such a row become the number of rows of the
// mean. All are contiguous and f32.
void mean_by_index(const Tensor& target, const Tensor& numbers, const Tensor& source, const IndexedRows&,
                   bool include_self, Recorder&);

}  // namespace lunagrad::gpu
