#pragma once
// Products of matrices that lie in the second-level cache and of which one side is short: BLAS packs both
// operands first, which takes as long as such a product itself. Here the sums stay in registers and only the
// smaller operand is packed. Pure, any thread.
#include "runtime/cpu/blas.h"

namespace lunagrad::blas {

// As gemm(), for beta 0 and 1 (`add`). False, and nothing done, where BLAS is as fast.
template <class T>
bool multiply_short(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, bool add, T* c, int64_t ldc);

}  // namespace lunagrad::blas
