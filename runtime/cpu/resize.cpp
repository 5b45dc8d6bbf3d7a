#include "runtime/cpu/resize.h"

#include <algorithm>

#include "runtime/cpu/parallel.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are read or written

int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
int64_t grain_of(int64_t elements) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements)); }

bool blends(const std::vector<ResizeTap>& axis) {
  return std::any_of(axis.begin(), axis.end(), [](const ResizeTap& tap) { return tap.weight != 0; });
}

// The outputs [low, high) of a row whose tap lies inside the row, and the input of output 0.
struct Reach {
  int64_t start, low, high;
  Reach(const ConvGeometry& g, int64_t tap) {
    start = tap * g.dilation[2] - g.padding[2];
    low = std::clamp<int64_t>(ceil_div(-start, g.stride[2]), 0, g.out[2]);
    high = std::clamp<int64_t>(ceil_div(g.in[2] - start, g.stride[2]), low, g.out[2]);
  }
};

// Calls f(column row, image row or -1 in the padding, reach) for the rows of all taps of one channel.
template <class F>
void for_rows_of_taps(const ConvGeometry& g, F&& f) {
  int64_t row = 0;
  for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
    for (int64_t kw = 0; kw < g.kernel[2]; ++kw) {
      const Reach reach(g, kw);
      for (int64_t oh = 0; oh < g.out[1]; ++oh, ++row) {
        const int64_t h = oh * g.stride[1] - g.padding[1] + kh * g.dilation[1];
        f(row, h >= 0 && h < g.in[1] ? h : -1, reach);
      }
    }
}

}  // namespace

template <class T>
void resize(const ResizeGeometry& r, const T* x, T* y) {
  const int64_t width = r.in[2], out = int64_t(r.axes[2].size());
  const bool columns_blend = blends(r.axes[2]);
  parallel_for(r.planes, grain_of(r.in_size() + r.out_size()), [&](int64_t begin, int64_t end) {
    std::vector<T> blended(size_t(width), T(0));
    for (int64_t plane = begin; plane < end; ++plane) {
      T* to = y + plane * r.out_size();
      for (const ResizeTap& depth : r.axes[0])
        for (const ResizeTap& row : r.axes[1]) {
          const T* const slice = x + plane * r.in_size() + depth.low * r.in[1] * width;
          const T* in = slice + row.low * width;
          if (row.weight != 0) {
            const T *const next = slice + row.high * width, high = T(row.weight), low = T(1) - high;
            for (int64_t w = 0; w < width; ++w) blended[size_t(w)] = low * in[w] + high * next[w];
            in = blended.data();
          }
          if (columns_blend) {
            for (int64_t w = 0; w < out; ++w) {
              const ResizeTap& tap = r.axes[2][size_t(w)];
              const T high = T(tap.weight);
              to[w] = high == 0 ? in[tap.low] : (T(1) - high) * in[tap.low] + high * in[tap.high];
            }
          } else {
            for (int64_t w = 0; w < out; ++w) to[w] = in[r.axes[2][size_t(w)].low];
          }
          to += out;
        }
    }
  });
}

template <class T>
void resize_spread(const ResizeGeometry& r, const T* g, T* dx) {
  const int64_t width = r.in[2], out = int64_t(r.axes[2].size());
  parallel_for(r.planes, grain_of(r.in_size() + r.out_size()), [&](int64_t begin, int64_t end) {
    std::vector<T> spread(size_t(width), T(0));
    std::fill(dx + begin * r.in_size(), dx + end * r.in_size(), T(0));
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* from = g + plane * r.out_size();
      for (const ResizeTap& depth : r.axes[0])
        for (const ResizeTap& row : r.axes[1]) {
          std::fill(spread.begin(), spread.end(), T(0));
          for (int64_t w = 0; w < out; ++w) {
            const ResizeTap& tap = r.axes[2][size_t(w)];
            const T high = T(tap.weight);
            spread[size_t(tap.low)] += (T(1) - high) * from[w];
            if (high != 0) spread[size_t(tap.high)] += high * from[w];
          }
          T* const slice = dx + plane * r.in_size() + depth.low * r.in[1] * width;
          const T high = T(row.weight), low = T(1) - high;
          T* const to = slice + row.low * width;
          for (int64_t w = 0; w < width; ++w) to[w] += low * spread[size_t(w)];
          if (high != 0)
            for (int64_t w = 0; w < width; ++w) slice[row.high * width + w] += high * spread[size_t(w)];
          from += out;
        }
    }
  });
}

template <class T>
void windows_to_columns(const ConvGeometry& g, const T* x, T* columns) {
  const int64_t size = g.kernel_size() * g.out_size(), width = g.out[2], stride = g.stride[2];
  parallel_for(g.batch * g.in_channels, grain_of(size), [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel)
      for_rows_of_taps(g, [&](int64_t row, int64_t h, const Reach& reach) {
        T* const out = columns + channel * size + row * width;
        if (h < 0) {
          std::fill_n(out, width, T(0));
          return;
        }
        const T* const in = x + channel * g.in_size() + h * g.in[2] + reach.start;
        std::fill_n(out, reach.low, T(0));
        for (int64_t i = reach.low; i < reach.high; ++i) out[i] = in[i * stride];
        std::fill(out + reach.high, out + width, T(0));
      });
  });
}

template <class T>
void columns_to_windows(const ConvGeometry& g, const T* columns, T* x) {
  const int64_t size = g.kernel_size() * g.out_size(), width = g.out[2], stride = g.stride[2];
  parallel_for(g.batch * g.in_channels, grain_of(size), [&](int64_t begin, int64_t end) {
    std::fill(x + begin * g.in_size(), x + end * g.in_size(), T(0));
    for (int64_t channel = begin; channel < end; ++channel)
      for_rows_of_taps(g, [&](int64_t row, int64_t h, const Reach& reach) {
        if (h < 0) return;
        const T* const in = columns + channel * size + row * width;
        T* const out = x + channel * g.in_size() + h * g.in[2] + reach.start;
        for (int64_t i = reach.low; i < reach.high; ++i) out[i * stride] += in[i];
      });
  });
}

template void resize(const ResizeGeometry&, const float*, float*);
template void resize(const ResizeGeometry&, const double*, double*);
template void resize_spread(const ResizeGeometry&, const float*, float*);
template void resize_spread(const ResizeGeometry&, const double*, double*);
template void windows_to_columns(const ConvGeometry&, const float*, float*);
template void windows_to_columns(const ConvGeometry&, const double*, double*);
template void columns_to_windows(const ConvGeometry&, const float*, float*);
template void columns_to_windows(const ConvGeometry&, const double*, double*);

}  // namespace lunagrad
