// The loops of depthwise_kernels.h. A vector holds neighbouring channels, so that neither strides nor short
// rows matter.
#include "runtime/ops/nn/cpu/depthwise_kernels.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/depthwise_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/nn/cpu/blocked_conv_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kOutputs = 8, kTaps = 9;  // sums in registers
constexpr int64_t kPositions = 32;      // positions, at least, whose products are added in registers

template <class T, int outputs>
HWY_INLINE void sum_outputs(const DepthwiseSums<T>& p, const T* x, int64_t lane, T* y) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sums[outputs];
#pragma GCC unroll 8
  for (int i = 0; i < outputs; ++i) sums[i] = hn::LoadU(d, p.bias + lane);
  for (int64_t k = 0; k < p.taps; ++k) {
    const V weight = hn::LoadU(d, p.weights + k * kChannelBlock + lane);
    const T* at = x + p.offsets[k] + lane;
#pragma GCC unroll 8
    for (int i = 0; i < outputs; ++i, at += p.x_column)
      sums[i] = hn::MulAdd(weight, hn::LoadU(d, at), sums[i]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < outputs; ++i) hn::StoreU(sums[i], d, y + i * p.y_column + lane);
}

template <class T>
void sums(const DepthwiseSums<T>& p) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t r = 0; r < p.rows; ++r) {
    const T* const x = p.x + r * p.x_row;
    T* const y = p.y + r * p.y_row;
    for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
      int64_t i = 0;
      for (; i + kOutputs <= p.columns; i += kOutputs)
        sum_outputs<T, kOutputs>(p, x + i * p.x_column, lane, y + i * p.y_column);
      for (; i + 4 <= p.columns; i += 4) sum_outputs<T, 4>(p, x + i * p.x_column, lane, y + i * p.y_column);
      for (; i < p.columns; ++i) sum_outputs<T, 1>(p, x + i * p.x_column, lane, y + i * p.y_column);
    }
  }
}

template <class T, int taps>
HWY_INLINE void sum_taps(const DepthwiseProducts<T>& p, int64_t tap, int64_t lane) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t together = std::max<int64_t>(1, kPositions / std::max<int64_t>(1, p.columns));
  int64_t offsets[taps];
#pragma GCC unroll 16
  for (int k = 0; k < taps; ++k) offsets[k] = p.offsets[tap + k] + lane;
  for (int64_t first = 0; first < p.rows; first += together) {
    V sums[taps];
#pragma GCC unroll 16
    for (int k = 0; k < taps; ++k) sums[k] = hn::Zero(d);
    for (int64_t r = first; r < std::min(p.rows, first + together); ++r) {
      const T* x = p.x + r * p.x_row;
      const T* g = p.g + r * p.columns * kChannelBlock + lane;
      for (int64_t i = 0; i < p.columns; ++i, x += p.x_column, g += kChannelBlock) {
        const V up = hn::LoadU(d, g);
#pragma GCC unroll 16
        for (int k = 0; k < taps; ++k) sums[k] = hn::MulAdd(up, hn::LoadU(d, x + offsets[k]), sums[k]);
      }
    }
#pragma GCC unroll 16
    for (int k = 0; k < taps; ++k) {
      T* const to = p.sums + (tap + k) * kChannelBlock + lane;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sums[k]), d, to);
    }
  }
}

template <class T>
void products(const DepthwiseProducts<T>& p) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
    int64_t tap = 0;
    for (; tap + kTaps <= p.taps; tap += kTaps) sum_taps<T, kTaps>(p, tap, lane);
    for (; tap + 4 <= p.taps; tap += 4) sum_taps<T, 4>(p, tap, lane);
    for (; tap < p.taps; ++tap) sum_taps<T, 1>(p, tap, lane);
  }
}

void sums_f32(const DepthwiseSums<float>& p) { sums(p); }
void sums_f64(const DepthwiseSums<double>& p) { sums(p); }
void products_f32(const DepthwiseProducts<float>& p) { products(p); }
void products_f64(const DepthwiseProducts<double>& p) { products(p); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(sums_f32);
HWY_EXPORT(sums_f64);
HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

}  // namespace

template <class T>
void depthwise_sums(const DepthwiseSums<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(sums_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(sums_f64)(p);
}

template <class T>
void depthwise_products(const DepthwiseProducts<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(products_f32)(p);
  else
    HWY_DYNAMIC_DISPATCH(products_f64)(p);
}

template void depthwise_sums(const DepthwiseSums<float>&);
template void depthwise_sums(const DepthwiseSums<double>&);
template void depthwise_products(const DepthwiseProducts<float>&);
template void depthwise_products(const DepthwiseProducts<double>&);

}  // namespace lunagrad
#endif
