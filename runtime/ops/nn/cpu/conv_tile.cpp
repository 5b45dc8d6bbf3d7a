#include "runtime/ops/nn/cpu/conv_tile.h"

#include <algorithm>
#include <cstring>

namespace lunagrad {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

ConvTiling::Phases phases_of(const ConvGeometry& g, size_t d) {
  ConvTiling::Phases phases;
  for (int64_t k = 0; k < g.kernel[d]; ++k) {
    const int64_t start = k * g.dilation[d] % g.stride[d];
    if (std::find(phases.starts.begin(), phases.starts.end(), start) == phases.starts.end())
      phases.starts.push_back(start);
    phases.reach = k * g.dilation[d] / g.stride[d];
  }
  return phases;
}

int64_t plane_of(const ConvTiling::Phases& phases, int64_t start) {
  return std::find(phases.starts.begin(), phases.starts.end(), start) - phases.starts.begin();
}

// Rows have only a few vectors: copying blocks of 32 bytes, the last one overlapping, is faster than memcpy.
template <class T>
inline void copy_row(const T* in, T* out, int64_t count) {
  constexpr int64_t kBlock = 32 / sizeof(T);
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) std::memcpy(out + i, in + i, 32);
  if (i == count) return;
  if (count >= kBlock)
    std::memcpy(out + count - kBlock, in + count - kBlock, 32);
  else
    for (; i < count; ++i) out[i] = in[i];
}

}  // namespace

ConvTiling::ConvTiling(const ConvGeometry& g, int64_t bytes, int64_t item_size, int64_t outputs)
    : row_phases(phases_of(g, 1)), column_phases(phases_of(g, 2)) {
  row_length = g.out[2] + column_phases.reach;
  const auto planes = int64_t(row_phases.starts.size() * column_phases.starts.size());
  const int64_t row_bytes =
      std::max<int64_t>(1, g.group_inputs() * g.kernel[0] * planes * row_length * item_size);
  const int64_t height = std::max<int64_t>(1, g.out[1]);
  const int64_t most =
      std::clamp<int64_t>(std::min(bytes / row_bytes - row_phases.reach, outputs / row_length), 1, height);
  const int64_t per_depth = ceil_div(height, most);
  rows = ceil_div(height, per_depth);
  bands = g.out[0] * ceil_div(height, rows);
  plane = (rows + row_phases.reach) * row_length;
  channel = g.kernel[0] * planes * plane;
  for (int64_t d = 0; d < g.kernel[0]; ++d)
    for (int64_t h = 0; h < g.kernel[1]; ++h)
      for (int64_t w = 0; w < g.kernel[2]; ++w) {
        const int64_t row = h * g.dilation[1], column = w * g.dilation[2];
        const int64_t row_plane =
            d * int64_t(row_phases.starts.size()) + plane_of(row_phases, row % g.stride[1]);
        const int64_t phase =
            row_plane * int64_t(column_phases.starts.size()) + plane_of(column_phases, column % g.stride[2]);
        offsets.push_back(phase * plane + row / g.stride[1] * row_length + column / g.stride[2]);
      }
}

ConvTiling::Band ConvTiling::band(const ConvGeometry& g, int64_t index) const {
  if (bands == 1) return {0, 0, g.out[1]};
  const int64_t per_depth = bands / g.out[0], first = index % per_depth * rows;
  return {index / per_depth, first, std::min(rows, g.out[1] - first)};
}

namespace {

// A row of the tile: elements i in [low, high) come from `in` + i * stride; in < 0: from no input.
struct TileRow {
  int64_t in, low, high;
};

// Calls f(row) for each row of the unfolded channel `c`, in the order of the tile.
template <class F>
void for_rows(const ConvGeometry& g, const ConvTiling& tiling, const ConvTiling::Band& band, int64_t c,
              F&& f) {
  const int64_t stride = g.stride[2], length = tiling.row_length;
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
    const int64_t d = band.depth * g.stride[0] - g.padding[0] + kd * g.dilation[0];
    for (const int64_t row_start : tiling.row_phases.starts)
      for (const int64_t column_start : tiling.column_phases.starts) {
        const int64_t start = column_start - g.padding[2];
        const int64_t low = std::clamp<int64_t>(ceil_div(-start, stride), 0, length);
        const int64_t high = std::clamp<int64_t>(ceil_div(g.in[2] - start, stride), low, length);
        for (int64_t r = 0; r < tiling.rows + tiling.row_phases.reach; ++r) {
          const int64_t h = (band.first + r) * g.stride[1] + row_start - g.padding[1];
          const bool inside = d >= 0 && d < g.in[0] && h >= 0 && h < g.in[1] && low < high;
          if (inside)
            f(TileRow{((c * g.in[0] + d) * g.in[1] + h) * g.in[2] + start + low * stride, low, high});
          else
            f(TileRow{-1, 0, 0});
        }
      }
  }
}

}  // namespace

template <class T>
void unfold_tile(const ConvGeometry& g, const ConvTiling& tiling, const ConvTiling::Band& band, const T* x,
                 int64_t channels, int64_t slack, T* tile, T outside) {
  const int64_t stride = g.stride[2], length = tiling.row_length;
  T* out = tile;
  for (int64_t c = 0; c < channels; ++c)
    for_rows(g, tiling, band, c, [&](const TileRow& row) {
      for (int64_t i = 0; i < row.low; ++i) out[i] = outside;
      const int64_t count = row.high - row.low;
      const T* const in = x + row.in;
      T* const to = out + row.low;
      if (stride == 1)
        copy_row(in, to, count);
      else if (stride == 2)
        for (int64_t i = 0; i < count; ++i) to[i] = in[2 * i];
      else
        for (int64_t i = 0; i < count; ++i) to[i] = in[i * stride];
      for (int64_t i = row.high; i < length; ++i) out[i] = outside;
      out += length;
    });
  std::fill_n(out, slack, T(0));
}

template <class T>
void fold_tile(const ConvGeometry& g, const ConvTiling& tiling, const ConvTiling::Band& band, const T* tile,
               T* x) {
  const int64_t stride = g.stride[2];
  for_rows(g, tiling, band, 0, [&](const TileRow& row) {
    for (int64_t i = row.low; i < row.high; ++i) x[row.in + (i - row.low) * stride] = tile[i];
    tile += tiling.row_length;
  });
}

namespace {

// Calls f(row of the columns, input of output 0, low, high) for the rows of outputs of all taps: the inputs
// of outputs [low, high) are inside the image; low == high when none is.
template <class F>
void for_column_rows(const ConvGeometry& g, int64_t channels, F&& f) {
  int64_t row = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < g.kernel[2]; ++kw) {
          const int64_t start = kw * g.dilation[2] - g.padding[2];
          const int64_t low = std::clamp<int64_t>(ceil_div(-start, g.stride[2]), 0, g.out[2]);
          const int64_t high = std::clamp<int64_t>(ceil_div(g.in[2] - start, g.stride[2]), low, g.out[2]);
          for (int64_t od = 0; od < g.out[0]; ++od)
            for (int64_t oh = 0; oh < g.out[1]; ++oh, ++row) {
              const int64_t d = od * g.stride[0] - g.padding[0] + kd * g.dilation[0];
              const int64_t h = oh * g.stride[1] - g.padding[1] + kh * g.dilation[1];
              const bool inside = d >= 0 && d < g.in[0] && h >= 0 && h < g.in[1];
              f(row, ((c * g.in[0] + d) * g.in[1] + h) * g.in[2] + start, inside ? low : 0,
                inside ? high : 0);
            }
        }
}

}  // namespace

template <class T>
void windows_to_columns(const ConvGeometry& g, const T* x, int64_t channels, T* columns) {
  const int64_t width = g.out[2], stride = g.stride[2];
  for_column_rows(g, channels, [&](int64_t row, int64_t in, int64_t low, int64_t high) {
    T* const out = columns + row * width;
    for (int64_t i = 0; i < low; ++i) out[i] = 0;
    if (stride == 1)
      copy_row(x + in + low, out + low, high - low);
    else
      for (int64_t i = low; i < high; ++i) out[i] = x[in + i * stride];
    for (int64_t i = high; i < width; ++i) out[i] = 0;
  });
}

template <class T>
void add_columns(const ConvGeometry& g, const T* columns, int64_t channels, T* x) {
  const int64_t width = g.out[2], stride = g.stride[2];
  for_column_rows(g, channels, [&](int64_t row, int64_t in, int64_t low, int64_t high) {
    const T* const from = columns + row * width;
    for (int64_t i = low; i < high; ++i) x[in + i * stride] += from[i];
  });
}

template void windows_to_columns(const ConvGeometry&, const float*, int64_t, float*);
template void windows_to_columns(const ConvGeometry&, const double*, int64_t, double*);
template void add_columns(const ConvGeometry&, const float*, int64_t, float*);
template void add_columns(const ConvGeometry&, const double*, int64_t, double*);
template void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const float*,
                          int64_t, int64_t, float*, float);
template void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const double*,
                          int64_t, int64_t, double*, double);
template void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const uint16_t*,
                          int64_t, int64_t, uint16_t*, uint16_t);
template void fold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const float*,
                        float*);
template void fold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const double*,
                        double*);

}  // namespace lunagrad
