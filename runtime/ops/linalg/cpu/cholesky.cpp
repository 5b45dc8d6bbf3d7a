#include "runtime/ops/linalg/cpu/cholesky.h"

#include <cmath>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/products/cpu/blas.h"

namespace lunagrad {
namespace {

constexpr int64_t kBlock = 128, kTile = 192;

// LAPACK sees the transpose of a row-major matrix, so the lower triangle L is its upper triangle L^T. For a
// Hermitian a, a^T = conj(a) = (L^T)^H L^T.
template <class T>
int factor_block(int64_t n, T* a, int64_t ld) {
  const int info = lapack::cholesky(n, a, ld, true);
  if (info > 0) return info;
  for (int64_t i = 0; i < n; ++i)
    if (!(std::real(a[i * ld + i]) > 0)) return int(i + 1);
  return 0;
}

// -conj(x), the right operand of the update a -= l l^H.
template <class T>
T minus_conjugate(T x) {
  if constexpr (is_complex_v<T>)
    return -std::conj(x);
  else
    return -x;
}

// For the rows below block [at, at + width): l := a l_block^-H, and -conj(l) to `minus` [rows, width].
template <class T>
void solve_panel(int64_t n, T* a, int64_t at, int64_t width, T* minus) {
  const int64_t below = at + width;
  parallel_for(n - below, 16, [&](int64_t begin, int64_t end) {
    T* const rows = a + (below + begin) * n + at;
    lapack::solve_triangular(false, true, 'C', false, width, end - begin, a + at * n + at, n, rows, n);
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < width; ++j) minus[i * width + j] = minus_conjugate(rows[(i - begin) * n + j]);
  });
}

// a -= l l^H in the lower triangle of the remaining rows and columns, tile by tile.
template <class T>
void update_rest(int64_t n, T* a, int64_t at, int64_t width, const T* minus) {
  const int64_t below = at + width, rest = n - below, tiles = (rest + kTile - 1) / kTile;
  parallel_for(tiles * (tiles + 1) / 2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      int64_t down = 0;
      while ((down + 1) * (down + 2) / 2 <= index) ++down;
      const int64_t row = down * kTile, column = (index - down * (down + 1) / 2) * kTile;
      blas::gemm<T>(std::min(kTile, rest - row), std::min(kTile, rest - column), width,
                    {a + (below + row) * n + at, n}, {minus + column * width, width, true}, T(1),
                    a + (below + row) * n + below + column, n);
    }
  });
}

}  // namespace

template <class T>
int factor_cholesky(int64_t n, T* a) {
  if (n <= 2 * kBlock) return factor_block(n, a, n);
  const Workspace<T> minus(n * kBlock);
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t width = std::min(kBlock, n - at);
    const int info = factor_block(width, a + at * n + at, n);
    if (info > 0) return int(at) + info;
    if (at + width == n) break;
    solve_panel(n, a, at, width, minus.data());
    update_rest(n, a, at, width, minus.data());
  }
  return 0;
}

template int factor_cholesky(int64_t, float*);
template int factor_cholesky(int64_t, double*);
template int factor_cholesky(int64_t, std::complex<float>*);
template int factor_cholesky(int64_t, std::complex<double>*);

}  // namespace lunagrad
