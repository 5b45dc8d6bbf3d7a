#include "runtime/ops/products/cpu/short_product.h"

#include <algorithm>
#include <type_traits>

#include "runtime/cpu/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/products/cpu/short_product.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/products/cpu/tile_product.h"

#ifndef LUNAGRAD_CPU_SHORT_PRODUCT_ONCE
#define LUNAGRAD_CPU_SHORT_PRODUCT_ONCE
namespace lunagrad::blas {

// C[i, j] (+)= sum over x < k of A[i, x] B[x, j]. The rows of B are contiguous.
template <class T>
struct ShortProduct {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  bool add;
  T* c;
  int64_t c_row;
  bool turned;  // C is transposed: C[i, j] is c[j * c_row + i]
};

// C[i, j] (+)= sum over x < k of A[i, x] B[j, x]. The rows of A and B are contiguous.
template <class T>
struct DotProducts {
  int64_t m, n, k;
  const T* a;
  int64_t a_row;
  const T* b;
  int64_t b_row;
  bool add;
  T* c;
  int64_t c_row, c_column;
};

}  // namespace lunagrad::blas
#endif

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using blas::DotProducts;
using blas::ShortProduct;

// Rows and vectors of a tile of sums. With a row of B and one element of A they fill the registers.
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr int kRows = 8;
#else
constexpr int kRows = 4;
#endif
constexpr int kVectors = 3;
constexpr int64_t kDepth = 192;  // terms accumulated in one pass: their part of B fits the first-level cache
constexpr int64_t kBlock = 16;   // rows of A that are packed together: at least a vector

// C (+)= A B for one tile. A is packed: its rows are the columns of a [k, kBlock] block.
template <class T, int vectors>
HWY_INLINE void sum_tile(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t b_row, bool add,
                         T* HWY_RESTRICT c, int64_t c_row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  V sums[kRows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      sums[r][v] = add ? hn::LoadU(d, c + r * c_row + v * lanes) : hn::Zero(d);
  for (int64_t x = 0; x < k; ++x, a += kBlock, b += b_row) {
    V right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, a[r]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) hn::StoreU(sums[r][v], d, c + r * c_row + v * lanes);
}

template <class T>
HWY_INLINE void sum_columns(int64_t vectors, int64_t k, const T* a, const T* b, int64_t b_row, bool add, T* c,
                            int64_t c_row) {
  if (vectors == 3) return sum_tile<T, 3>(k, a, b, b_row, add, c, c_row);
  if (vectors == 2) return sum_tile<T, 2>(k, a, b, b_row, add, c, c_row);
  sum_tile<T, 1>(k, a, b, b_row, add, c, c_row);
}

// Packs A in blocks of kBlock rows, each as [k, kBlock]; rows after the last are 0.
template <class T>
void pack_rows(const ShortProduct<T>& p, int64_t first, int64_t depth, T* to) {
  for (int64_t row = 0; row < p.m; row += kBlock, to += depth * kBlock) {
    const T* const from = p.a + row * p.a_row + first * p.a_column;
    const int64_t rows = std::min(kBlock, p.m - row);
    if (p.a_column == 1)
      transpose_tile(rows, depth, from, p.a_row, to, kBlock);
    else if (rows == kBlock)
      for (int64_t x = 0; x < depth; ++x) std::copy_n(from + x * p.a_column, kBlock, to + x * kBlock);
    else
      for (int64_t x = 0; x < depth; ++x) {
        std::copy_n(from + x * p.a_column, rows, to + x * kBlock);
        std::fill_n(to + x * kBlock + rows, kBlock - rows, T(0));
      }
  }
}

template <class T>
struct Buffers {
  T tile[kBlock * kVectors * HWY_LANES(T)];
  T turned[kBlock * kVectors * HWY_LANES(T)];
};

// to[i] (+)= from[i]
template <class T>
HWY_INLINE void put(const T* from, int64_t count, bool add, T* to) {
  if (add)
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
  else
    std::copy_n(from, count, to);
}

template <class T>
void product(const ShortProduct<T>& p) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t blocks = (p.m + kBlock - 1) / kBlock, deepest = std::min(p.k, kDepth);
  const Workspace<T> packed(blocks * kBlock * deepest), edge(deepest * kVectors * lanes);
  HWY_ALIGN Buffers<T> buffers;
  for (int64_t first = 0; first < p.k; first += kDepth) {
    const int64_t depth = std::min(kDepth, p.k - first);
    const bool add = p.add || first > 0;
    pack_rows(p, first, depth, packed.data());
    for (int64_t j = 0; j < p.n;) {
      const int64_t left = (p.n - j + lanes - 1) / lanes;
      const int64_t vectors = left == 4 ? 2 : std::min<int64_t>(left, kVectors), width = vectors * lanes;
      const int64_t valid = std::min(width, p.n - j);
      const T* b = p.b + first * p.b_row + j;
      int64_t b_row = p.b_row;
      if (valid < width) {
        for (int64_t x = 0; x < depth; ++x) {
          std::copy_n(b + x * p.b_row, valid, edge.data() + x * width);
          std::fill_n(edge.data() + x * width + valid, width - valid, T(0));
        }
        b = edge.data();
        b_row = width;
      }
      for (int64_t i = 0; i < p.m; i += kBlock) {
        const T* const a = packed.data() + i * depth;
        const int64_t rows = std::min(kBlock, p.m - i);
        const bool straight = !p.turned && rows == kBlock && valid == width;
        T* const sums = straight ? p.c + i * p.c_row + j : buffers.tile;
        const int64_t step = straight ? p.c_row : width;
        for (int64_t r = 0; r < rows; r += kRows)
          sum_columns(vectors, depth, a + r, b, b_row, add && straight, sums + r * step, step);
        if (straight) continue;
        if (p.turned) {
          transpose_tile(rows, valid, buffers.tile, width, buffers.turned, kBlock);
          for (int64_t x = 0; x < valid; ++x)
            put(buffers.turned + x * kBlock, rows, add, p.c + (j + x) * p.c_row + i);
        } else {
          for (int64_t r = 0; r < rows; ++r)
            put(buffers.tile + r * width, valid, add, p.c + (i + r) * p.c_row + j);
        }
      }
      j += width;
    }
  }
}

// The sums of rows of A times rows of B. Each sum has accumulators of its own, so that its bits do not depend
// on how the rows are grouped.
template <class T, int rows, int columns>
HWY_INLINE void dot_tile(const DotProducts<T>& p, int64_t i, int64_t j) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const T *const a = p.a + i * p.a_row, *const b = p.b + j * p.b_row;
  V sums[rows][columns];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < columns; ++v) sums[r][v] = hn::Zero(d);
  int64_t x = 0;
  for (; x + lanes <= p.k; x += lanes) {
    V right[columns];
#pragma GCC unroll 4
    for (int v = 0; v < columns; ++v) right[v] = hn::LoadU(d, b + v * p.b_row + x);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const V left = hn::LoadU(d, a + r * p.a_row + x);
#pragma GCC unroll 4
      for (int v = 0; v < columns; ++v) sums[r][v] = hn::MulAdd(left, right[v], sums[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < columns; ++v) {
      T sum = hn::GetLane(hn::SumOfLanes(d, sums[r][v]));
      for (int64_t y = x; y < p.k; ++y) sum += a[r * p.a_row + y] * b[v * p.b_row + y];
      T& to = p.c[(i + r) * p.c_row + (j + v) * p.c_column];
      to = p.add ? to + sum : sum;
    }
}
template <class T, int columns>
HWY_INLINE void dot_columns(const DotProducts<T>& p, int64_t j) {
  constexpr int kTile = kRows / 2;
  int64_t i = 0;
  for (; i + kTile <= p.m; i += kTile) dot_tile<T, kTile, columns>(p, i, j);
  for (; i < p.m; ++i) dot_tile<T, 1, columns>(p, i, j);
}
template <class T>
void dot_products(const DotProducts<T>& p) {
  int64_t j = 0;
  for (; j + 4 <= p.n; j += 4) dot_columns<T, 4>(p, j);
  for (; j < p.n; ++j) dot_columns<T, 1>(p, j);
}
void dot_f32(const DotProducts<float>& p) { dot_products(p); }
void dot_f64(const DotProducts<double>& p) { dot_products(p); }

int64_t lanes_f32() { return int64_t(hn::Lanes(hn::ScalableTag<float>())); }
void product_f32(const ShortProduct<float>& p) { product(p); }
void product_f64(const ShortProduct<double>& p) { product(p); }
void turn_f32(int64_t rows, int64_t columns, const float* from, int64_t step, float* to, int64_t width) {
  transpose_tile(rows, columns, from, step, to, width);
}
void turn_f64(int64_t rows, int64_t columns, const double* from, int64_t step, double* to, int64_t width) {
  transpose_tile(rows, columns, from, step, to, width);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad::blas {
namespace {

HWY_EXPORT(lanes_f32);
HWY_EXPORT(product_f32);
HWY_EXPORT(product_f64);
HWY_EXPORT(turn_f32);
HWY_EXPORT(turn_f64);
HWY_EXPORT(dot_f32);
HWY_EXPORT(dot_f64);

constexpr int64_t kShort = 64;               // the largest length of a short side
constexpr int64_t kLeast = 8;                // fewest rows; fewer would fill a block badly
constexpr double kSmall = 1e6;               // products m n k, up to which BLAS has kernels that do not pack
constexpr int64_t kOperandBytes = 1 << 20;   // largest size of an operand
constexpr int64_t kLeastDots = 64;           // fewest terms of a sum of products along rows
constexpr int64_t kLeastFew = 4, kFew = 16;  // rows of an operand beside which the other is read once

}  // namespace

// C, or C^T, by dot products of m rows of `few` and n rows of `many`.
template <class T>
bool multiply_dots(int64_t m, int64_t n, int64_t k, Matrix<T> few, Matrix<T> many, bool add, T* c,
                   int64_t c_row, int64_t c_column) {
  const Workspace<T> packed(few.transposed ? m * k : 0);
  const T* rows = few.data;
  int64_t row = few.ld;
  if (few.transposed) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t x = 0; x < k; ++x) packed.data()[i * k + x] = few.data[x * few.ld + i];
    rows = packed.data();
    row = k;
  }
  const DotProducts<T> p{m, n, k, rows, row, many.data, many.ld, add, c, c_row, c_column};
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(dot_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(dot_f64)(p);
  return true;
}

template <class T>
bool multiply_short(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, bool add, T* c, int64_t ldc) {
  // A few rows times the rows of the other operand, which are read once.
  if (b.transposed && k >= kLeastDots) {
    if (m <= kFew) return multiply_dots(m, n, k, a, b, add, c, ldc, 1);
    if (n <= kFew && !a.transposed) return multiply_dots(n, m, k, {b.data, b.ld, false}, a, add, c, 1, ldc);
  }
  const bool few = m >= kLeastFew && m <= kFew && k >= kLeastDots;
  if (!few) {
    if (m < kLeast || n < kLeast || (m > kShort && (k > kShort || b.transposed))) return false;
    if (double(m) * double(n) * double(k) <= kSmall) return false;
    if (std::max(m, n) * k > kOperandBytes / int64_t(sizeof(T))) return false;
  }
  static const bool has_vectors = HWY_DYNAMIC_DISPATCH(lanes_f32)() >= 4;
  if (!has_vectors) return false;
  const auto run = [](const ShortProduct<T>& p) {
    if constexpr (std::is_same_v<T, float>)
      HWY_DYNAMIC_DISPATCH(product_f32)(p);
    else
      HWY_DYNAMIC_DISPATCH(product_f64)(p);
    return true;
  };
  if (!b.transposed)
    return run({m, n, k, a.data, a.transposed ? 1 : a.ld, a.transposed ? a.ld : 1, b.data, b.ld, add, c, ldc,
                false});
  // C^T = B^T A^T.
  if (a.transposed) return run({n, m, k, b.data, b.ld, 1, a.data, a.ld, add, c, ldc, true});
  const int64_t width = (m + 15) / 16 * 16;
  const Workspace<T> turned(k * width);
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(turn_f32)(m, k, a.data, a.ld, turned.data(), width);
  else
    HWY_DYNAMIC_DISPATCH(turn_f64)(m, k, a.data, a.ld, turned.data(), width);
  return run({n, m, k, b.data, b.ld, 1, turned.data(), width, add, c, ldc, true});
}

template bool multiply_short(int64_t, int64_t, int64_t, Matrix<float>, Matrix<float>, bool, float*, int64_t);
template bool multiply_short(int64_t, int64_t, int64_t, Matrix<double>, Matrix<double>, bool, double*,
                             int64_t);

}  // namespace lunagrad::blas
#endif
