#pragma once
// Matrix products. OpenBLAS (or short_product.h, for short products) computes one panel on one thread. This
// file divides a product into panels for the engine's thread pool, each small enough that a request to stop
// takes effect soon. No other file includes cblas.h, so another BLAS needs changes only in blas.cpp. Any
// thread may call.
#include <cstdint>
#include <string>

#include "runtime/core/shape.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/products/cpu/matrix.h"

namespace lunagrad::blas {

void use_one_thread();  // call it once, before the first product
// OpenBLAS maps a buffer of 128 MiB when a thread calls it, keeps it for the next caller, and waits for ever
// when it cannot map one. This maps the buffers for `threads` threads now, so that a later memory limit of
// the process need not leave room for them. Returns false when this BLAS does not allow it.
bool reserve_buffers(int threads);
std::string description();  // "OpenBLAS Cooperlake"

// C = A B + beta C on the calling thread; A [m, k], B [k, n], C [m, n] with a row stride of ldc elements.
// With beta 0 the old values of C are ignored, NaN included. T is float, double or a complex number of these;
// nothing is conjugated.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t ldc);

// C[i] = activation(A[i] B[i] + bias), or C[i] += A[i] B[i] with `add`, for every item of a batch. bias is
// [n], added to each row; null: none. The items of C are [m, n] and contiguous. a_strides and b_strides are
// the strides between items in elements, 0 where an item is reused.
template <class T>
struct Products {
  int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  const T* bias = nullptr;
  Dims batch;
  Dims a_strides, b_strides;
  bool add = false;                    // add to C; without a bias
  StretchKernel activation = nullptr;  // only for float and double; null: none
};

// On all threads.
template <class T>
void multiply(const Products<T>&);

}  // namespace lunagrad::blas
