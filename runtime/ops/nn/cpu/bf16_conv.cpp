#include "runtime/ops/nn/cpu/bf16_conv.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"
#include "runtime/ops/nn/cpu/conv_places.h"
#include "runtime/ops/nn/cpu/conv_tile.h"
#include "runtime/ops/products/cpu/bf16_tiles.h"

namespace lunagrad {
namespace {

using Sizes = ConvGeometry::Sizes;

constexpr int64_t kTileBytes = 384 << 10;  // of an unfolded tile
// Bytes of the packed windows of a tile, which stay in a second-level cache of 2 MiB while the weights stream
// through it: fewer outputs would need the weights more often than memory can bring them.
constexpr int64_t kPackedBytes = 1 << 20;
constexpr int64_t kMostRows = 256;           // rows of the sums that a thread computes at a time
constexpr int64_t kPartialBytes = 64 << 20;  // limit for the partial sums of a gradient
constexpr int64_t kMostBlocks = 16;          // limit for the number of partial sums
constexpr double kGrain = 4e6;               // operations that are worth another thread: 4 µs with AMX

const uint16_t* bits(const BFloat16* x) { return reinterpret_cast<const uint16_t*>(x); }

void round_row(const float* from, BFloat16* to, int64_t count) {
  static const ConvertRow round = convert_row(DType::bf16, DType::f32);
  round(from, to, count);
}

int64_t grain_of(double work) { return std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work))); }

// The offset of each input of a window in a tile, relative to the tile's first output.
std::vector<int64_t> window_offsets(const ConvGeometry& g, const ConvTiling& tiling) {
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.group_inputs(); ++c)
    for (const int64_t offset : tiling.offsets) offsets.push_back(c * tiling.channel + offset);
  return offsets;
}

// The number of outputs in a band, chosen so that their packed windows fill about kPackedBytes.
int64_t outputs_of_band(const ConvGeometry& g) {
  return std::max(kKernelSide, kPackedBytes / int64_t(sizeof(BFloat16)) / std::max<int64_t>(1, g.window()));
}

// The band of an image and group, unfolded; columns beyond its outputs may be read.
struct Tile {
  const ConvGeometry& g;
  const ConvTiling& tiling;
  int64_t slack = kKernelSide + tiling.row_length;
  Workspace<uint16_t> data{g.group_inputs() * tiling.channel + slack};

  void unfold(const BFloat16* x, int64_t image, int64_t group, const ConvTiling::Band& band) {
    unfold_tile(g, tiling, band, bits(x) + (image * g.in_channels + group * g.group_inputs()) * g.in_size(),
                g.group_inputs(), slack, data.data(), uint16_t(0));
  }
};

// y = bias + the sums over the windows of x. `weights` is [groups, outputs, window].
void window_sums(const ConvGeometry& g, const Bf16Kernel& kernel, const BFloat16* x, const uint16_t* weights,
                 const BFloat16* bias, const Placement& place, BFloat16* y) {
  const ConvTiling tiling(g, kTileBytes, sizeof(BFloat16), outputs_of_band(g));
  const std::vector<int64_t> offsets = window_offsets(g, tiling);
  const int64_t outputs = g.group_outputs(), window = g.window(), width = g.out[2];
  const int64_t group_words = packed_words(outputs, window),
                line_words = tiles_of(window) * kTileWords / kTileSide;
  const Workspace<uint32_t> packed(g.groups * group_words);
  for (int64_t i = 0; i < g.groups; ++i)
    pack_operand({weights + i * outputs * window, outputs, window, window, 1}, false,
                 packed.data() + i * group_words);

  // Blocks of output channels: at most kMostRows rows, and enough blocks for all threads.
  const int64_t tiles = g.batch * g.groups * tiling.bands;
  int64_t rows = std::min(kMostRows, padded(outputs));
  while (rows > kKernelSide && tiles * ceil_div(outputs, rows) < 2 * thread_count()) rows = padded(rows / 2);
  const int64_t parts = ceil_div(outputs, rows), columns = padded(tiling.rows * tiling.row_length);
  const double work = 2 * double(rows) * double(columns) * double(std::max<int64_t>(1, window));
  parallel_for(tiles * parts, grain_of(work), [&](int64_t begin, int64_t end) {
    Tile tile{g, tiling};
    const Workspace<uint32_t> windows(packed_words(columns, window));
    const Workspace<float> sums(rows * columns);
    const Workspace<BFloat16> row(width);
    const KernelScope use(kernel);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t image = item / parts / tiling.bands / g.groups,
                    group = item / parts / tiling.bands % g.groups;
      const ConvTiling::Band band = tiling.band(g, item / parts % tiling.bands);
      const int64_t here = padded(band.rows * tiling.row_length);
      if (item == begin || item % parts == 0) {
        tile.unfold(x, image, group, band);
        pack_operand({tile.data.data(), here, window, 1, 0, offsets.data()}, true, windows.data());
      }
      const int64_t first = item % parts * rows, channels = std::min(rows, outputs - first);
      multiply_packed(kernel, channels, here, window,
                      packed.data() + group * group_words + first * line_words, windows.data(), false,
                      sums.data(), columns);
      for (int64_t o = 0; o < channels; ++o) {
        const int64_t channel = group * outputs + first + o;
        BFloat16* const out = y + (image * g.out_channels + channel) * place.channel();
        for (int64_t h = 0; h < band.rows; ++h) {
          float* const from = sums.data() + o * columns + h * tiling.row_length;
          BFloat16* const to = out + place.row(band.depth, band.first + h);
          const float added = bias ? float(bias[channel]) : 0;
          for (int64_t i = 0; bias && i < width; ++i) from[i] += added;
          if (place.step[2] == 1) {
            round_row(from, to, width);
          } else {
            round_row(from, row.data(), width);
            for (int64_t i = 0; i < width; ++i) to[i * place.step[2]] = row.data()[i];
          }
        }
      }
    }
  });
}

}  // namespace

void conv_forward(const ConvGeometry& g, const Bf16Kernel& kernel, const BFloat16* x, const BFloat16* weight,
                  const BFloat16* bias, BFloat16* y) {
  window_sums(g, kernel, x, bits(weight), bias, Placement{g.out, {0, 0, 0}, {1, 1, 1}}, y);
}

void conv_grad_input(const ConvGeometry& g, const Bf16Kernel& kernel, const BFloat16* grad,
                     const BFloat16* weight, const BFloat16* bias, BFloat16* dx) {
  for_remainders(g, [&](const Sizes& start) {
    const InputGradient part(g, start);
    const auto taps = int64_t(part.taps.size());
    const Workspace<uint16_t> weights(g.in_channels * g.group_outputs() * taps);
    uint16_t* to = weights.data();
    for (int64_t c = 0; c < g.in_channels; ++c)
      for (int64_t o = 0; o < g.group_outputs(); ++o) {
        const int64_t output = c / g.group_inputs() * g.group_outputs() + o;
        const uint16_t* const from =
            bits(weight) + (output * g.group_inputs() + c % g.group_inputs()) * g.kernel_size();
        for (const int64_t tap : part.taps) *to++ = from[tap];
      }
    window_sums(part.geometry, kernel, grad, weights.data(), bias, part.place, dx);
  });
}

// A product [outputs, positions] [positions, window] for each band, added up. The bands are divided into
// blocks by the sizes alone; their sums are added in order.
void conv_grad_weight(const ConvGeometry& g, const Bf16Kernel& kernel, const BFloat16* x,
                      const BFloat16* grad, BFloat16* dweight) {
  const ConvTiling tiling(g, kTileBytes, sizeof(BFloat16), outputs_of_band(g));
  const std::vector<int64_t> offsets = window_offsets(g, tiling);
  const int64_t outputs = g.group_outputs(), window = g.window(), length = tiling.rows * tiling.row_length;
  const int64_t step = padded(window), size = padded(outputs) * step, items = g.batch * tiling.bands;
  const int64_t most = kPartialBytes / int64_t(sizeof(float)) / std::max<int64_t>(1, size * g.groups);
  const int64_t blocks = std::clamp<int64_t>(std::min(items, most), 1, kMostBlocks);
  const int64_t per_block = ceil_div(items, blocks);
  // When there are fewer blocks than threads, the output channels are divided, too.
  int64_t rows = padded(outputs);
  while (rows > 2 * kKernelSide && g.groups * blocks * ceil_div(outputs, rows) < thread_count())
    rows = padded(rows / 2);
  const int64_t parts = ceil_div(outputs, rows);
  const Workspace<float> partial(g.groups * blocks * size);
  const double work = 2 * double(rows) * double(step) * double(length) * double(per_block);
  parallel_for(g.groups * blocks * parts, grain_of(work), [&](int64_t begin, int64_t end) {
    Tile tile{g, tiling};
    const Workspace<uint32_t> windows(packed_words(window, length)), left(packed_words(rows, length));
    const Workspace<uint16_t> spread(rows * length);
    const KernelScope use(kernel);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / parts / blocks, block = task / parts % blocks, first = task % parts * rows;
      const int64_t channels = std::min(rows, outputs - first);
      float* const sums = partial.data() + task / parts * size + first * step;
      const int64_t last = std::min(items, (block + 1) * per_block);
      for (int64_t i = 0; block * per_block >= last && i < channels; ++i)
        std::fill_n(sums + i * step, window, 0.0f);
      for (int64_t item = block * per_block; item < last; ++item) {
        const int64_t image = item / tiling.bands;
        const ConvTiling::Band band = tiling.band(g, item % tiling.bands);
        const int64_t terms = band.rows * tiling.row_length;
        tile.unfold(x, image, group, band);
        pack_operand({tile.data.data(), window, terms, 0, 1, offsets.data()}, true, windows.data());
        for (int64_t o = 0; o < channels; ++o)
          for (int64_t h = 0; h < band.rows; ++h) {
            const int64_t channel = image * g.out_channels + group * outputs + first + o;
            uint16_t* const to = spread.data() + o * terms + h * tiling.row_length;
            std::copy_n(
                bits(grad) + channel * g.out_size() + (band.depth * g.out[1] + band.first + h) * g.out[2],
                g.out[2], to);
            std::fill(to + g.out[2], to + tiling.row_length, uint16_t(0));
          }
        pack_operand({spread.data(), channels, terms, terms, 1}, false, left.data());
        multiply_packed(kernel, channels, window, terms, left.data(), windows.data(),
                        item > block * per_block, sums, step);
      }
    }
  });
  parallel_for(g.groups * outputs, iterations_in(32768, window * blocks), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* const sum = partial.data() + row / outputs * blocks * size + row % outputs * step;
      for (int64_t block = 1; block < blocks; ++block)
        for (int64_t i = 0; i < window; ++i) sum[i] += sum[block * size + i];
      round_row(sum, dweight + row * window, window);
    }
  });
}

}  // namespace lunagrad
