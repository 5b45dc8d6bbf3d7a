#pragma once
// The sums of pairs.h on the CPU, for f32 and f64. All threads work on rows of the result. Pure values.
#include <cstdint>

#include "runtime/core/shape.h"
#include "runtime/ops/linalg/cpu/pair_function.h"

namespace lunagrad {

// A batch of matrices of any strides, broadcast to the batch of the result. Null: all elements are 1.
template <class T>
struct Matrices {
  const T* first = nullptr;
  int64_t row = 0, column = 0;
  Strides batch = {};

  // The first element of a matrix.
  const T* item(int64_t i, const Shape& shape) const {
    const T* at = first;
    if (!at) return at;
    for (int d = shape.size() - 1; d >= 0; --d) {
      at += i % shape[d] * batch[d];
      i /= shape[d];
    }
    return at;
  }
};

template <class T>
struct PairCall {
  Shape shape;  // of the batch
  int64_t m, n, k;
  Matrices<T> x1 = {}, x2 = {}, weights = {}, scale = {}, factors = {};
  T* out;
  PairFunction function;
  bool condensed = false;  // weights and scale have one element for each pair (pair_index())
};

template <class T>
struct ColumnSums {
  static void run(const PairCall<T>&);
};
template <class T>
struct RowSums {
  static void run(const PairCall<T>&);
};

}  // namespace lunagrad
