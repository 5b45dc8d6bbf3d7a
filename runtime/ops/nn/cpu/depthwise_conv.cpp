#include "runtime/ops/nn/cpu/depthwise_conv.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/transpose_kernels.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/nn/cpu/blocked_conv_kernels.h"
#include "runtime/ops/nn/cpu/conv_places.h"
#include "runtime/ops/nn/cpu/depthwise_kernels.h"

namespace lunagrad {
namespace {

using Sizes = ConvGeometry::Sizes;

constexpr int64_t kTileBytes = 96 << 10;  // bytes of a tile of inputs: a part of the second-level cache
constexpr int64_t kGrain = 1 << 17;       // multiply-adds that are worth another thread

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Outputs first, first + step, … of both dims as sums over windows of the input.
struct Part {
  ConvGeometry geometry;
  std::vector<int64_t> taps;  // of the kernel in the tensor of weights
  Placement place;
  int64_t first_tap = 0;         // of its packed weights
  std::vector<int64_t> offsets;  // of its taps in a tile

  // the first input of output `i` and the last tap, along dim d
  int64_t begin(size_t d, int64_t i) const { return i * geometry.stride[d] - geometry.padding[d]; }
  int64_t reach(size_t d) const { return (geometry.kernel[d] - 1) * geometry.dilation[d]; }
  // how many outputs lie before row `row` of the result
  int64_t before(int64_t row) const {
    return std::clamp<int64_t>(ceil_div(std::max<int64_t>(0, row - place.first[1]), place.step[1]), 0,
                               geometry.out[1]);
  }
};

// Bands of rows of the results, and the tiles of inputs with their padding that the bands need.
class Bands {
 public:
  Bands(std::vector<Part> given, const Sizes& in, const Sizes& out, int64_t item)
      : parts(std::move(given)), in_(in), out_(out) {
    int64_t last = 0, rows = 1;
    for (Part& part : parts) {
      const ConvGeometry& g = part.geometry;
      part.first_tap = taps;
      taps += int64_t(part.taps.size());
      if (part.taps.empty() || g.out[2] == 0) continue;
      left_ = std::min(left_, part.begin(2, 0));
      last = std::max(last, part.begin(2, g.out[2] - 1) + part.reach(2));
      rows = std::max(rows, part.reach(1) + 1);
    }
    width = last - left_ + 1;
    const int64_t in_step = parts[0].geometry.stride[1], out_step = parts[0].place.step[1];
    const int64_t fitting = std::max<int64_t>(1, kTileBytes / (width * kChannelBlock * item) - rows);
    per_band = std::clamp<int64_t>(fitting / in_step * out_step, 1, std::max<int64_t>(1, out[1]));
    count = ceil_div(out[1], per_band);
    for (Part& part : parts)
      for (int64_t h = 0; h < part.geometry.kernel[1]; ++h)
        for (int64_t w = 0; w < part.geometry.kernel[2]; ++w)
          part.offsets.push_back((h * part.geometry.dilation[1] * width + w * part.geometry.dilation[2]) *
                                 kChannelBlock);
    for (int64_t band = 0; band < count; ++band) most_rows = std::max(most_rows, rows_of(band).count);
  }

  // Input rows of a band; they may lie outside the image.
  struct Rows {
    int64_t first, count;
  };
  Rows rows_of(int64_t band) const {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (const Part& part : parts) {
      const int64_t first = part.before(band * per_band), last = part.before(last_row(band));
      if (first == last || part.taps.empty()) continue;
      low = std::min(low, part.begin(1, first));
      high = std::max(high, part.begin(1, last - 1) + part.reach(1) + 1);
    }
    return low < high ? Rows{low, high - low} : Rows{0, 0};
  }
  int64_t last_row(int64_t band) const { return std::min(out_[1], (band + 1) * per_band); }
  int64_t tile_elements() const { return most_rows * width * kChannelBlock; }
  // the place in a tile of the first input of output (row, 0)
  int64_t place(const Part& part, const Rows& rows, int64_t row) const {
    return ((part.begin(1, row) - rows.first) * width + part.begin(2, 0) - left_) * kChannelBlock;
  }

  // Writes the tile for a band of `valid` channels of an image; `turned` has room for its rows.
  template <class T>
  void load(const Rows& rows, const T* x, int64_t valid, T* turned, T* tile) const {
    const int64_t first = std::clamp<int64_t>(rows.first, 0, in_[1]);
    const int64_t inside = std::clamp<int64_t>(rows.first + rows.count, first, in_[1]) - first;
    std::fill_n(tile, rows.count * width * kChannelBlock, T(0));
    turn_pixels(x + first * in_[2], in_[1] * in_[2], inside * in_[2], valid, turned);
    const int64_t columns = std::min(in_[2], width + left_);  // the others lie beyond the last window
    for (int64_t r = 0; r < inside && columns > 0; ++r)
      std::copy_n(turned + r * in_[2] * kChannelBlock, columns * kChannelBlock,
                  tile + ((first + r - rows.first) * width - left_) * kChannelBlock);
  }

  // turned [pixels, kChannelBlock] = the transpose of x [valid, pixels], 0 for other channels.
  template <class T>
  static void turn_pixels(const T* x, int64_t channel, int64_t pixels, int64_t valid, T* turned) {
    if (valid < kChannelBlock) std::fill_n(turned, pixels * kChannelBlock, T(0));
    constexpr int64_t kItem = sizeof(T);
    transpose_block(turned, kChannelBlock * kItem, x, channel * kItem, pixels, valid, kItem);
  }

  std::vector<Part> parts;
  int64_t taps = 0;         // of all parts
  int64_t width;            // columns of a tile
  int64_t per_band, count;  // rows of results
  int64_t most_rows = 0;    // of a tile

 private:
  Sizes in_, out_;
  int64_t left_ = 0;  // column of the image at the left end of a tile
};

template <class T>
struct Images {
  const T *x, *weight, *bias;  // weight [channel, tap]
  int64_t kernel;
  T* y;
  StretchKernel activation;
};

template <class T>
void run(const Bands& bands, int64_t batch, int64_t channels, const Sizes& in, const Sizes& out,
         const Images<T>& images) {
  const int64_t blocks = ceil_div(channels, kChannelBlock), taps = bands.taps;
  const Workspace<T> weights(blocks * (taps + 1) * kChannelBlock);  // of each block, then its bias
  std::fill_n(weights.data(), blocks * (taps + 1) * kChannelBlock, T(0));
  for (int64_t c = 0; c < channels; ++c) {
    T* to = weights.data() + c / kChannelBlock * (taps + 1) * kChannelBlock + c % kChannelBlock;
    for (const Part& part : bands.parts)
      for (const int64_t tap : part.taps) *to = images.weight[c * images.kernel + tap], to += kChannelBlock;
    if (images.bias) *to = images.bias[c];
  }
  const int64_t result = bands.per_band * out[2] * kChannelBlock;
  const int64_t work = result * std::max<int64_t>(4, taps / int64_t(bands.parts.size()));
  parallel_for(batch * blocks * bands.count, iterations_in(kGrain, work), [&](int64_t begin, int64_t end) {
    const Workspace<T> tile(bands.tile_elements()), turned(bands.most_rows * in[2] * kChannelBlock);
    const Workspace<T> results(result);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t band = item % bands.count, block = item / bands.count % blocks;
      const int64_t first = item / bands.count / blocks * channels + block * kChannelBlock;  // channel
      const int64_t valid = std::min(kChannelBlock, channels - block * kChannelBlock);
      const int64_t row = band * bands.per_band, rows = bands.last_row(band) - row;
      const Bands::Rows needed = bands.rows_of(band);
      bands.load(needed, images.x + first * in[1] * in[2], valid, turned.data(), tile.data());
      const T* const packed = weights.data() + block * (taps + 1) * kChannelBlock;
      for (const Part& part : bands.parts) {
        const int64_t low = part.before(row), high = part.before(row + rows);
        const Sizes &start = part.place.first, &step = part.place.step;
        const bool empty = part.taps.empty();
        depthwise_sums(DepthwiseSums<T>{
            .rows = high - low,
            .columns = part.geometry.out[2],
            .taps = int64_t(part.taps.size()),
            .offsets = part.offsets.data(),
            .x = tile.data() + (empty || low == high ? 0 : bands.place(part, needed, low)),
            .weights = packed + part.first_tap * kChannelBlock,
            .bias = packed + taps * kChannelBlock,
            .x_row = part.geometry.stride[1] * bands.width * kChannelBlock,
            .x_column = part.geometry.stride[2] * kChannelBlock,
            .y = results.data() + ((start[1] + low * step[1] - row) * out[2] + start[2]) * kChannelBlock,
            .y_row = step[1] * out[2] * kChannelBlock,
            .y_column = step[2] * kChannelBlock});
      }
      run_in_place(images.activation, results.data(), rows * out[2] * kChannelBlock);
      constexpr int64_t kItem = sizeof(T);
      transpose_block(images.y + (first * out[1] + row) * out[2], out[1] * out[2] * kItem, results.data(),
                      kChannelBlock * kItem, valid, rows * out[2], kItem);
    }
  });
}

std::vector<Part> forward_parts(const ConvGeometry& g) {
  Part part{.geometry = g, .taps = {}, .place = {g.out, {0, 0, 0}, {1, 1, 1}}, .offsets = {}};
  part.taps.resize(size_t(g.kernel_size()));
  std::iota(part.taps.begin(), part.taps.end(), 0);
  return {part};
}

}  // namespace

bool depthwise_weights(const ConvGeometry& g) {
  const bool single = g.groups == g.in_channels && g.groups == g.out_channels && g.groups >= 8;
  return single && g.in[0] == 1 && g.out[0] == 1 && g.kernel[0] == 1 && g.padding[0] == 0 &&
         g.batch * g.in_size() * g.out_size() > 0;
}

bool depthwise_sums(const ConvGeometry& g) {
  constexpr int64_t kLong = 32, kLonger = 128;  // outputs of a row that fill vectors
  const bool filled = g.out[2] > kLonger || (g.out[2] >= kLong && g.out[2] % 16 == 0);
  return depthwise_weights(g) && (g.stride[1] > 1 || g.stride[2] > 1 || !filled);
}

template <class T>
void depthwise_forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                       StretchKernel activation) {
  const Bands bands(forward_parts(g), g.in, g.out, sizeof(T));
  run<T>(bands, g.batch, g.groups, g.in, g.out, {x, weight, bias, g.kernel_size(), y, activation});
}

template <class T>
void depthwise_grad_input(const ConvGeometry& g, const T* grad, const T* weight, const T* bias, T* dx) {
  std::vector<Part> parts;
  for_remainders(g, [&](const Sizes& start) {
    const InputGradient part(g, start);
    parts.push_back({.geometry = part.geometry, .taps = part.taps, .place = part.place, .offsets = {}});
  });
  const Bands bands(std::move(parts), g.out, g.in, sizeof(T));
  run<T>(bands, g.batch, g.groups, g.out, g.in, {grad, weight, bias, g.kernel_size(), dx, nullptr});
}

template <class T>
void depthwise_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  const Bands bands(forward_parts(g), g.in, g.out, sizeof(T));
  const Part& part = bands.parts[0];
  const int64_t blocks = ceil_div(g.groups, kChannelBlock), taps = bands.taps, size = taps * kChannelBlock;
  const int64_t result = bands.per_band * g.out[2] * kChannelBlock;
  const Workspace<T> partial(g.batch * bands.count * blocks * size);
  parallel_for(
      g.batch * bands.count * blocks, iterations_in(kGrain, result * std::max<int64_t>(4, taps)),
      [&](int64_t begin, int64_t end) {
        const Workspace<T> tile(bands.tile_elements()), turned(bands.most_rows * g.in[2] * kChannelBlock);
        const Workspace<T> up(result);
        for (int64_t item = begin; item < end; ++item) {
          const int64_t block = item % blocks, band = item / blocks % bands.count;
          const int64_t first = item / blocks / bands.count * g.groups + block * kChannelBlock;  // channel
          const int64_t valid = std::min(kChannelBlock, g.groups - block * kChannelBlock);
          const int64_t row = band * bands.per_band, rows = bands.last_row(band) - row;
          const Bands::Rows needed = bands.rows_of(band);
          bands.load(needed, x + first * g.in_size(), valid, turned.data(), tile.data());
          Bands::turn_pixels(grad + first * g.out_size() + row * g.out[2], g.out_size(), rows * g.out[2],
                             valid, up.data());
          T* const sums = partial.data() + item * size;
          std::fill_n(sums, size, T(0));
          depthwise_products(DepthwiseProducts<T>{.rows = rows,
                                                  .columns = g.out[2],
                                                  .taps = taps,
                                                  .offsets = part.offsets.data(),
                                                  .x = tile.data() + bands.place(part, needed, row),
                                                  .g = up.data(),
                                                  .x_row = g.stride[1] * bands.width * kChannelBlock,
                                                  .x_column = g.stride[2] * kChannelBlock,
                                                  .sums = sums});
        }
      });
  const int64_t tiles = g.batch * bands.count;
  parallel_for(blocks * size, iterations_in(1 << 14, tiles), [&](int64_t begin, int64_t end) {
    std::vector<T> sums(size_t(end - begin), T(0));
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t i = begin; i < end; ++i)
        sums[size_t(i - begin)] += partial.data()[tile * blocks * size + i];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t channel = i / size * kChannelBlock + i % kChannelBlock;
      if (channel < g.groups) dweight[channel * taps + i % size / kChannelBlock] = sums[size_t(i - begin)];
    }
  });
}

template void depthwise_forward(const ConvGeometry&, const float*, const float*, const float*, float*,
                                StretchKernel);
template void depthwise_forward(const ConvGeometry&, const double*, const double*, const double*, double*,
                                StretchKernel);
template void depthwise_grad_input(const ConvGeometry&, const float*, const float*, const float*, float*);
template void depthwise_grad_input(const ConvGeometry&, const double*, const double*, const double*, double*);
template void depthwise_grad_weight(const ConvGeometry&, const float*, const float*, float*);
template void depthwise_grad_weight(const ConvGeometry&, const double*, const double*, double*);

}  // namespace lunagrad
