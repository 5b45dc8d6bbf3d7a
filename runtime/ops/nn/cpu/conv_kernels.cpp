// The loops of conv_kernels.h. The blocks are as large as the registers of the SIMD target allow: each loaded
// input is multiplied by `rows` weights, each weight by `spans` inputs.
#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/conv_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/nn/cpu/conv_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// AVX-512 and 64-bit NEON have 32 vector registers; the other targets have 16.
#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
constexpr int kMostRows = 8;
#else
constexpr int kMostRows = 4;
#endif

template <class T, int rows, int spans>
HWY_INLINE void sum_block(const ConvSums<T>& p, int64_t row, const ConvSpan* span) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sums[rows][spans];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int s = 0; s < spans; ++s) sums[r][s] = p.bias ? hn::Set(d, p.bias[row + r]) : hn::Zero(d);
  const T* weights = p.weights + row;
  const T* x = p.x;
  for (int64_t c = 0; c < p.channels; ++c, x += p.x_stride)
    for (int64_t k = 0; k < p.taps; ++k, weights += p.width) {
      const T* const at = x + p.offsets[k];
      V in[spans];
#pragma GCC unroll 8
      for (int s = 0; s < spans; ++s) in[s] = hn::LoadU(d, at + span[s].x);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const V weight = hn::Set(d, weights[r]);
#pragma GCC unroll 8
        for (int s = 0; s < spans; ++s) sums[r][s] = hn::MulAdd(weight, in[s], sums[r][s]);
      }
    }
  const int64_t valid = p.rows - row;
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    if (r >= valid) break;
#pragma GCC unroll 8
    for (int s = 0; s < spans; ++s) hn::StoreU(sums[r][s], d, p.y + (row + r) * p.y_stride + span[s].y);
  }
}

template <class T, int rows, int spans>
void sum_spans(const ConvSums<T>& p, int64_t row) {
  int64_t i = 0;
  for (; i + spans <= p.span_count; i += spans) sum_block<T, rows, spans>(p, row, p.spans + i);
  for (; i < p.span_count; ++i) sum_block<T, rows, 1>(p, row, p.spans + i);
}

template <class T>
void sums(const ConvSums<T>& p) {
  if (p.width == 1) return sum_spans<T, 1, 4>(p, 0);
  for (int64_t row = 0; row < p.rows;) {
    if (p.rows - row > 4 && kMostRows == 8) {
      sum_spans<T, kMostRows, 3>(p, row);
      row += 8;
    } else {
      sum_spans<T, 4, 3>(p, row);
      row += 4;
    }
  }
}

// out[j] = the sum of the lanes of v[j] for four vectors.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void lane_sums(D d, const V* v, hn::TFromD<D>* out) {
#if HWY_TARGET != HWY_SCALAR
  // Transposes within each block of 128 bits and adds the blocks: a quarter of the shuffles of four separate
  // sums.
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::Repartition<uint64_t, D> pairs;
    const auto ab = hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
    const auto cd = hn::Add(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
    const auto low = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, cd));
    const auto high = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, cd));
    HWY_ALIGN float blocks[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)), d, blocks);
    const hn::CappedTag<float, 4> block;
    auto sum = hn::Load(block, blocks);
    for (size_t i = 4; i < hn::Lanes(d); i += 4) sum = hn::Add(sum, hn::Load(block, blocks + i));
    hn::StoreU(sum, block, out);
    return;
  }
#endif
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) out[i] = hn::GetLane(hn::SumOfLanes(d, v[i]));
}

template <class T, int rows, int taps>
HWY_INLINE void product_block(const ConvProducts<T>& p, int64_t row, int64_t tap) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kSums = (rows * taps + 3) / 4 * 4;
  V sums[kSums];
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i) sums[i] = hn::Zero(d);
  const int64_t lanes = int64_t(hn::Lanes(d));
  for (int64_t piece = 0; piece < p.pieces; ++piece) {
    const T* const g = p.g + piece * p.g_piece + row * p.g_stride;
    const T* const x = p.x + piece * p.x_piece;
    const T* at[taps];
#pragma GCC unroll 16
    for (int k = 0; k < taps; ++k) at[k] = x + p.offsets[tap + k];
    for (int64_t i = 0; i < p.length; i += lanes) {
      V up[rows];
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) up[r] = hn::LoadU(d, g + r * p.g_stride + i);
#pragma GCC unroll 16
      for (int k = 0; k < taps; ++k) {
        const V in = hn::LoadU(d, at[k] + i);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r) sums[r * taps + k] = hn::MulAdd(up[r], in, sums[r * taps + k]);
      }
    }
  }
  T out[kSums];
#pragma GCC unroll 8
  for (int i = 0; i < kSums; i += 4) lane_sums(d, sums + i, out + i);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
    for (int k = 0; k < taps; ++k) p.sums[(row + r) * p.sums_stride + tap + k] += out[r * taps + k];
}

template <class T, int rows, int taps>
void product_taps(const ConvProducts<T>& p, int64_t row) {
  int64_t tap = 0;
  for (; tap + taps <= p.taps; tap += taps) product_block<T, rows, taps>(p, row, tap);
  for (; tap + 3 <= p.taps; tap += 3) product_block<T, rows, 3>(p, row, tap);
  for (; tap < p.taps; ++tap) product_block<T, rows, 1>(p, row, tap);
}

template <class T>
void products(const ConvProducts<T>& p) {
  int64_t row = 0;
  for (; row + 4 <= p.rows; row += 4) product_taps<T, 4, kMostRows == 8 ? 6 : 3>(p, row);
  for (; row < p.rows; ++row) product_taps<T, 1, 9>(p, row);
}

int64_t lanes_f32() { return int64_t(hn::Lanes(hn::ScalableTag<float>())); }
int64_t lanes_f64() { return int64_t(hn::Lanes(hn::ScalableTag<double>())); }
void sums_f32(const ConvSums<float>& p) { sums(p); }
void sums_f64(const ConvSums<double>& p) { sums(p); }
void products_f32(const ConvProducts<float>& p) { products(p); }
void products_f64(const ConvProducts<double>& p) { products(p); }

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

}  // namespace

int64_t conv_lanes(bool f64) {
  return f64 ? HWY_DYNAMIC_DISPATCH(lanes_f64)() : HWY_DYNAMIC_DISPATCH(lanes_f32)();
}

template <class T>
void conv_sums(const ConvSums<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(sums_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(sums_f64)(p);
}

template <class T>
void conv_products(const ConvProducts<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(products_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(products_f64)(p);
}

template void conv_sums(const ConvSums<float>&);
template void conv_sums(const ConvSums<double>&);
template void conv_products(const ConvProducts<float>&);
template void conv_products(const ConvProducts<double>&);

}  // namespace lunagrad
#endif
