#pragma once
// Products of matrices so small that a call of BLAS takes longer than their sums; batches have thousands of
// them. Pure, any thread.
#include "runtime/ops/products/cpu/matrix.h"

namespace lunagrad::blas {

// A batch of products C[i] = A[i] B[i]; see Products in blas.h. The items of C are contiguous.
template <class T>
struct TinyProducts {
  int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  int64_t c_row;  // elements between the rows of C; n for a batch of several
  Dims batch = {}, a_strides = {}, b_strides = {};
};

// Whether multiply_tiny() is faster than BLAS.
template <class T>
bool is_tiny(const TinyProducts<T>&);
// Computes the items begin … end of the batch.
template <class T>
void multiply_tiny(const TinyProducts<T>&, int64_t begin, int64_t end);

}  // namespace lunagrad::blas
