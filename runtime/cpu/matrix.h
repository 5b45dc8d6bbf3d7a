#pragma once
// A matrix operand of the products in blas.h and short_product.h. Pure value; does not own the elements.
#include <cstdint>

namespace lunagrad::blas {

// Unit stride along its rows or, transposed, along its columns. `ld` is the distance between its rows
// (columns) in elements.
template <class T>
struct Matrix {
  const T* data;
  int64_t ld;
  bool transposed = false;

  Matrix at(int64_t row, int64_t column) const {
    return {data + (transposed ? column * ld + row : row * ld + column), ld, transposed};
  }
};

}  // namespace lunagrad::blas
