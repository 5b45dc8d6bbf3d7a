#include "runtime/ops/nn/cpu/resize.h"

#include <algorithm>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/nn/cpu/conv_tile.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 16384;  // elements read or written

int64_t grain_of(int64_t elements) { return iterations_in(kGrain, elements); }

bool blends(const std::vector<ResizeTap>& axis) {
  return std::any_of(axis.begin(), axis.end(), [](const ResizeTap& tap) { return tap.weight != 0; });
}

}  // namespace

template <class T>
void resize(const ResizeGeometry& r, const T* x, T* y) {
  const int64_t width = r.in[2], out = int64_t(r.axes[2].size());
  const bool columns_blend = blends(r.axes[2]);
  parallel_for(r.planes, grain_of(r.in_size() + r.out_size()), [&](int64_t begin, int64_t end) {
    std::vector<T> blended(size_t(width), T(0)), deeper(size_t(width), T(0));
    for (int64_t plane = begin; plane < end; ++plane) {
      T* to = y + plane * r.out_size();
      // A row of a slice, or the blend of two in `buffer`.
      const auto row_of = [&](int64_t slice, const ResizeTap& row, std::vector<T>& buffer) -> const T* {
        const T* const first = x + plane * r.in_size() + slice * r.in[1] * width;
        const T* const in = first + row.low * width;
        if (row.weight == 0) return in;
        const T *const next = first + row.high * width, high = T(row.weight), low = T(1) - high;
        for (int64_t w = 0; w < width; ++w) buffer[size_t(w)] = low * in[w] + high * next[w];
        return buffer.data();
      };
      for (const ResizeTap& depth : r.axes[0])
        for (const ResizeTap& row : r.axes[1]) {
          const T* in = row_of(depth.low, row, blended);
          if (depth.weight != 0) {
            const T *const next = row_of(depth.high, row, deeper), high = T(depth.weight), low = T(1) - high;
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
          const auto add = [&](int64_t slice, int64_t line, T share) {
            T* const to = dx + plane * r.in_size() + (slice * r.in[1] + line) * width;
            for (int64_t w = 0; w < width; ++w) to[w] += share * spread[size_t(w)];
          };
          const T deep = T(depth.weight), high = T(row.weight);
          add(depth.low, row.low, (T(1) - deep) * (T(1) - high));
          if (high != 0) add(depth.low, row.high, (T(1) - deep) * high);
          if (deep != 0) add(depth.high, row.low, deep * (T(1) - high));
          if (deep != 0 && high != 0) add(depth.high, row.high, deep * high);
          from += out;
        }
    }
  });
}

template <class T>
void image_columns(const ConvGeometry& g, const T* x, T* columns) {
  const int64_t size = g.kernel_size() * g.out_size();
  parallel_for(g.batch * g.in_channels, grain_of(size), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) windows_to_columns(g, x + c * g.in_size(), 1, columns + c * size);
  });
}

template <class T>
void column_images(const ConvGeometry& g, const T* columns, T* x) {
  const int64_t size = g.kernel_size() * g.out_size();
  parallel_for(g.batch * g.in_channels, grain_of(size), [&](int64_t begin, int64_t end) {
    std::fill(x + begin * g.in_size(), x + end * g.in_size(), T(0));
    for (int64_t c = begin; c < end; ++c) add_columns(g, columns + c * size, 1, x + c * g.in_size());
  });
}

template void resize(const ResizeGeometry&, const float*, float*);
template void resize(const ResizeGeometry&, const double*, double*);
template void resize_spread(const ResizeGeometry&, const float*, float*);
template void resize_spread(const ResizeGeometry&, const double*, double*);
template void image_columns(const ConvGeometry&, const float*, float*);
template void image_columns(const ConvGeometry&, const double*, double*);
template void column_images(const ConvGeometry&, const float*, float*);
template void column_images(const ConvGeometry&, const double*, double*);

}  // namespace lunagrad
