// The loops of blocked_conv_kernels.h. The sums of a tile stay in registers: as many rows and vectors as the
// SIMD target has room for.
#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/blocked_conv_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/nn/cpu/blocked_conv_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// AVX-512 and 64-bit NEON have 32 vector registers; the other targets have 16.
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr int kMostRows = 12, kProductRows = 8;
#else
constexpr int kMostRows = 6, kProductRows = 4;
#endif
constexpr int kSumVectors = 2, kProductVectors = 3;

template <class T, int rows>
HWY_INLINE void sum_tile(const BlockedSums<T>& p, int64_t row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d)), columns = kSumVectors * lanes;
  T* const y = p.y + row * columns;
  V sums[rows][kSumVectors];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kSumVectors; ++v) sums[r][v] = hn::LoadU(d, y + r * columns + v * lanes);
  const T* weights = p.weights;
  const T* block = p.x + row * kChannelBlock;
  for (int64_t left = p.channels; left > 0; left -= kChannelBlock, block += p.x_block) {
    const int64_t count = std::min(left, kChannelBlock);
    for (int64_t c = 0; c < count; ++c, weights += columns) {
      const V first = hn::LoadU(d, weights), second = hn::LoadU(d, weights + lanes);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const V in = hn::Set(d, block[r * kChannelBlock + c]);
        sums[r][0] = hn::MulAdd(in, first, sums[r][0]);
        sums[r][1] = hn::MulAdd(in, second, sums[r][1]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kSumVectors; ++v) hn::StoreU(sums[r][v], d, y + r * columns + v * lanes);
}

// Calls the function for `rows` rows, from kMostRows down.
template <class T, int most>
HWY_INLINE void sum_some(const BlockedSums<T>& p, int64_t row, int64_t rows) {
  if (rows == most) return sum_tile<T, most>(p, row);
  if constexpr (most > 1) sum_some<T, most - 1>(p, row, rows);
}

template <class T>
void sums(const BlockedSums<T>& p) {
  const int64_t tiles = (p.rows + kMostRows - 1) / kMostRows;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t row = tile * p.rows / tiles, end = (tile + 1) * p.rows / tiles;
    sum_some<T, kMostRows>(p, row, end - row);
  }
}

template <class T, int vectors>
HWY_INLINE void product_tile(const BlockedProducts<T>& p, int64_t channel, int64_t column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const T* g[vectors];
  V sums[kProductRows][vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) {
    const int64_t j = column + v * lanes;
    g[v] = p.g + j / kChannelBlock * p.g_block + j % kChannelBlock;
#pragma GCC unroll 8
    for (int r = 0; r < kProductRows; ++r) sums[r][v] = hn::Zero(d);
  }
  for (const BlockedRun* run = p.runs; run < p.runs + p.run_count; ++run) {
    const T* x = p.x + run->x * kChannelBlock + channel;
    int64_t at = run->g * kChannelBlock;
    for (int64_t i = 0; i < run->count; ++i, x += kChannelBlock, at += kChannelBlock) {
      V up[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) up[v] = hn::LoadU(d, g[v] + at);
#pragma GCC unroll 8
      for (int r = 0; r < kProductRows; ++r) {
        const V in = hn::Set(d, x[r]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(in, up[v], sums[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kProductRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      T* const to = p.sums + (channel + r) * p.sums_step + column + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sums[r][v]), d, to);
    }
}

template <class T>
void products(const BlockedProducts<T>& p) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t channel = 0; channel < kChannelBlock; channel += kProductRows)
    for (int64_t column = 0; column < p.columns;) {
      const int64_t left = (p.columns - column) / lanes;
      const int64_t vectors = left == 4 ? 2 : std::min<int64_t>(left, kProductVectors);
      if (vectors == 3)
        product_tile<T, 3>(p, channel, column);
      else if (vectors == 2)
        product_tile<T, 2>(p, channel, column);
      else
        product_tile<T, 1>(p, channel, column);
      column += vectors * lanes;
    }
}

int64_t lanes_f32() { return int64_t(hn::Lanes(hn::ScalableTag<float>())); }
int64_t lanes_f64() { return int64_t(hn::Lanes(hn::ScalableTag<double>())); }
void sums_f32(const BlockedSums<float>& p) { sums(p); }
void sums_f64(const BlockedSums<double>& p) { sums(p); }
void products_f32(const BlockedProducts<float>& p) { products(p); }
void products_f64(const BlockedProducts<double>& p) { products(p); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(lanes_f32);
HWY_EXPORT(lanes_f64);
HWY_EXPORT(sums_f32);
HWY_EXPORT(sums_f64);
HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

int64_t lanes(bool f64) {
  return f64 ? HWY_DYNAMIC_DISPATCH(lanes_f64)() : HWY_DYNAMIC_DISPATCH(lanes_f32)();
}

}  // namespace

int64_t blocked_columns(bool f64) { return 2 * lanes(f64); }

template <class T>
void blocked_sums(const BlockedSums<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(sums_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(sums_f64)(p);
}

template <class T>
void blocked_products(const BlockedProducts<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(products_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(products_f64)(p);
}

template void blocked_sums(const BlockedSums<float>&);
template void blocked_sums(const BlockedSums<double>&);
template void blocked_products(const BlockedProducts<float>&);
template void blocked_products(const BlockedProducts<double>&);

}  // namespace lunagrad
#endif
