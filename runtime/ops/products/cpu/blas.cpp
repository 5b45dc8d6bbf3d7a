#include "runtime/ops/products/cpu/blas.h"

#include <cblas.h>

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/products/cpu/blas_kernels.h"
#include "runtime/ops/products/cpu/short_product.h"
#include "runtime/ops/products/cpu/tiny_product.h"

// OpenBLAS exports these functions, the first in builds with threads; no header declares them.
extern "C" {
[[gnu::weak]] int blas_thread_shutdown_();
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);
}

namespace lunagrad::blas {
namespace {

// What is worth another thread, 5 µs: so many operations, or so many bytes of operands and result. Products
// follow each other closely, so the workers are awake.
constexpr double kGrainOperations = 1e6, kGrainBytes = 2e5;
// Operations of a panel, between two checks for a request to stop: 3 ms with AVX-512, 20 ms with SSE.
constexpr double kPanel = 0.6e9;
// The sides of the largest panel. A panel of this size is as efficient as the whole product.
constexpr int64_t kPanelRows = 768, kPanelColumns = 1024, kPanelDepth = 384;
// The columns of a panel are a multiple of this.
constexpr int64_t kPanelUnit = 64;
// The rows of a panel are a multiple of this: BLAS takes 12 or 24 at a time, and the rest with other kernels,
// whose sums are rounded in another way. So the bits do not depend on the number of panels.
constexpr int64_t kRowUnit = 48;
// The multiply-adds of a panel of a few rows: BLAS multiplies these without a copy of the matrix.
constexpr int64_t kFewRows = 4, kFewTerms = 1'000'000;

using c64 = std::complex<float>;
using c128 = std::complex<double>;

// Operations of one multiply-add.
template <class T>
constexpr double kOperations = std::is_floating_point_v<T> ? 2 : 8;

// The time of a product in grains. Products of few rows, columns or terms are limited by memory.
template <class T>
double grains_of(int64_t m, int64_t n, double k) {
  return kOperations<T> * double(m) * double(n) * k / kGrainOperations +
         ((double(m) + double(n)) * k + double(m) * double(n)) * sizeof(T) / kGrainBytes;
}

CBLAS_TRANSPOSE flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void call_gemm(int m, int n, int k, Matrix<float> a, Matrix<float> b, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, 1, a.data, int(a.ld), b.data,
              int(b.ld), beta, c, ldc);
}
void call_gemm(int m, int n, int k, Matrix<double> a, Matrix<double> b, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, 1, a.data, int(a.ld), b.data,
              int(b.ld), beta, c, ldc);
}
void call_gemm(int m, int n, int k, Matrix<c64> a, Matrix<c64> b, c64 beta, c64* c, int ldc) {
  const c64 one = 1;
  cblas_cgemm(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, &one, a.data, int(a.ld), b.data,
              int(b.ld), &beta, c, ldc);
}
void call_gemm(int m, int n, int k, Matrix<c128> a, Matrix<c128> b, c128 beta, c128* c, int ldc) {
  const c128 one = 1;
  cblas_zgemm(CblasRowMajor, flag(a.transposed), flag(b.transposed), m, n, k, &one, a.data, int(a.ld), b.data,
              int(b.ld), &beta, c, ldc);
}

// y += A x, A [m, k].
void call_gemv(int m, int k, Matrix<float> a, const float* x, int x_step, float* y, int y_step) {
  cblas_sgemv(CblasRowMajor, flag(a.transposed), a.transposed ? k : m, a.transposed ? m : k, 1, a.data,
              int(a.ld), x, x_step, 1, y, y_step);
}
void call_gemv(int m, int k, Matrix<double> a, const double* x, int x_step, double* y, int y_step) {
  cblas_dgemv(CblasRowMajor, flag(a.transposed), a.transposed ? k : m, a.transposed ? m : k, 1, a.data,
              int(a.ld), x, x_step, 1, y, y_step);
}
void call_gemv(int m, int k, Matrix<c64> a, const c64* x, int x_step, c64* y, int y_step) {
  const c64 one = 1;
  cblas_cgemv(CblasRowMajor, flag(a.transposed), a.transposed ? k : m, a.transposed ? m : k, &one, a.data,
              int(a.ld), x, x_step, &one, y, y_step);
}
void call_gemv(int m, int k, Matrix<c128> a, const c128* x, int x_step, c128* y, int y_step) {
  const c128 one = 1;
  cblas_zgemv(CblasRowMajor, flag(a.transposed), a.transposed ? k : m, a.transposed ? m : k, &one, a.data,
              int(a.ld), x, x_step, &one, y, y_step);
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The length of a piece when `size` is divided into about `parts` equal pieces: a multiple of `unit`, at most
// `longest`.
int64_t piece(int64_t size, int64_t parts, int64_t unit, int64_t longest) {
  parts = std::max(parts, ceil_div(size, longest));
  return std::min(size, ceil_div(ceil_div(size, parts), unit) * unit);
}

template <class T>
void run_panel(const Products<T>& p, Matrix<T> a, Matrix<T> b, T* c, int64_t rows, int64_t columns,
               const T* bias) {
  T beta = T(p.add);
  if (bias) {
    for (int64_t i = 0; i < rows; ++i) std::copy_n(bias, columns, c + i * p.n);
    beta = 1;
  }
  int64_t depth = p.k;
  if (kOperations<T> * double(rows) * double(columns) * double(p.k) > kPanel)
    depth = std::max<int64_t>(
                1, int64_t(kPanel / kOperations<T> / double(rows) / double(columns)) / kPanelDepth) *
            kPanelDepth;
  for (int64_t done = 0;;) {
    const int64_t now = std::min(depth, p.k - done);
    gemm(rows, columns, now, a.at(0, done), b.at(done, 0), beta, c, p.n);
    done += now;
    beta = 1;
    if (done >= p.k) break;
    context().check_stop();
  }
  // The activation is computed while the panel is in the cache.
  for (int64_t i = 0; p.activation && i < rows; ++i) run_in_place(p.activation, c + i * p.n, columns);
}

// The terms of a piece of a product whose sums are long and whose result is too small for many panels, or 0.
// It depends on the sizes alone: so does the order of the terms.
template <class T>
int64_t piece_of_sums(const Products<T>& p) {
  constexpr int64_t kSmallResult = 1 << 15, kLeastTerms = 256, kMostPieces = 64;
  if (!p.batch.empty() || p.m * p.n > kSmallResult || p.k < 2 * kLeastTerms) return 0;
  const double term = grains_of<T>(p.m, p.n, 1) - grains_of<T>(p.m, p.n, 0);
  const int64_t shortest = std::max({kLeastTerms, int64_t(2 / term), ceil_div(p.k, kMostPieces)});
  const int64_t piece = ceil_div(shortest, kLeastTerms) * kLeastTerms;
  // How BLAS adds up rows that it multiplies by numbers depends on their length: no panels of them.
  const bool adds_rows = (p.m == 1 && !p.b.transposed) || (p.n == 1 && p.a.transposed);
  const int64_t panels = adds_rows ? 1 : ceil_div(std::max(p.m, p.n), kPanelUnit);
  return p.k < 2 * piece || ceil_div(p.k, piece) <= panels ? 0 : piece;
}

template <class T>
void multiply_pieces(const Products<T>& p, int64_t piece) {
  const int64_t pieces = ceil_div(p.k, piece), size = p.m * p.n;
  const Workspace<T> parts(pieces * size);
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) context().check_stop();
      const int64_t first = i * piece;
      gemm(p.m, p.n, std::min(piece, p.k - first), p.a.at(0, first), p.b.at(first, 0), T(0),
           parts.data() + i * size, p.n);
    }
  });
  parallel_for(size, std::max<int64_t>(1, (1 << 15) / pieces), [&](int64_t begin, int64_t end) {
    T* const c = p.c;
    if (p.bias)
      for (int64_t j = begin; j < end; ++j) c[j] = p.bias[j % p.n];
    for (int64_t i = 0; i < pieces; ++i) {
      const T* const part = parts.data() + i * size;
      const bool add = i > 0 || p.add || p.bias;
      for (int64_t j = begin; j < end; ++j) c[j] = add ? c[j] + part[j] : part[j];
    }
    if (p.activation) run_in_place(p.activation, c + begin, end - begin);
  });
}

}  // namespace

// OpenBLAS starts its own threads when it is loaded; idle threads would spin for the first milliseconds of
// every program.
void use_one_thread() {
  openblas_set_num_threads(1);
  if (blas_thread_shutdown_) blas_thread_shutdown_();
}

bool reserve_buffers(int threads) {
  if (!blas_memory_alloc || !blas_memory_free) return false;
  std::vector<void*> buffers;
  for (int i = 0; i < threads; ++i) buffers.push_back(blas_memory_alloc(0));
  for (void* const buffer : buffers) blas_memory_free(buffer);
  return true;
}

std::string description() { return "OpenBLAS " + kernels_in_use(); }

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t ldc) {
  if (std::max({m, n, k, a.ld, b.ld, ldc}) > INT32_MAX)
    fail("matmul: a matrix of more than 2^31 - 1 columns is more than the BLAS library can address");
  if (m == 1 || n == 1 || k == 0) {
    // Some gemv kernels of OpenBLAS multiply the old y by beta even if beta is 0 (NaN stays): clear y first.
    if (beta == T(0))
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
    if (k == 0) return;
    if (n == 1)
      call_gemv(int(m), int(k), a, b.data, b.transposed ? 1 : int(b.ld), c, int(ldc));
    else
      call_gemv(int(n), int(k), {b.data, b.ld, !b.transposed}, a.data, a.transposed ? int(a.ld) : 1, c, 1);
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if ((beta == 0 || beta == 1) && multiply_short(m, n, k, a, b, beta == 1, c, ldc)) return;
    if (const TinyProducts<T> tiny{m, n, k, a, b, c, ldc}; beta == 0 && is_tiny(tiny))
      return multiply_tiny(tiny, 0, 1);
  }
  call_gemm(int(m), int(n), int(k), a, b, beta, c, int(ldc));
}

template <class T>
void multiply(const Products<T>& p) {
  const int64_t items = numel(p.batch);
  const double grains = grains_of<T>(p.m, p.n, double(std::max<int64_t>(p.k, 1)));
  if (const int64_t piece = piece_of_sums(p)) return multiply_pieces(p, piece);
  if (p.batch.empty() && grains < 2) return run_panel(p, p.a, p.b, p.c, p.m, p.n, p.bias);
  const int threads = thread_count();
  if constexpr (std::is_floating_point_v<T>) {
    const TinyProducts<T> tiny{p.m, p.n, p.k, p.a, p.b, p.c, p.n, p.batch, p.a_strides, p.b_strides};
    if (!p.bias && !p.add && !p.activation && p.m > 1 && p.k > 0 && is_tiny(tiny))
      return parallel_for(items, std::max<int64_t>(1, int64_t(1 / grains)),
                          [&](int64_t begin, int64_t end) { multiply_tiny(tiny, begin, end); });
  }

  // Divides each item along its longer side until every thread has a panel.
  int64_t parts = 1;
  if (items < 2 * threads && grains * double(items) >= 2)
    parts = std::clamp<int64_t>(int64_t(grains), 1, ceil_div(threads, items));
  const bool by_columns = p.n >= p.m;
  const int64_t rows = piece(p.m, by_columns ? 1 : parts, kRowUnit, kPanelRows);
  const int64_t widest = p.m < kFewRows ? kFewTerms / std::max<int64_t>(1, p.m * p.k) : kPanelColumns;
  const int64_t columns = piece(p.n, by_columns ? parts : 1, kPanelUnit,
                                std::clamp(widest / kPanelUnit * kPanelUnit, kPanelUnit, kPanelColumns));
  const int64_t down = ceil_div(p.m, rows), across = ceil_div(p.n, columns);

  const int64_t panel_grain = std::max<int64_t>(1, int64_t(double(down * across) / grains));
  parallel_for(items * down * across, panel_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = i / (down * across), panel = i % (down * across);
      const int64_t row = panel / across * rows, column = panel % across * columns;
      Matrix<T> a = p.a, b = p.b;
      a.data += offset_of(item, p.batch, p.a_strides);
      b.data += offset_of(item, p.batch, p.b_strides);
      run_panel(p, a.at(row, 0), b.at(0, column), p.c + item * p.m * p.n + row * p.n + column,
                std::min(rows, p.m - row), std::min(columns, p.n - column),
                p.bias ? p.bias + column : nullptr);
    }
  });
}

template void gemm(int64_t, int64_t, int64_t, Matrix<float>, Matrix<float>, float, float*, int64_t);
template void gemm(int64_t, int64_t, int64_t, Matrix<double>, Matrix<double>, double, double*, int64_t);
template void gemm(int64_t, int64_t, int64_t, Matrix<c64>, Matrix<c64>, c64, c64*, int64_t);
template void gemm(int64_t, int64_t, int64_t, Matrix<c128>, Matrix<c128>, c128, c128*, int64_t);
template void multiply(const Products<float>&);
template void multiply(const Products<double>&);
template void multiply(const Products<c64>&);
template void multiply(const Products<c128>&);

}  // namespace lunagrad::blas
