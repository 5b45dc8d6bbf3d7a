#pragma once
// Matrix products. OpenBLAS, or for short ones short_product.h, does one panel on one thread; the products
// here cut the work into panels for the engine's own pool, each short enough that a request to stop is
// honoured in time. Nothing else includes cblas.h, so another BLAS needs a change in blas.cpp alone. Any
// thread may call.
#include <cstdint>
#include <string>

#include "runtime/cpu/elementwise_kernels.h"
#include "runtime/shape.h"

namespace lunagrad::blas {

void use_one_thread();      // once, before the first product
std::string description();  // "OpenBLAS Cooperlake"

// A matrix with unit stride along its rows or, transposed, along its columns. `ld` is the distance of its
// rows (columns) in elements.
template <class T>
struct Matrix {
  const T* data;
  int64_t ld;
  bool transposed = false;

  Matrix at(int64_t row, int64_t column) const {
    return {data + (transposed ? column * ld + row : row * ld + column), ld, transposed};
  }
};

// C = A B + beta C on the calling thread, A [m, k], B [k, n], C [m, n] with rows ldc apart. With beta 0 what
// C held does not matter, NaN included. T is float, double or a complex number of these; nothing is
// conjugated.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t ldc);

// C[i] = A[i] B[i] (+ bias, a row added to each row; + C[i]) for every item of a batch, to which the
// activation is then applied; C's items are [m, n], one after the other. Strides are those of the items of A
// and B, 0 where one is used again.
template <class T>
struct Products {
  int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  const T* bias = nullptr;
  Dims batch;
  Dims a_strides, b_strides;
  bool add = false;                    // to what C holds; without a bias
  StretchKernel activation = nullptr;  // float and double alone
};

// On all threads.
template <class T>
void multiply(const Products<T>&);

}  // namespace lunagrad::blas
