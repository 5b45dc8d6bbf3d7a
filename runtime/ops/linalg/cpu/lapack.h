#pragma once
// Factorizations of one matrix by LAPACK, which OpenBLAS contains, on the calling thread. Matrices are
// column-major with a leading dimension equal to their rows (at least 1) and are overwritten where a comment
// says so. No size may be 0. Workspace comes from the CPU device. A positive result is LAPACK's `info`: the
// index at which it failed. No other file calls LAPACK. Any thread may call.
//
// T is float, double or a complex number of these.
#include <cstdint>

#include "runtime/core/dtype.h"

namespace lunagrad::lapack {

// Error unless LAPACK's 32-bit integers can address a matrix of m x n and the workspace, `factor` times it.
void check_size(const char* op, int64_t m, int64_t n, int64_t factor = 1);

// On all threads. a [m, n] = P L U: overwritten by L below the diagonal and U. pivots [min(m, n)]: row i was
// exchanged with row pivots[i], counted from 1. Positive result: U has a zero there. If the matrix has NaN or
// infinities, every element becomes NaN.
template <class T>
int factor_lu(int64_t m, int64_t n, T* a, int* pivots);
// The inverse, from the result of factor_lu.
template <class T>
int invert(int64_t n, T* a, const int* pivots);

// a [n, n] = L L^H, or U^H U; only this triangle is read and written. Positive result: the order of the
// leading minor that is not positive.
template <class T>
int cholesky(int64_t n, T* a, int64_t lda, bool upper);

// a [n, n] = P L D L^T P^T, or with L^H if `hermitian`: the lower triangle is read and overwritten by L and
// the blocks of D. pivots [n]: negative in a block of two rows, counted from 1. Positive result: D has a zero
// there. If the matrix has NaN or infinities, every element becomes NaN.
template <class T>
int factor_ldl(int64_t n, T* a, int* pivots, bool hermitian);
// b [n, columns] := A^-1 b, from the result of factor_ldl.
template <class T>
void solve_ldl(int64_t n, int64_t columns, const T* a, const int* pivots, T* b, bool hermitian);

// b [m, n] := op(a)^-1 b, or b op(a)^-1 if `right`, for a triangular matrix a; op is nothing, transposition
// ('T') or conjugate transposition ('C').
template <class T>
void solve_triangular(bool right, bool upper, char op, bool unit, int64_t m, int64_t n, const T* a,
                      int64_t lda, T* b, int64_t ldb);

// a [m, n]: overwritten by R and the Householder vectors; tau [min(m, n)].
template <class T>
void factor_qr(int64_t m, int64_t n, T* a, T* tau);
// The first `columns` columns of Q from k Householder vectors in a [m, columns].
template <class T>
void make_q(int64_t m, int64_t columns, int64_t k, T* a, const T* tau);

// a [m, n] = u diag(s) vt, overwritten. full: u [m, m], vt [n, n]; else u [m, k], vt [k, n], k = min(m, n).
// u null: s only.
template <class T>
int svd(int64_t m, int64_t n, T* a, Part<T>* s, T* u, T* vt, bool full);

// Eigenvalues w [n] of a symmetric or Hermitian matrix in ascending order; vectors: a becomes the
// eigenvectors.
template <class T>
int eigh(int64_t n, T* a, bool upper, Part<T>* w, bool vectors);

// Eigenvalues w [n] and, unless null, right eigenvectors v [n, n] of norm 1; a is overwritten.
template <class T>
int eig(int64_t n, T* a, std::complex<Part<T>>* w, std::complex<Part<T>>* v);

// The least-squares solution of smallest norm of a [m, n] x = b [max(m, n), columns], which overwrites the
// first n rows of b. Singular values below rcond times the largest count as 0. s [min(m, n)]: the singular
// values; null: a pivoted QR factorization is used instead, which is faster.
template <class T>
int least_squares(int64_t m, int64_t n, int64_t columns, T* a, T* b, Part<T> rcond, Part<T>* s,
                  int64_t& rank);

}  // namespace lunagrad::lapack
