#include "runtime/ops/linalg/cpu/lapack.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/linalg/cpu/lapack_symbols.h"
#include "runtime/ops/products/cpu/blas.h"

namespace lunagrad::lapack {
namespace {

using c64 = std::complex<float>;
using c128 = std::complex<double>;

// LAPACK's routine for each type: LUNAGRAD_CALL(T, getrf, arguments...)
#define LUNAGRAD_CALL(T, name, ...)               \
  [&] {                                           \
    if constexpr (std::is_same_v<T, float>)       \
      s##name(__VA_ARGS__);                       \
    else if constexpr (std::is_same_v<T, double>) \
      d##name(__VA_ARGS__);                       \
    else if constexpr (std::is_same_v<T, c64>)    \
      c##name(__VA_ARGS__);                       \
    else                                          \
      z##name(__VA_ARGS__);                       \
  }()
#define LUNAGRAD_CALL_REAL(T, name, ...)    \
  [&] {                                     \
    if constexpr (std::is_same_v<T, float>) \
      s##name(__VA_ARGS__);                 \
    else                                    \
      d##name(__VA_ARGS__);                 \
  }()
#define LUNAGRAD_CALL_COMPLEX(T, name, ...) \
  [&] {                                     \
    if constexpr (std::is_same_v<T, c64>)   \
      c##name(__VA_ARGS__);                 \
    else                                    \
      z##name(__VA_ARGS__);                 \
  }()

constexpr int kQuery = -1;

// A workspace size that LAPACK returned as an element: f32 may have rounded it down.
template <class T>
int workspace_size(T answer) {
  const double size = double(std::real(answer)) * (1 + 1e-6) + 1;
  if (!(size < double(INT32_MAX))) fail_as(ErrorKind::memory, "linalg: LAPACK needs too large a workspace");
  return std::max(1, int(size));
}

template <class T>
bool all_finite(int64_t count, const T* values) {
  Part<T> sum = 0;  // x - x is NaN for NaN and infinities
  const auto* const parts = reinterpret_cast<const Part<T>*>(values);
  for (int64_t i = 0; i < count * (is_complex_v<T> ? 2 : 1); ++i) sum += parts[i] - parts[i];
  return sum == 0;
}

int leading(int64_t rows) { return int(std::max<int64_t>(rows, 1)); }

// A negative `info` names an argument: the caller in this file is wrong, or the matrix has NaN.
int checked(const char* routine, int info) {
  if (info < 0) fail("linalg: ", routine, " refuses its argument ", -info);
  return info;
}

}  // namespace

void check_size(const char* op, int64_t m, int64_t n, int64_t factor) {
  if (m > INT32_MAX || n > INT32_MAX || double(m) * double(n) * double(factor) > double(INT32_MAX))
    fail(op, ": a matrix of ", m, " x ", n, " is more than LAPACK can address");
}

namespace {

// The factors of a panel; pivots count from its first row.
template <class T>
int factor_panel(int64_t m, int64_t n, T* a, int64_t lda, int* pivots) {
  const int rows = int(m), columns = int(n), ld = int(lda), k = int(std::min(m, n));
  int info = 0;
  LUNAGRAD_CALL(T, getrf_, &rows, &columns, a, &ld, pivots, &info);
  for (int i = 0; i < k; ++i)  // pivots may be out of range after an overflow
    if (pivots[i] <= i || pivots[i] > rows) pivots[i] = i + 1;
  return checked("getrf", info);
}

// Panel by panel: LAPACK factors `width` columns. Then each group of other columns exchanges its rows; groups
// to the right also solve for their rows of U and subtract L U. The groups depend on the sizes alone.
template <class T>
int factor_lu_by_panels(int64_t m, int64_t n, T* a, int* pivots) {
  constexpr int64_t kWidth = 64;
  const int64_t k = std::min(m, n), group = std::clamp<int64_t>(n / 512 * 64, 64, 256);
  int info = 0;
  for (int64_t at = 0; at < k; at += kWidth) {
    const int64_t width = std::min(kWidth, k - at), below = at + width;
    T* const panel = a + at * m + at;
    int* const exchanged = pivots + at;
    const int failed = factor_panel(m - at, width, panel, m, exchanged);
    if (failed > 0 && info == 0) info = int(at) + failed;
    const int64_t left = (at + group - 1) / group, right = (n - below + group - 1) / group;
    parallel_for(left + right, 1, [&](int64_t begin, int64_t end) {
      const Workspace<T> minus(width * group);
      for (int64_t index = begin; index < end; ++index) {
        const bool before = index >= right;  // the groups with more work come first
        const int64_t first = before ? (index - right) * group : below + index * group;
        const int64_t columns = std::min(group, (before ? at : n) - first);
        for (int64_t j = 0; j < columns; ++j) {
          T* const column = a + (first + j) * m + at;
          for (int64_t i = 0; i < width; ++i) std::swap(column[i], column[exchanged[i] - 1]);
        }
        if (before) continue;
        T* const top = a + first * m + at;
        solve_triangular(false, false, 'N', true, width, columns, panel, m, top, m);
        if (below == m) continue;
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t i = 0; i < width; ++i) minus.data()[j * width + i] = -top[j * m + i];
        // In row-major order the matrices are transposed.
        blas::gemm<T>(columns, m - below, width, {minus.data(), width}, {panel + width, m}, T(1), top + width,
                      m);
      }
    });
    for (int64_t i = 0; i < width; ++i) exchanged[i] += int(at);
  }
  return info;
}

}  // namespace

template <class T>
int factor_lu(int64_t m, int64_t n, T* a, int* pivots) {
  constexpr int64_t kSmall = 192;  // up to this size panels are not worth their loops
  const int64_t k = std::min(m, n);
  // With NaN the search for the largest element may find no row.
  if (!all_finite(m * n, a)) {
    std::fill_n(a, m * n, T(std::numeric_limits<Part<T>>::quiet_NaN()));
    for (int64_t i = 0; i < k; ++i) pivots[i] = int(i + 1);
    return 0;
  }
  return k <= kSmall ? factor_panel(m, n, a, leading(m), pivots) : factor_lu_by_panels(m, n, a, pivots);
}

template <class T>
int invert(int64_t n, T* a, const int* pivots) {
  const int size = int(n), lda = leading(n);
  int info = 0, lwork = kQuery;
  T answer{};
  LUNAGRAD_CALL(T, getri_, &size, a, &lda, pivots, &answer, &lwork, &info);
  lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  LUNAGRAD_CALL(T, getri_, &size, a, &lda, pivots, work.data(), &lwork, &info);
  return checked("getri", info);
}

template <class T>
int cholesky(int64_t n, T* a, int64_t lda, bool upper) {
  const int size = int(n), ld = int(lda);
  int info = 0;
  LUNAGRAD_CALL(T, potrf_, upper ? "U" : "L", &size, a, &ld, &info, 1);
  return checked("potrf", info);
}

template <class T>
int factor_ldl(int64_t n, T* a, int* pivots, bool hermitian) {
  const int size = int(n), lda = leading(n);
  if (!all_finite(n * n, a)) {
    std::fill_n(a, n * n, T(std::numeric_limits<Part<T>>::quiet_NaN()));
    for (int i = 0; i < size; ++i) pivots[i] = i + 1;
    return 0;
  }
  int info = 0;
  const auto run = [&](T* work, int lwork) {
    if constexpr (is_complex_v<T>) {
      if (hermitian) {
        LUNAGRAD_CALL_COMPLEX(T, hetrf_, "L", &size, a, &lda, pivots, work, &lwork, &info, 1);
        return;
      }
    }
    LUNAGRAD_CALL(T, sytrf_, "L", &size, a, &lda, pivots, work, &lwork, &info, 1);
  };
  T answer{};
  run(&answer, kQuery);
  const int lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  run(work.data(), lwork);
  return checked("sytrf", info);
}

template <class T>
void solve_ldl(int64_t n, int64_t columns, const T* a, const int* pivots, T* b, bool hermitian) {
  const int size = int(n), width = int(columns), ld = leading(n);
  int info = 0;
  if constexpr (is_complex_v<T>) {
    if (hermitian) {
      LUNAGRAD_CALL_COMPLEX(T, hetrs_, "L", &size, &width, a, &ld, pivots, b, &ld, &info, 1);
      checked("hetrs", info);
      return;
    }
  }
  LUNAGRAD_CALL(T, sytrs_, "L", &size, &width, a, &ld, pivots, b, &ld, &info, 1);
  checked("sytrs", info);
}

template <class T>
void solve_triangular(bool right, bool upper, char op, bool unit, int64_t m, int64_t n, const T* a,
                      int64_t lda, T* b, int64_t ldb) {
  const int rows = int(m), columns = int(n), ld_a = int(lda), ld_b = int(ldb);
  const T one = 1;
  LUNAGRAD_CALL(T, trsm_, right ? "R" : "L", upper ? "U" : "L", &op, unit ? "U" : "N", &rows, &columns, &one,
                a, &ld_a, b, &ld_b, 1, 1, 1, 1);
}

template <class T>
void factor_qr(int64_t m, int64_t n, T* a, T* tau) {
  const int rows = int(m), columns = int(n), lda = leading(m);
  int info = 0, lwork = kQuery;
  T answer{};
  LUNAGRAD_CALL(T, geqrf_, &rows, &columns, a, &lda, tau, &answer, &lwork, &info);
  lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  LUNAGRAD_CALL(T, geqrf_, &rows, &columns, a, &lda, tau, work.data(), &lwork, &info);
  checked("geqrf", info);
}

template <class T>
void make_q(int64_t m, int64_t columns, int64_t k, T* a, const T* tau) {
  const int rows = int(m), width = int(columns), vectors = int(k), lda = leading(m);
  const auto run = [&](T* work, int lwork) {
    int info = 0;
    if constexpr (is_complex_v<T>)
      LUNAGRAD_CALL_COMPLEX(T, ungqr_, &rows, &width, &vectors, a, &lda, tau, work, &lwork, &info);
    else
      LUNAGRAD_CALL_REAL(T, orgqr_, &rows, &width, &vectors, a, &lda, tau, work, &lwork, &info);
    checked("orgqr", info);
  };
  T answer{};
  run(&answer, kQuery);
  const int lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  run(work.data(), lwork);
}

namespace {

// Whether svd_in_steps computes the singular vectors of a real matrix: it is large, nearly square (LAPACK
// reduces a long matrix to a square first), and its elements need no scaling.
template <class T>
bool takes_steps(int64_t m, int64_t n, const T* a) {
  constexpr int64_t kLeast = 128;
  const int64_t small = std::min(m, n);
  if (small < kLeast || std::max(m, n) >= small * 11 / 6) return false;
  T most = 0;
  for (int64_t i = 0; i < m * n; ++i) most = std::max(most, std::abs(a[i]));
  return most > T(1e-9) && most < T(1e9);
}

// The steps of gesdd: a = Q B P^T with a bidiagonal B, the singular vectors of B, and their products with Q
// and P^T, which two threads compute. u and vt are as in svd.
template <class T>
int svd_in_steps(int64_t m, int64_t n, T* a, T* s, T* u, T* vt, bool full) {
  const int rows = int(m), columns = int(n), lda = leading(m), k = int(std::min(m, n));
  const int u_columns = full ? rows : k, vt_rows = full ? columns : k;
  const Workspace<T> vectors(3 * int64_t(k));
  T *const off_diagonal = vectors.data(), *const tau_q = off_diagonal + k, *const tau_p = tau_q + k;
  int info = 0;
  {
    int lwork = kQuery;
    T answer{};
    LUNAGRAD_CALL_REAL(T, gebrd_, &rows, &columns, a, &lda, s, off_diagonal, tau_q, tau_p, &answer, &lwork,
                       &info);
    lwork = workspace_size(answer);
    const Workspace<T> work(lwork);
    LUNAGRAD_CALL_REAL(T, gebrd_, &rows, &columns, a, &lda, s, off_diagonal, tau_q, tau_p, work.data(),
                       &lwork, &info);
    checked("gebrd", info);
  }
  // The vectors of B are the upper left corners; the other vectors of a full result come from the identity
  // matrix.
  std::fill_n(u, m * u_columns, T(0));
  std::fill_n(vt, n * vt_rows, T(0));
  for (int64_t i = k; i < u_columns; ++i) u[i * m + i] = 1;
  for (int64_t i = k; i < vt_rows; ++i) vt[i * vt_rows + i] = 1;
  {
    const Workspace<T> work(3 * int64_t(k) * k + 4 * int64_t(k));
    const Workspace<int> integers(8 * int64_t(k));
    LUNAGRAD_CALL_REAL(T, bdsdc_, m >= n ? "U" : "L", "I", &k, s, off_diagonal, u, &rows, vt, &vt_rows,
                       static_cast<T*>(nullptr), static_cast<int*>(nullptr), work.data(), integers.data(),
                       &info, 1, 1);
    if (checked("bdsdc", info) > 0) return info;
  }
  // LAPACK may temporarily write to the reflectors: each side has its own copy.
  const Workspace<T> right(m * n);
  std::copy_n(a, m * n, right.data());
  const auto multiply = [&](bool left) {
    int status = 0, lwork = kQuery;
    const auto run = [&](T* work) {
      if (left)
        LUNAGRAD_CALL_REAL(T, ormbr_, "Q", "L", "N", &rows, &u_columns, &columns, a, &lda, tau_q, u, &rows,
                           work, &lwork, &status, 1, 1, 1);
      else
        LUNAGRAD_CALL_REAL(T, ormbr_, "P", "R", "T", &vt_rows, &columns, &rows, right.data(), &lda, tau_p, vt,
                           &vt_rows, work, &lwork, &status, 1, 1, 1);
      checked("ormbr", status);
    };
    T answer{};
    run(&answer);
    lwork = workspace_size(answer);
    const Workspace<T> work(lwork);
    run(work.data());
  };
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t side = begin; side < end; ++side) multiply(side == 0);
  });
  return 0;
}

}  // namespace

template <class T>
int svd(int64_t m, int64_t n, T* a, Part<T>* s, T* u, T* vt, bool full) {
  if constexpr (!is_complex_v<T>)
    if (u && takes_steps(m, n, a)) return svd_in_steps(m, n, a, s, u, vt, full);
  const int rows = int(m), columns = int(n), lda = leading(m), k = int(std::min(m, n));
  const char* const job = !u ? "N" : full ? "A" : "S";
  const int ld_u = leading(m), ld_vt = u && full ? columns : k;
  const Workspace<int> integers(8 * int64_t(k));
  // The real workspace of cgesdd: LAPACK's documentation of LRWORK.
  const int64_t large = std::max(m, n), small = k;
  const int64_t reals =
      std::max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small);
  const Workspace<Part<T>> real_work(is_complex_v<T> ? reals : 1);
  const auto divide_and_conquer = [&](T* work, int lwork) {
    int info = 0;
    if constexpr (is_complex_v<T>)
      LUNAGRAD_CALL_COMPLEX(T, gesdd_, job, &rows, &columns, a, &lda, s, u, &ld_u, vt, &ld_vt, work, &lwork,
                            real_work.data(), integers.data(), &info, 1);
    else
      LUNAGRAD_CALL_REAL(T, gesdd_, job, &rows, &columns, a, &lda, s, u, &ld_u, vt, &ld_vt, work, &lwork,
                         integers.data(), &info, 1);
    return checked("gesdd", info);
  };
  T answer{};
  divide_and_conquer(&answer, kQuery);
  const int lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  return divide_and_conquer(work.data(), lwork);
}

template <class T>
int eigh(int64_t n, T* a, bool upper, Part<T>* w, bool vectors) {
  const int size = int(n), lda = leading(n);
  const char *const job = vectors ? "V" : "N", *const uplo = upper ? "U" : "L";
  int lwork = kQuery, lrwork = kQuery, liwork = kQuery, integer_answer = 0, info = 0;
  T answer{};
  Part<T> real_answer{};
  const auto run = [&](T* work, Part<T>* real_work, int* integers) {
    if constexpr (is_complex_v<T>)
      LUNAGRAD_CALL_COMPLEX(T, heevd_, job, uplo, &size, a, &lda, w, work, &lwork, real_work, &lrwork,
                            integers, &liwork, &info, 1, 1);
    else
      LUNAGRAD_CALL_REAL(T, syevd_, job, uplo, &size, a, &lda, w, work, &lwork, integers, &liwork, &info, 1,
                         1);
    checked("syevd", info);
  };
  run(&answer, &real_answer, &integer_answer);
  lwork = workspace_size(answer);
  lrwork = is_complex_v<T> ? workspace_size(real_answer) : 1;
  liwork = std::max(1, integer_answer);
  const Workspace<T> work(lwork);
  const Workspace<Part<T>> real_work(lrwork);
  const Workspace<int> integers(liwork);
  run(work.data(), real_work.data(), integers.data());
  return info;
}

template <class T>
int eig(int64_t n, T* a, std::complex<Part<T>>* w, std::complex<Part<T>>* v) {
  const int size = int(n), lda = leading(n), one = 1, ld_v = v ? lda : 1;
  const char* const job = v ? "V" : "N";
  int info = 0;
  // dgeev returns real and imaginary parts separately, and each pair of conjugate eigenvectors as two
  // columns, the real and the imaginary part.
  const int64_t reals = is_complex_v<T> ? 2 * n : 2 * n + (v ? n * n : 0);
  const Workspace<Part<T>> parts(reals);
  Part<T>* const real_vectors = parts.data() + 2 * n;
  const auto run = [&](T* work, int lwork) {
    if constexpr (is_complex_v<T>)
      LUNAGRAD_CALL_COMPLEX(T, geev_, "N", job, &size, a, &lda, w, static_cast<T*>(nullptr), &one, v, &ld_v,
                            work, &lwork, parts.data(), &info, 1, 1);
    else
      LUNAGRAD_CALL_REAL(T, geev_, "N", job, &size, a, &lda, parts.data(), parts.data() + n,
                         static_cast<T*>(nullptr), &one, real_vectors, &ld_v, work, &lwork, &info, 1, 1);
    checked("geev", info);
  };
  T answer{};
  run(&answer, kQuery);
  const int lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  run(work.data(), lwork);
  if constexpr (!is_complex_v<T>) {
    const T *const real = parts.data(), *const imag = real + n;
    for (int64_t j = 0; j < n; ++j) w[j] = {real[j], imag[j]};
    for (int64_t j = 0; v && j < n; ++j) {
      const T *const first = real_vectors + j * n, *const second = first + n;
      const bool pair = imag[j] != 0 && j + 1 < n;
      for (int64_t i = 0; i < n; ++i) {
        v[j * n + i] = {first[i], pair ? second[i] : T(0)};
        if (pair) v[(j + 1) * n + i] = {first[i], -second[i]};
      }
      j += pair;
    }
  }
  return info;
}

template <class T>
int least_squares(int64_t m, int64_t n, int64_t columns, T* a, T* b, Part<T> rcond, Part<T>* s,
                  int64_t& rank) {
  const int rows = int(m), unknowns = int(n), right = int(columns), lda = leading(m);
  const int ld_b = leading(std::max(m, n));
  int found = 0, info = 0, integer_answer = 0;
  Part<T> real_answer{};
  T answer{};
  const auto run = [&](T* work, int lwork, Part<T>* real_work, int* integers) {
    if constexpr (is_complex_v<T>) {
      if (s)
        LUNAGRAD_CALL_COMPLEX(T, gelsd_, &rows, &unknowns, &right, a, &lda, b, &ld_b, s, &rcond, &found, work,
                              &lwork, real_work, integers, &info);
      else
        LUNAGRAD_CALL_COMPLEX(T, gelsy_, &rows, &unknowns, &right, a, &lda, b, &ld_b, integers, &rcond,
                              &found, work, &lwork, real_work, &info);
    } else {
      if (s)
        LUNAGRAD_CALL_REAL(T, gelsd_, &rows, &unknowns, &right, a, &lda, b, &ld_b, s, &rcond, &found, work,
                           &lwork, integers, &info);
      else
        LUNAGRAD_CALL_REAL(T, gelsy_, &rows, &unknowns, &right, a, &lda, b, &ld_b, integers, &rcond, &found,
                           work, &lwork, &info);
    }
    checked("gelsy", info);
  };
  run(&answer, kQuery, &real_answer, &integer_answer);
  const int lwork = workspace_size(answer);
  const Workspace<T> work(lwork);
  const Workspace<int> integers(std::max<int64_t>(n, s ? integer_answer : 0));
  const Workspace<Part<T>> real_work(
      std::max<int64_t>(2 * n, s && is_complex_v<T> ? workspace_size(real_answer) : 0));
  std::fill_n(integers.data(), n, 0);  // input of gelsy: every column may be exchanged
  run(work.data(), lwork, real_work.data(), integers.data());
  rank = found;
  return info;
}

#define LUNAGRAD_INSTANTIATE(T)                                                                             \
  template int factor_lu(int64_t, int64_t, T*, int*);                                                       \
  template int invert(int64_t, T*, const int*);                                                             \
  template int cholesky(int64_t, T*, int64_t, bool);                                                        \
  template int factor_ldl(int64_t, T*, int*, bool);                                                         \
  template void solve_ldl(int64_t, int64_t, const T*, const int*, T*, bool);                                \
  template void solve_triangular(bool, bool, char, bool, int64_t, int64_t, const T*, int64_t, T*, int64_t); \
  template void factor_qr(int64_t, int64_t, T*, T*);                                                        \
  template void make_q(int64_t, int64_t, int64_t, T*, const T*);                                            \
  template int svd(int64_t, int64_t, T*, Part<T>*, T*, T*, bool);                                           \
  template int eigh(int64_t, T*, bool, Part<T>*, bool);                                                     \
  template int eig(int64_t, T*, std::complex<Part<T>>*, std::complex<Part<T>>*);                            \
  template int least_squares(int64_t, int64_t, int64_t, T*, T*, Part<T>, Part<T>*, int64_t&);
LUNAGRAD_INSTANTIATE(float)
LUNAGRAD_INSTANTIATE(double)
LUNAGRAD_INSTANTIATE(c64)
LUNAGRAD_INSTANTIATE(c128)

}  // namespace lunagrad::lapack
