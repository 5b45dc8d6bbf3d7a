#include "runtime/cpu/conv_tile.h"

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

// Rows are short, a few vectors long: blocks of 32 bytes, the last one overlapping, beat a call of memcpy.
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

ConvTiling::ConvTiling(const ConvGeometry& g, int64_t bytes, int64_t item_size)
    : row_phases(phases_of(g, 1)), column_phases(phases_of(g, 2)) {
  row_length = g.out[2] + column_phases.reach;
  const auto planes = int64_t(row_phases.starts.size() * column_phases.starts.size());
  const int64_t row_bytes =
      std::max<int64_t>(1, g.group_inputs() * g.kernel[0] * planes * row_length * item_size);
  const int64_t height = std::max<int64_t>(1, g.out[1]);
  const int64_t most = std::clamp<int64_t>(bytes / row_bytes - row_phases.reach, 1, height);
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
  const int64_t per_depth = bands / g.out[0], first = index % per_depth * rows;
  return {index / per_depth, first, std::min(rows, g.out[1] - first)};
}

template <class T>
void unfold_tile(const ConvGeometry& g, const ConvTiling& tiling, const ConvTiling::Band& band, const T* x,
                 int64_t channels, int64_t slack, T* tile) {
  const int64_t stride = g.stride[2], length = tiling.row_length;
  T* out = tile;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
      const int64_t d = band.depth * g.stride[0] - g.padding[0] + kd * g.dilation[0];
      for (const int64_t row_start : tiling.row_phases.starts)
        for (const int64_t column_start : tiling.column_phases.starts) {
          const int64_t start = column_start - g.padding[2];
          const int64_t low = std::clamp<int64_t>(ceil_div(-start, stride), 0, length);
          const int64_t high = std::clamp<int64_t>(ceil_div(g.in[2] - start, stride), low, length);
          for (int64_t r = 0; r < tiling.rows + tiling.row_phases.reach; ++r, out += length) {
            const int64_t h = (band.first + r) * g.stride[1] + row_start - g.padding[1];
            if (d < 0 || d >= g.in[0] || h < 0 || h >= g.in[1]) {
              std::fill_n(out, length, T(0));
              continue;
            }
            const T* const in = x + ((c * g.in[0] + d) * g.in[1] + h) * g.in[2] + start;
            for (int64_t i = 0; i < low; ++i) out[i] = 0;
            if (stride == 1)
              copy_row(in + low, out + low, high - low);
            else
              for (int64_t i = low; i < high; ++i) out[i] = in[i * stride];
            for (int64_t i = high; i < length; ++i) out[i] = 0;
          }
        }
    }
  std::fill_n(out, slack, T(0));
}

template void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const float*,
                          int64_t, int64_t, float*);
template void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const double*,
                          int64_t, int64_t, double*);

}  // namespace lunagrad
