#pragma once
// The routines of LAPACK and of BLAS's triangular solver that lapack.cpp calls, by their Fortran names in
// OpenBLAS, whose headers do not declare them. Fortran's convention: every argument is a pointer, matrices
// are column-major, and the lengths of character arguments come last. Only lapack.cpp includes this file.
#include <complex>
#include <cstddef>

// Real and complex routines with the same arguments: P is the letter of the type T, Q the name of the
// routine that makes Q of a QR factorization.
#define LUNAGRAD_LAPACK_COMMON(P, T, Q)                                                                 \
  void P##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);             \
  void P##getri_(const int* n, T* a, const int* lda, const int* pivots, T* work, const int* lwork,      \
                 int* info);                                                                            \
  void P##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);              \
  void P##trsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,  \
                const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb, size_t, \
                size_t, size_t, size_t);                                                                \
  void P##sytrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work,            \
                 const int* lwork, int* info, size_t);                                                  \
  void P##sytrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda,           \
                 const int* pivots, T* b, const int* ldb, int* info, size_t);                           \
  void P##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork,   \
                 int* info);                                                                            \
  void Q##_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,      \
            const int* lwork, int* info);

#define LUNAGRAD_LAPACK_REAL(P, T)                                                                           \
  LUNAGRAD_LAPACK_COMMON(P, T, P##orgqr)                                                                     \
  void P##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u,              \
                 const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info,   \
                 size_t);                                                                                    \
  void P##gebrd_(const int* m, const int* n, T* a, const int* lda, T* d, T* e, T* tauq, T* taup, T* work,    \
                 const int* lwork, int* info);                                                               \
  void P##bdsdc_(const char* uplo, const char* compq, const int* n, T* d, T* e, T* u, const int* ldu, T* vt, \
                 const int* ldvt, T* q, int* iq, T* work, int* iwork, int* info, size_t, size_t);            \
  void P##ormbr_(const char* vect, const char* side, const char* trans, const int* m, const int* n,          \
                 const int* k, T* a, const int* lda, const T* tau, T* c, const int* ldc, T* work,            \
                 const int* lwork, int* info, size_t, size_t, size_t);                                       \
  void P##gesvd_(const char* job_u, const char* job_vt, const int* m, const int* n, T* a, const int* lda,    \
                 T* s, T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* info,   \
                 size_t, size_t);                                                                            \
  void P##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,       \
                 const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);                \
  void P##geev_(const char* job_left, const char* job_right, const int* n, T* a, const int* lda, T* real,    \
                T* imag, T* left, const int* ldl, T* right, const int* ldr, T* work, const int* lwork,       \
                int* info, size_t, size_t);                                                                  \
  void P##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb,    \
                 int* pivots, const T* rcond, int* rank, T* work, const int* lwork, int* info);              \
  void P##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb,    \
                 T* s, const T* rcond, int* rank, T* work, const int* lwork, int* iwork, int* info);

#define LUNAGRAD_LAPACK_COMPLEX(P, T, R)                                                                  \
  LUNAGRAD_LAPACK_COMMON(P, T, P##ungqr)                                                                  \
  void P##hetrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work,              \
                 const int* lwork, int* info, size_t);                                                    \
  void P##hetrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda,             \
                 const int* pivots, T* b, const int* ldb, int* info, size_t);                             \
  void P##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u,           \
                 const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, R* rwork, int* iwork, \
                 int* info, size_t);                                                                      \
  void P##gesvd_(const char* job_u, const char* job_vt, const int* m, const int* n, T* a, const int* lda, \
                 R* s, T* u, const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, R* rwork, \
                 int* info, size_t, size_t);                                                              \
  void P##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,    \
                 const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info, \
                 size_t, size_t);                                                                         \
  void P##geev_(const char* job_left, const char* job_right, const int* n, T* a, const int* lda, T* w,    \
                T* left, const int* ldl, T* right, const int* ldr, T* work, const int* lwork, R* rwork,   \
                int* info, size_t, size_t);                                                               \
  void P##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, \
                 int* pivots, const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* info); \
  void P##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, \
                 R* s, const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* iwork,        \
                 int* info);

extern "C" {
LUNAGRAD_LAPACK_REAL(s, float)
LUNAGRAD_LAPACK_REAL(d, double)
LUNAGRAD_LAPACK_COMPLEX(c, std::complex<float>, float)
LUNAGRAD_LAPACK_COMPLEX(z, std::complex<double>, double)
}

#undef LUNAGRAD_LAPACK_COMMON
#undef LUNAGRAD_LAPACK_REAL
#undef LUNAGRAD_LAPACK_COMPLEX
