#include "runtime/ops/products/cpu/tiny_product.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/products/cpu/tiny_product.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/products/cpu/tile_product.h"

#ifndef LUNAGRAD_CPU_TINY_PRODUCT_ONCE
#define LUNAGRAD_CPU_TINY_PRODUCT_ONCE
namespace lunagrad::blas {

constexpr int64_t kTinySide = 64;

// C[i, j] = sum over x < k of A[i, x] B[x, j].
template <class T>
struct TinyProduct {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  bool b_turned;  // the columns of B are contiguous, b_row elements apart
  T* c;
  int64_t c_row;
};

}  // namespace lunagrad::blas
#endif

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using blas::TinyProduct;

constexpr int kRows = 4;
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr int kMostVectors = 4;  // with four rows of sums, half of the registers
#else
constexpr int kMostVectors = 2;
#endif

// Rows row … of columns first … first + columns of C. The last vector and the last rows overlap those before:
// what is computed twice has the same bits.
template <int rows, int vectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void tile(D d, const TinyProduct<T>& p, int64_t row, int64_t first, int64_t columns) {
  using V = hn::Vec<D>;
  const int64_t lanes = int64_t(hn::Lanes(d)), last = first + columns - lanes;
  const T* a = p.a + row * p.a_row;
  const T* b = p.b;
  V sums[rows][vectors];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sums[r][v] = hn::Zero(d);
  for (int64_t x = 0; x < p.k; ++x, a += p.a_column, b += p.b_row) {
    V right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      right[v] = hn::LoadU(d, b + (v + 1 < vectors ? first + v * lanes : last));
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const V left = hn::Set(d, a[r * p.a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      hn::StoreU(sums[r][v], d, p.c + (row + r) * p.c_row + (v + 1 < vectors ? first + v * lanes : last));
}

template <int vectors, class D, class T = hn::TFromD<D>>
void rows_of(D d, const TinyProduct<T>& p, int64_t first, int64_t columns) {
  if (p.m < kRows) {
    for (int64_t row = 0; row < p.m; ++row) tile<1, vectors>(d, p, row, first, columns);
    return;
  }
  for (int64_t row = 0; row < p.m; row += kRows)
    tile<kRows, vectors>(d, p, std::min(row, p.m - kRows), first, columns);
}

// Columns in full vectors.
template <class T>
HWY_INLINE void wide(const TinyProduct<T>& p) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t first = 0; first < p.n;) {
    const int64_t left = p.n - first, vectors = (left + lanes - 1) / lanes;
    const int64_t columns = vectors > kMostVectors ? kMostVectors * lanes : left;
    // A single vector of the end may begin before `first`.
    if (vectors == 1)
      rows_of<1>(d, p, first, columns);
    else if (vectors == 2)
      rows_of<2>(d, p, first, columns);
    else if (vectors == 3 && kMostVectors > 2)
      rows_of<std::min(3, kMostVectors)>(d, p, first, columns);
    else
      rows_of<kMostVectors>(d, p, first, columns);
    first += columns;
  }
}

// A row of columns is one vector of `width` elements, or two that overlap.
template <int width, class T>
HWY_INLINE void narrow(const TinyProduct<T>& p) {
  const hn::CappedTag<T, width> d;
  if (p.n == int64_t(hn::Lanes(d)))
    rows_of<1>(d, p, 0, p.n);
  else
    rows_of<2>(d, p, 0, p.n);
}

template <class T>
HWY_INLINE void product(TinyProduct<T> p, T* turned) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  if (p.b_turned) {
    transpose_tile(p.n, p.k, p.b, p.b_row, turned, p.n);
    p.b = turned;
    p.b_row = p.n;
  }
  if (p.n >= kLanes) return wide(p);
  if constexpr (kLanes > 8)
    if (p.n >= 8) return narrow<8>(p);
  if constexpr (kLanes > 4)
    if (p.n >= 4) return narrow<4>(p);
  if constexpr (kLanes > 2) narrow<2>(p);
}

template <class T>
void products(const blas::TinyProducts<T>& p, int64_t begin, int64_t end) {
  HWY_ALIGN T turned[blas::kTinySide * blas::kTinySide];
  const int dims = p.batch.size();
  Dims at(dims, 0);
  int64_t rest = begin;
  for (int d = dims - 1; d >= 0; --d) {
    at[d] = rest % p.batch[d];
    rest /= p.batch[d];
  }
  TinyProduct<T> item{p.m,
                      p.n,
                      p.k,
                      p.a.data + blas::offset_of(begin, p.batch, p.a_strides),
                      p.a.transposed ? 1 : p.a.ld,
                      p.a.transposed ? p.a.ld : 1,
                      p.b.data + blas::offset_of(begin, p.batch, p.b_strides),
                      p.b.ld,
                      p.b.transposed,
                      p.c + begin * p.m * p.n,
                      p.c_row};
  for (int64_t i = begin; i < end; ++i, item.c += p.m * p.n) {
    product(item, turned);
    for (int d = dims - 1; d >= 0; --d) {
      item.a += p.a_strides[d];
      item.b += p.b_strides[d];
      if (++at[d] < p.batch[d]) break;
      item.a -= p.batch[d] * p.a_strides[d];
      item.b -= p.batch[d] * p.b_strides[d];
      at[d] = 0;
    }
  }
}

int64_t lanes_f32() { return int64_t(hn::Lanes(hn::ScalableTag<float>())); }
void products_f32(const blas::TinyProducts<float>& p, int64_t begin, int64_t end) { products(p, begin, end); }
void products_f64(const blas::TinyProducts<double>& p, int64_t begin, int64_t end) {
  products(p, begin, end);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad::blas {
namespace {

HWY_EXPORT(lanes_f32);
HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

constexpr int64_t kTiny = 24 * 24 * 24;  // products m n k, up to which the call takes longer than the sums

}  // namespace

template <class T>
bool is_tiny(const TinyProducts<T>& p) {
  if (p.n < 2 || std::max({p.m, p.n, p.k}) > kTinySide) return false;
  if (p.m * p.n * p.k > kTiny && !p.b.transposed) return false;
  static const bool has_vectors = HWY_DYNAMIC_DISPATCH(lanes_f32)() >= 4;
  return has_vectors;
}

template <class T>
void multiply_tiny(const TinyProducts<T>& p, int64_t begin, int64_t end) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(products_f32)(p, begin, end);
  else
    HWY_DYNAMIC_DISPATCH(products_f64)(p, begin, end);
}

template bool is_tiny(const TinyProducts<float>&);
template bool is_tiny(const TinyProducts<double>&);
template void multiply_tiny(const TinyProducts<float>&, int64_t, int64_t);
template void multiply_tiny(const TinyProducts<double>&, int64_t, int64_t);

}  // namespace lunagrad::blas
#endif
