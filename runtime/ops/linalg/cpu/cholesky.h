#pragma once
// The Cholesky factorization of a large matrix on all threads, in blocks: LAPACK factors the blocks of the
// diagonal, and the products between them are divided among the threads. Any thread may call.
#include "runtime/ops/linalg/cpu/lapack.h"

namespace lunagrad {

// a [n, n], row-major: the lower triangle becomes L with a = L L^H; the upper triangle is undefined
// afterwards. A positive result is the order of the leading minor that is not positive. NaN counts as not
// positive.
template <class T>
int factor_cholesky(int64_t n, T* a);

}  // namespace lunagrad
