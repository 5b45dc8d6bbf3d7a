// The loops of pool.h: general windows one by one, and the common 2 x 2 windows with SIMD.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/pool_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/nn/cpu/conv_tile.h"
#include "runtime/ops/nn/cpu/pool.h"
#include "runtime/ops/nn/cpu/pool_taps.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Whether v replaces the current maximum: it is larger, or NaN (Highway's Ne(v, v) is false for NaN on
// AVX-512).
template <class V>
HWY_INLINE auto replaces(V v, V largest) {
  return hn::Or(hn::Gt(v, largest), hn::IsNaN(v));
}

// Calls f(tag, i) over [0, count): full vectors, then halves and quarters of vectors, because rows are often
// short.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t count, F&& f) {
  int64_t i = 0;
  const auto run = [&](auto d) HWY_ATTR {
    const int64_t lanes = int64_t(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes) f(d, i);
  };
  run(hn::ScalableTag<T>());
  run(hn::CappedTag<T, 8>());
  run(hn::CappedTag<T, 4>());
  run(hn::CappedTag<T, 1>());
}

// `count` adjacent windows of two rows.
template <class T>
void max_2x2(const T* top, const T* bottom, int64_t count, T* y) {
  for_vectors<T>(count, [&](auto d, int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> largest, v, left, right;
    hn::LoadInterleaved2(d, top + 2 * i, largest, v);
    hn::LoadInterleaved2(d, bottom + 2 * i, left, right);
    largest = hn::IfThenElse(replaces(v, largest), v, largest);
    largest = hn::IfThenElse(replaces(left, largest), left, largest);
    largest = hn::IfThenElse(replaces(right, largest), right, largest);
    hn::StoreU(largest, d, y + i);
  });
}

// Writes both rows of dx: the gradient where the window takes the element, 0 elsewhere.
template <class T>
void scatter_2x2(const T* g, const T* top, const T* bottom, int64_t count, T* dtop, T* dbottom) {
  for_vectors<T>(count, [&](auto d, int64_t i) HWY_ATTR {
    const auto zero = hn::Zero(d);
    hn::Vec<decltype(d)> a, b, c, e;
    hn::LoadInterleaved2(d, top + 2 * i, a, b);
    hn::LoadInterleaved2(d, bottom + 2 * i, c, e);
    auto rest = hn::LoadU(d, g + i);  // gradients whose element was not found yet
    const auto take_b = replaces(b, a);
    auto largest = hn::IfThenElse(take_b, b, a);
    const auto take_c = replaces(c, largest);
    largest = hn::IfThenElse(take_c, c, largest);
    const auto take_e = replaces(e, largest);
    const auto de = hn::IfThenElse(take_e, rest, zero);
    rest = hn::IfThenElse(take_e, zero, rest);
    const auto dc = hn::IfThenElse(take_c, rest, zero);
    rest = hn::IfThenElse(take_c, zero, rest);
    const auto db = hn::IfThenElse(take_b, rest, zero);
    rest = hn::IfThenElse(take_b, zero, rest);
    hn::StoreInterleaved2(rest, db, d, dtop + 2 * i);
    hn::StoreInterleaved2(dc, de, d, dbottom + 2 * i);
  });
}

template <class T>
void max_taps(const PoolTaps& taps, const T* x, T* y) {
  for (int64_t r = 0; r < taps.rows; ++r, x += taps.row_length, y += taps.columns)
    for_vectors<T>(taps.columns, [&](auto d, int64_t i) HWY_ATTR {
      auto largest = hn::LoadU(d, x + taps.offsets[0] + i);
      for (int64_t k = 1; k < taps.count; ++k) {
        const auto v = hn::LoadU(d, x + taps.offsets[k] + i);
        largest = hn::IfThenElse(replaces(v, largest), v, largest);
      }
      hn::StoreU(largest, d, y + i);
    });
}

// Adds g to the element of dx (unfolded like x) that each window takes. `first` is the tap that a window
// takes when no element is above -infinity: the first tap inside the plane, or -1.
template <class T>
void scatter_taps(const PoolTaps& taps, const T* g, const T* x, const T* first, T* dx) {
  for (int64_t r = 0; r < taps.rows; ++r) {
    for_vectors<T>(taps.columns, [&](auto d, int64_t i) HWY_ATTR {
      auto largest = hn::Neg(hn::Inf(d)), taken = hn::LoadU(d, first + i);
      for (int64_t k = 0; k < taps.count; ++k) {
        const auto v = hn::LoadU(d, x + taps.offsets[k] + i);
        const auto takes = replaces(v, largest);
        largest = hn::IfThenElse(takes, v, largest);
        taken = hn::IfThenElse(takes, hn::Set(d, T(k)), taken);
      }
      const auto up = hn::LoadU(d, g + i);
      for (int64_t k = 0; k < taps.count; ++k) {
        T* const at = dx + taps.offsets[k] + i;
        hn::StoreU(hn::Add(hn::LoadU(d, at), hn::IfThenElseZero(hn::Eq(taken, hn::Set(d, T(k))), up)), d, at);
      }
    });
    x += taps.row_length, dx += taps.row_length, g += taps.columns, first += taps.columns;
  }
}

void max_taps_f32(const PoolTaps& taps, const float* x, float* y) { max_taps(taps, x, y); }
void max_taps_f64(const PoolTaps& taps, const double* x, double* y) { max_taps(taps, x, y); }
void scatter_taps_f32(const PoolTaps& taps, const float* g, const float* x, const float* first, float* dx) {
  scatter_taps(taps, g, x, first, dx);
}
void scatter_taps_f64(const PoolTaps& taps, const double* g, const double* x, const double* first,
                      double* dx) {
  scatter_taps(taps, g, x, first, dx);
}
void max_2x2_f32(const float* top, const float* bottom, int64_t count, float* y) {
  max_2x2(top, bottom, count, y);
}
void max_2x2_f64(const double* top, const double* bottom, int64_t count, double* y) {
  max_2x2(top, bottom, count, y);
}
void scatter_2x2_f32(const float* g, const float* top, const float* bottom, int64_t count, float* dtop,
                     float* dbottom) {
  scatter_2x2(g, top, bottom, count, dtop, dbottom);
}
void scatter_2x2_f64(const double* g, const double* top, const double* bottom, int64_t count, double* dtop,
                     double* dbottom) {
  scatter_2x2(g, top, bottom, count, dtop, dbottom);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(max_taps_f32);
HWY_EXPORT(max_taps_f64);
HWY_EXPORT(scatter_taps_f32);
HWY_EXPORT(scatter_taps_f64);
HWY_EXPORT(max_2x2_f32);
HWY_EXPORT(max_2x2_f64);
HWY_EXPORT(scatter_2x2_f32);
HWY_EXPORT(scatter_2x2_f64);

constexpr int64_t kGrain = 16384;  // elements read by windows

// Whether the windows have two elements and stride 2, so that each element is in at most one.
bool in_pairs(const PoolAxis& axis) {
  for (int64_t i = 0; i < axis.out(); ++i)
    if (axis.windows[size_t(i)].start != 2 * i || axis.windows[size_t(i)].count != 2) return false;
  return axis.dilation == 1;
}
bool is_2x2(const PoolGeometry& p) { return in_pairs(p.rows) && in_pairs(p.columns); }

int64_t largest_window(const PoolAxis& axis) {
  int64_t largest = 1;
  for (const PoolWindow& window : axis.windows) largest = std::max(largest, window.count);
  return largest;
}

int64_t grain_of(const PoolGeometry& p) {
  const int64_t work =
      std::max<int64_t>(p.in_size() + 1, p.out_size() * largest_window(p.rows) * largest_window(p.columns));
  return iterations_in(kGrain, work);
}

template <class F>
void for_planes(const PoolGeometry& p, F&& f) {
  parallel_for(p.planes, grain_of(p), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) f(plane);
  });
}

// Windows with at most this many taps are computed tap by tap, many windows at once.
constexpr int64_t kMostTaps = 32;
bool by_taps(const PoolGeometry& p) { return p.kernel && p.kernel->kernel_size() <= kMostTaps; }

// Calls f(plane, taps, unfolded x, memory for its gradient) for all planes, padded with -infinity.
template <class T, class F>
void for_tiles(const PoolGeometry& p, const T* x, F&& f) {
  const ConvGeometry& g = *p.kernel;
  const ConvTiling tiling(g, INT64_MAX / 2, sizeof(T));
  const ConvTiling::Band band = tiling.band(g, 0);
  const PoolTaps taps{tiling.offsets.data(), int64_t(tiling.offsets.size()), tiling.row_length, g.out[1],
                      g.out[2]};
  parallel_for(p.planes, grain_of(p), [&](int64_t begin, int64_t end) {
    const Workspace<T> tile(2 * tiling.channel);
    for (int64_t plane = begin; plane < end; ++plane) {
      unfold_tile(g, tiling, band, x + plane * p.in_size(), 1, 0, tile.data(),
                  -std::numeric_limits<T>::infinity());
      f(plane, tiling, taps, tile.data(), tile.data() + tiling.channel);
    }
  });
}

// The first tap of a window that is inside the axis, or -1.
int64_t first_tap(const PoolAxis& axis, const ConvGeometry& g, size_t d, int64_t window) {
  const PoolWindow& w = axis.windows[size_t(window)];
  return w.count ? (w.start - window * g.stride[d] + g.padding[d]) / g.dilation[d] : -1;
}

// Calls f(plane, output, index) for all windows; index is the window's element in the plane, or -1.
template <class T, class F>
void for_windows(const PoolGeometry& p, const T* x, F&& f) {
  for_planes(p, [&](int64_t plane) {
    const T* const in = x + plane * p.in_size();
    int64_t output = 0;
    for (const PoolWindow& rows : p.rows.windows)
      for (const PoolWindow& columns : p.columns.windows) {
        int64_t best = -1;
        T largest = 0;
        for (int64_t i = 0; i < rows.count; ++i) {
          const int64_t row = (rows.start + i * p.rows.dilation) * p.columns.size + columns.start;
          for (int64_t j = 0; j < columns.count; ++j) {
            const int64_t at = row + j * p.columns.dilation;
            if (best < 0 || in[at] > largest || in[at] != in[at]) best = at, largest = in[at];
          }
        }
        f(plane, output++, best);
      }
  });
}

template <class T>
T larger(T largest, T value) {
  return ((value > largest) | (value != value)) ? value : largest;
}

// One axis after the other: the maximum of the rows over the full width, then of the columns of that result.
template <class T>
void max_of_windows(const PoolGeometry& p, const T* x, T* y) {
  const int64_t width = p.columns.size;
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  for_planes(p, [&](int64_t plane) {
    thread_local std::vector<T> largest;
    largest.resize(size_t(width));
    T* const row = largest.data();
    T* to = y + plane * p.out_size();
    for (const PoolWindow& rows : p.rows.windows) {
      const T* const in = x + plane * p.in_size() + rows.start * width;
      if (rows.count == 0)
        std::fill_n(row, width, kNothing);
      else
        std::copy_n(in, width, row);
      for (int64_t i = 1; i < rows.count; ++i) {
        const T* const next = in + i * p.rows.dilation * width;
        for (int64_t w = 0; w < width; ++w) row[w] = larger(row[w], next[w]);
      }
      for (const PoolWindow& columns : p.columns.windows) {
        T value = columns.count ? row[columns.start] : kNothing;
        for (int64_t j = 1; j < columns.count; ++j)
          value = larger(value, row[columns.start + j * p.columns.dilation]);
        *to++ = value;
      }
    }
  });
}

template <class T>
void scatter_by_taps(const PoolGeometry& p, const T* g, const T* x, T* dx) {
  const ConvGeometry& kernel = *p.kernel;
  std::vector<T> first;
  for (int64_t h = 0; h < p.rows.out(); ++h)
    for (int64_t w = 0; w < p.columns.out(); ++w) {
      const int64_t row = first_tap(p.rows, kernel, 1, h), column = first_tap(p.columns, kernel, 2, w);
      first.push_back(T(row < 0 || column < 0 ? -1 : row * kernel.kernel[2] + column));
    }
  for_tiles(p, x,
            [&](int64_t plane, const ConvTiling& tiling, const PoolTaps& taps, const T* tile, T* gradient) {
              std::fill_n(gradient, tiling.channel, T(0));
              const T* const up = g + plane * p.out_size();
              if constexpr (std::is_same_v<T, float>)
                HWY_DYNAMIC_DISPATCH(scatter_taps_f32)(taps, up, tile, first.data(), gradient);
              else
                HWY_DYNAMIC_DISPATCH(scatter_taps_f64)(taps, up, tile, first.data(), gradient);
              T* const to = dx + plane * p.in_size();
              std::fill_n(to, p.in_size(), T(0));
              fold_tile(kernel, tiling, tiling.band(kernel, 0), gradient, to);
            });
}

}  // namespace

template <class T>
void max_pool(const PoolGeometry& p, const T* x, T* y) {
  if (!is_2x2(p) && by_taps(p))
    return for_tiles(p, x, [&](int64_t plane, const ConvTiling&, const PoolTaps& taps, const T* tile, T*) {
      if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(max_taps_f32)(taps, tile, y + plane * p.out_size());
      else
        HWY_DYNAMIC_DISPATCH(max_taps_f64)(taps, tile, y + plane * p.out_size());
    });
  if (!is_2x2(p)) return max_of_windows(p, x, y);
  const int64_t width = p.columns.size, out = p.columns.out();
  for_planes(p, [&](int64_t plane) {
    for (int64_t h = 0; h < p.rows.out(); ++h) {
      const T* const top = x + plane * p.in_size() + 2 * h * width;
      T* const row = y + plane * p.out_size() + h * out;
      if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(max_2x2_f32)(top, top + width, out, row);
      else
        HWY_DYNAMIC_DISPATCH(max_2x2_f64)(top, top + width, out, row);
    }
  });
}

template <class T>
void max_pool_scatter(const PoolGeometry& p, const T* g, const T* x, T* dx) {
  const int64_t in = p.in_size(), width = p.columns.size, out = p.columns.out();
  if (!is_2x2(p) && by_taps(p)) return scatter_by_taps(p, g, x, dx);
  if (!is_2x2(p)) {
    for_planes(p, [&](int64_t plane) { std::fill_n(dx + plane * in, in, T(0)); });
    return for_windows(p, x, [&](int64_t plane, int64_t output, int64_t place) {
      if (place >= 0) dx[plane * in + place] += g[plane * p.out_size() + output];
    });
  }
  for_planes(p, [&](int64_t plane) {
    const T* const from = x + plane * in;
    T* const to = dx + plane * in;
    for (int64_t h = 0; h < p.rows.out(); ++h) {
      const int64_t top = 2 * h * width, bottom = top + width;
      const T* const row = g + plane * p.out_size() + h * out;
      if constexpr (std::is_same_v<T, float>)
        HWY_DYNAMIC_DISPATCH(scatter_2x2_f32)(row, from + top, from + bottom, out, to + top, to + bottom);
      else
        HWY_DYNAMIC_DISPATCH(scatter_2x2_f64)(row, from + top, from + bottom, out, to + top, to + bottom);
      for (const int64_t start : {top, bottom}) std::fill(to + start + 2 * out, to + start + width, T(0));
    }
    std::fill(to + 2 * p.rows.out() * width, to + in, T(0));
  });
}

template <class T>
void max_pool_gather(const PoolGeometry& p, const T* values, const T* x, T* y) {
  for_windows(p, x, [&](int64_t plane, int64_t output, int64_t place) {
    y[plane * p.out_size() + output] = place < 0 ? T(0) : values[plane * p.in_size() + place];
  });
}

template void max_pool(const PoolGeometry&, const float*, float*);
template void max_pool(const PoolGeometry&, const double*, double*);
template void max_pool_scatter(const PoolGeometry&, const float*, const float*, float*);
template void max_pool_scatter(const PoolGeometry&, const double*, const double*, double*);
template void max_pool_gather(const PoolGeometry&, const float*, const float*, float*);
template void max_pool_gather(const PoolGeometry&, const double*, const double*, double*);

}  // namespace lunagrad
#endif
