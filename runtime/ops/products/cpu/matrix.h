#pragma once
// A matrix operand of the products in blas.h and short_product.h, and the offsets of a batch's items. Pure
// values; they do not own the elements.
#include <cstdint>

#include "runtime/core/shape.h"

namespace lunagrad::blas {

// The rows have unit stride; if transposed, the columns. `ld` is the distance between rows (columns) in
// elements.
template <class T>
struct Matrix {
  const T* data;
  int64_t ld;
  bool transposed = false;

  Matrix at(int64_t row, int64_t column) const {
    return {data + (transposed ? column * ld + row : row * ld + column), ld, transposed};
  }
};

// The elements between the first item of a batch and item `item`, by the strides between items.
inline int64_t offset_of(int64_t item, const Dims& batch, const Dims& strides) {
  int64_t offset = 0;
  for (int d = batch.size() - 1; d >= 0; --d) {
    offset += item % batch[d] * strides[d];
    item /= batch[d];
  }
  return offset;
}

}  // namespace lunagrad::blas
