#pragma once
// Products of matrices with one short side: of a few rows, or of operands that fit into the second-level
// cache. BLAS packs both operands first, which takes as long as such a product. Here the sums stay in
// registers and only the smaller operand is packed. Pure, any thread.
#include "runtime/ops/products/cpu/matrix.h"

namespace lunagrad::blas {

// gemm() of blas.h with beta 0, or 1 with `add`. Returns false and does nothing when BLAS is as fast.
template <class T>
bool multiply_short(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, bool add, T* c, int64_t ldc);

}  // namespace lunagrad::blas
