#include "runtime/ops/nn/cpu/conv.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/nn/cpu/blocked_conv.h"
#include "runtime/ops/nn/cpu/conv_kernels.h"
#include "runtime/ops/nn/cpu/conv_places.h"
#include "runtime/ops/nn/cpu/conv_tile.h"
#include "runtime/ops/nn/cpu/depthwise_conv.h"
#include "runtime/ops/products/cpu/blas.h"

namespace lunagrad {
namespace {

using Sizes = ConvGeometry::Sizes;

constexpr int64_t kTileBytes =
    384 << 10;  // bytes of an unfolded tile: less than half of a core's second-level cache
constexpr int64_t kPiecesBytes = 640 << 10;  // bytes of the tiles whose products are accumulated together
// bytes of four rows of a gradient, which stay in the first-level cache
constexpr int64_t kRowsBytes = 20 << 10;
constexpr double kGrain = 4e6;  // operations that are worth another thread: 20 µs

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Floating-point operations for `outputs` results of one group.
double work_of(const ConvGeometry& g, int64_t outputs) {
  return 2.0 * double(g.group_outputs()) * double(g.window()) * double(outputs);
}
int64_t grain_of(double work) { return std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work))); }

// The weights, indexed by group, output and input channel within the group, and tap.
template <class T>
struct Weights {
  const T* data;
  int64_t group, output, channel;
  std::vector<int64_t> taps;

  // Packs the weights and biases of each block of output channels with the channel as the fastest dim;
  // missing channels are 0.
  void pack(const ConvGeometry& g, const T* bias, int64_t width, T* packed, T* packed_bias) const {
    const int64_t outputs = g.group_outputs(), blocks = ceil_div(outputs, width);
    const int64_t size = g.group_inputs() * int64_t(taps.size()) * width;
    parallel_for(g.groups * blocks, grain_of(double(size) * 16), [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const int64_t first = item % blocks * width, valid = std::min(width, outputs - first);
        T* const to = packed + item * size;
        if (valid < width) std::fill_n(to, size, T(0));
        pack_block(data + item / blocks * group + first * output, g.group_inputs(), valid, width, to);
        for (int64_t r = 0; r < width; ++r)
          packed_bias[item * width + r] =
              bias && r < valid ? bias[item / blocks * outputs + first + r] : T(0);
      }
    });
  }

 private:
  void pack_block(const T* from, int64_t channels, int64_t valid, int64_t width, T* to) const {
    for (int64_t c = 0; c < channels; ++c, from += channel)
      for (const int64_t tap : taps) {
        if (valid == kConvBlock)
          for (int64_t r = 0; r < kConvBlock; ++r) to[r] = from[r * output + tap];
        else
          for (int64_t r = 0; r < valid; ++r) to[r] = from[r * output + tap];
        to += width;
      }
  }
};

// y = activation(bias + the sum over the windows of x). Rows of at least one vector are written directly to
// y; the last vector of a row overlaps the previous one. Shorter rows are computed with the gaps between them
// into a buffer and then copied.
template <class T>
void direct_sums(const ConvGeometry& g, const T* x, const Weights<T>& weights, const T* bias,
                 const Placement& place, T* y, StretchKernel activation = nullptr) {
  const ConvTiling tiling(g, kTileBytes, sizeof(T));
  const int64_t lanes = conv_lanes(sizeof(T) == 8), length = tiling.row_length, width = g.out[2];
  const int64_t per_row = ceil_div(width, lanes), gapped = ceil_div(tiling.rows * length, lanes);
  const bool straight = width >= lanes && place.dense() && 4 * tiling.rows * per_row <= 5 * gapped;
  std::vector<ConvSpan> spans;
  if (straight) {
    for (int64_t r = 0; r < tiling.rows; ++r)
      for (int64_t i = 0; i < per_row; ++i) {
        const int64_t at = std::min(i * lanes, width - lanes);
        spans.push_back({r * length + at, r * width + at});
      }
  } else {
    for (int64_t i = 0; i < gapped; ++i) spans.push_back({i * lanes, i * lanes});
  }

  const int64_t outputs = g.group_outputs(), block = outputs == 1 ? 1 : kConvBlock;
  const int64_t blocks = ceil_div(outputs, block), taps = int64_t(tiling.offsets.size());
  const int64_t block_weights = g.group_inputs() * taps * block;
  const Workspace<T> packed(g.groups * blocks * block_weights), packed_bias(g.groups * blocks * block);
  weights.pack(g, bias, block, packed.data(), packed_bias.data());

  const int64_t tiles = g.batch * g.groups * tiling.bands;
  const int64_t parts =
      std::clamp<int64_t>(ceil_div(2 * thread_count(), std::max<int64_t>(1, tiles)), 1, blocks);
  const int64_t slack = lanes + length, per_part = ceil_div(blocks, parts);
  const double work =
      work_of(g, tiling.rows * width) / double(parts) + double(g.group_inputs() * tiling.channel);
  parallel_for(tiles * parts, grain_of(work), [&](int64_t begin, int64_t end) {
    const Workspace<T> tile(g.group_inputs() * tiling.channel + slack);
    const Workspace<T> gaps(straight ? 0 : block * gapped * lanes);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t part = parts == 1 ? 0 : item % parts, tile_index = parts == 1 ? item : item / parts;
      const int64_t image_group = tiling.bands == 1 ? tile_index : tile_index / tiling.bands;
      const ConvTiling::Band band = tiling.band(g, tile_index - image_group * tiling.bands);
      const int64_t image = image_group / g.groups, group = image_group - image * g.groups;
      unfold_tile(g, tiling, band, x + (image * g.in_channels + group * g.group_inputs()) * g.in_size(),
                  g.group_inputs(), slack, tile.data());
      for (int64_t b = part * per_part; b < std::min(blocks, (part + 1) * per_part); ++b) {
        if (item > begin || b > part * per_part) context().check_stop();
        const int64_t channel = g.out_channels * image + group * outputs + b * block;
        const int64_t rows = std::min(block, outputs - b * block);
        T* const out = y + channel * place.channel();
        ConvSums<T> sums{.rows = rows,
                         .width = block,
                         .channels = g.group_inputs(),
                         .taps = taps,
                         .x = tile.data(),
                         .weights = packed.data() + (group * blocks + b) * block_weights,
                         .bias = packed_bias.data() + (group * blocks + b) * block,
                         .offsets = tiling.offsets.data(),
                         .x_stride = tiling.channel,
                         .y_stride = gapped * lanes,
                         .y = gaps.data(),
                         .spans = spans.data(),
                         .span_count = ceil_div(band.rows * length, lanes)};
        if (straight) {
          sums.y = out + place.row(band.depth, band.first);
          sums.y_stride = place.channel();
          sums.span_count = band.rows * per_row;
        }
        conv_sums(sums);
        for (int64_t r = 0; !straight && r < rows; ++r)
          for (int64_t h = 0; h < band.rows; ++h) {
            const T* const from = gaps.data() + r * sums.y_stride + h * length;
            T* const to = out + r * place.channel() + place.row(band.depth, band.first + h);
            if (place.step[2] == 1)
              std::copy_n(from, width, to);
            else
              for (int64_t w = 0; w < width; ++w) to[w * place.step[2]] = from[w];
          }
        for (int64_t r = 0; activation && r < rows; ++r)  // only with a dense placement
          run_in_place(activation, out + r * place.channel() + place.row(band.depth, band.first),
                       band.rows * width);
      }
    }
  });
}

// Whether to use im2col and a matrix product: either windows do not overlap, so that the columns are no
// larger than the image, or the result is too small to fill vectors.
bool by_columns(const ConvGeometry& g) {
  bool apart = g.group_outputs() > 1;
  for (size_t d = 0; d < ConvGeometry::kSpatial; ++d) apart &= g.stride[d] >= g.kernel[d];
  return apart || (g.groups == 1 && g.out_size() < 16);
}

// Whether the gradient of the inputs has so few channels that the remainders of a stride are hardly worth
// unfolding the outputs' gradient for each. One image's columns take at most 8 MiB, and images suffice for
// the threads.
bool spreads_few(const ConvGeometry& g) {
  const bool strided = g.stride != ConvGeometry::Sizes{1, 1, 1};
  return strided && g.groups == 1 && g.in_channels < 8 && g.out_channels >= 16 && g.batch >= 8 &&
         g.window() * g.out_size() <= (8 << 20) / int64_t(sizeof(double));
}

// A matrix product for each image and group: y = activation(A x + bias), A [outputs, inputs].
template <class T>
void multiply_images(const ConvGeometry& g, int64_t outputs, int64_t inputs, const T* x, blas::Matrix<T> a,
                     const T* bias, T* y, StretchKernel activation = nullptr) {
  const int64_t positions = g.out_size();
  const int64_t columns = std::clamp<int64_t>(
      ceil_div(positions, ceil_div(2 * thread_count(), std::max<int64_t>(1, g.batch * g.groups))), 1,
      1 << 12);
  const int64_t panels = ceil_div(positions, columns);
  const int64_t group_weights = g.group_outputs() * g.window();
  parallel_for(g.batch * g.groups * panels, grain_of(work_of(g, columns)), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      if (item > begin) context().check_stop();
      const int64_t image_group = item / panels, group = image_group % g.groups,
                    first = item % panels * columns;
      const int64_t count = std::min(columns, positions - first);
      T* const out = y + image_group * outputs * positions + first;
      if (bias)
        for (int64_t o = 0; o < outputs; ++o)
          std::fill_n(out + o * positions, count, bias[group * outputs + o]);
      blas::gemm<T>(outputs, count, inputs, {a.data + group * group_weights, a.ld, a.transposed},
                    {x + image_group * inputs * positions + first, positions}, bias ? 1 : 0, out, positions);
      for (int64_t o = 0; activation && o < outputs; ++o)
        run_in_place(activation, out + o * positions, count);
    }
  });
}

// Calls f(index of image and group, memory for its columns) for all images and groups.
template <class T, class F>
void for_columns(const ConvGeometry& g, F&& f) {
  const int64_t size = g.window() * g.out_size();
  parallel_for(g.batch * g.groups, grain_of(work_of(g, g.out_size())), [&](int64_t begin, int64_t end) {
    const Workspace<T> columns(size);
    for (int64_t item = begin; item < end; ++item) {
      if (item > begin) context().check_stop();
      f(item, columns.data());
    }
  });
}

template <class T>
void columns_forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                     StretchKernel activation) {
  const int64_t positions = g.out_size(), outputs = g.group_outputs(), window = g.window();
  for_columns<T>(g, [&](int64_t image_group, T* columns) {
    const int64_t group = image_group % g.groups;
    windows_to_columns(g, x + image_group * g.group_inputs() * g.in_size(), g.group_inputs(), columns);
    T* const out = y + image_group * outputs * positions;
    if (bias)
      for (int64_t o = 0; o < outputs; ++o)
        std::fill_n(out + o * positions, positions, bias[group * outputs + o]);
    blas::gemm<T>(outputs, positions, window, {weight + group * outputs * window, window},
                  {columns, positions}, bias ? 1 : 0, out, positions);
    run_in_place(activation, out, outputs * positions);
  });
}

template <class T>
void columns_grad_input(const ConvGeometry& g, const T* grad, const T* weight, const T* bias, T* dx) {
  const int64_t positions = g.out_size(), outputs = g.group_outputs(), window = g.window();
  const int64_t inputs = g.group_inputs();
  for_columns<T>(g, [&](int64_t image_group, T* columns) {
    const int64_t group = image_group % g.groups;
    blas::gemm<T>(window, positions, outputs, {weight + group * outputs * window, window, true},
                  {grad + image_group * outputs * positions, positions}, 0, columns, positions);
    T* const out = dx + image_group * inputs * g.in_size();
    for (int64_t c = 0; c < inputs; ++c)
      std::fill_n(out + c * g.in_size(), g.in_size(), bias ? bias[group * inputs + c] : T(0));
    add_columns(g, columns, inputs, out);
  });
}

// Sums over images and bands in blocks and adds the blocks in order, so that the result does not depend on
// the threads.
template <class T>
void add_blocks(const T* partial, int64_t groups, int64_t blocks, int64_t size, T* sums) {
  parallel_for(groups * size, std::max<int64_t>(64, 32768 / blocks), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* const part = partial + i / size * blocks * size + i % size;
      T sum = part[0];
      for (int64_t block = 1; block < blocks; ++block) sum += part[block * size];
      sums[i] = sum;
    }
  });
}

// The number of blocks: enough for so many threads, each with enough work for a thread.
int64_t block_count(const ConvGeometry& g, int64_t items, int64_t threads) {
  const double work = work_of(g, g.out_size()) * double(g.batch);
  const int64_t most = std::clamp<int64_t>(ceil_div(2 * threads, g.groups), 1, std::max<int64_t>(1, items));
  return std::clamp<int64_t>(int64_t(work * double(g.groups) / kGrain), 1, most);
}

template <class T>
void columns_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  const int64_t positions = g.out_size(), window = g.window(), size = g.group_outputs() * window;
  const int64_t blocks = block_count(g, g.batch, thread_count()), per_block = ceil_div(g.batch, blocks);
  const Workspace<T> partial(blocks > 1 ? g.groups * blocks * size : 0);
  parallel_for(g.groups * blocks, 1, [&](int64_t begin, int64_t end) {
    const Workspace<T> columns(g.is_pointwise() ? 0 : window * positions);
    for (int64_t part = begin; part < end; ++part) {
      const int64_t group = part / blocks, first = part % blocks * per_block;
      T* const sum = (blocks > 1 ? partial.data() : dweight) + part * size;
      std::fill_n(sum, size, T(0));
      for (int64_t image = first; image < std::min(g.batch, first + per_block); ++image) {
        if (image > first) context().check_stop();
        const T* in = x + (image * g.in_channels + group * g.group_inputs()) * g.in_size();
        const T* const out = grad + (image * g.out_channels + group * g.group_outputs()) * positions;
        if (!g.is_pointwise()) {
          windows_to_columns(g, in, g.group_inputs(), columns.data());
          in = columns.data();
        }
        blas::gemm<T>(g.group_outputs(), window, positions, {out, positions}, {in, positions, true}, 1, sum,
                      window);
      }
    }
  });
  if (blocks > 1) add_blocks(partial.data(), g.groups, blocks, size, dweight);
}

// Copies rows of g, each lengthened to a row of the unfolded input; the gaps are 0.
template <class T>
void spread_rows(const T* g, int64_t rows, int64_t width, int64_t row_length, int64_t length, T* out) {
  T* const end = out + length;
  for (int64_t r = 0; r < rows; ++r, out += row_length, g += width) {
    std::copy_n(g, width, out);
    std::fill(out + width, out + std::min(row_length, end - out), T(0));
  }
  if (out < end) std::fill(out, end, T(0));
}

template <class T>
void direct_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  const ConvTiling tiling(g, kTileBytes, sizeof(T), kRowsBytes / 4 / int64_t(sizeof(T)));
  const int64_t lanes = conv_lanes(sizeof(T) == 8), window = g.window(), outputs = g.group_outputs();
  const int64_t length = ceil_div(tiling.rows * tiling.row_length, lanes) * lanes;
  const int64_t slack = lanes + tiling.row_length, rows = std::min(outputs, kConvBlock);
  const int64_t tile_size = g.group_inputs() * tiling.channel + slack, spread_size = rows * length;
  std::vector<int64_t> offsets;
  for (int64_t c = 0; c < g.group_inputs(); ++c)
    for (const int64_t offset : tiling.offsets) offsets.push_back(c * tiling.channel + offset);

  const int64_t items = g.batch * tiling.bands, size = outputs * window;
  // As for sixteen threads and at most 8 MiB of sums: the result does not depend on the number of threads.
  const int64_t room =
      std::max<int64_t>(1, (8 << 20) / int64_t(sizeof(T)) / std::max<int64_t>(1, g.groups * size));
  const int64_t blocks = std::min(room, block_count(g, items, 16)), per_block = ceil_div(items, blocks);
  const int64_t row_blocks = ceil_div(outputs, kConvBlock);
  const int64_t parts = std::clamp<int64_t>(2 * thread_count() / (g.groups * blocks), 1, row_blocks);
  const int64_t per_part = ceil_div(row_blocks, parts);
  const int64_t most = std::min(kPiecesBytes / ((tile_size + spread_size) * int64_t(sizeof(T))),
                                kRowsBytes / (std::min<int64_t>(rows, 4) * length * int64_t(sizeof(T))));
  const int64_t pieces = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, per_block));
  const Workspace<T> partial(blocks > 1 ? g.groups * blocks * size : 0);

  const double work = work_of(g, tiling.rows * g.out[2]) * double(per_block) / double(parts);
  parallel_for(g.groups * blocks * parts, grain_of(work), [&](int64_t begin, int64_t end) {
    const Workspace<T> tiles(pieces * tile_size), spread(pieces * spread_size);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % parts, sum_index = task / parts, group = sum_index / blocks;
      const int64_t last = std::min(items, (sum_index % blocks + 1) * per_block);
      const int64_t first_row = part * per_part * kConvBlock;
      const int64_t last_row = std::min(outputs, (part + 1) * per_part * kConvBlock);
      T* const sum = (blocks > 1 ? partial.data() : dweight) + sum_index * size;
      if (first_row < last_row) std::fill(sum + first_row * window, sum + last_row * window, T(0));
      for (int64_t item = sum_index % blocks * per_block; item < last; item += pieces) {
        const int64_t count = std::min(pieces, last - item);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t image = (item + i) / tiling.bands;
          unfold_tile(g, tiling, tiling.band(g, (item + i) % tiling.bands),
                      x + (image * g.in_channels + group * g.group_inputs()) * g.in_size(), g.group_inputs(),
                      slack, tiles.data() + i * tile_size);
        }
        for (int64_t o = first_row; o < last_row; o += kConvBlock) {
          context().check_stop();
          const int64_t block_rows = std::min(kConvBlock, outputs - o);
          for (int64_t i = 0; i < count; ++i) {
            const int64_t image = (item + i) / tiling.bands;
            const ConvTiling::Band band = tiling.band(g, (item + i) % tiling.bands);
            for (int64_t r = 0; r < block_rows; ++r)
              spread_rows(grad + (image * g.out_channels + group * outputs + o + r) * g.out_size() +
                              (band.depth * g.out[1] + band.first) * g.out[2],
                          band.rows, g.out[2], tiling.row_length, length,
                          spread.data() + i * spread_size + r * length);
          }
          conv_products(ConvProducts<T>{.rows = block_rows,
                                        .taps = window,
                                        .pieces = count,
                                        .length = length,
                                        .g = spread.data(),
                                        .x = tiles.data(),
                                        .offsets = offsets.data(),
                                        .g_piece = spread_size,
                                        .g_stride = length,
                                        .x_piece = tile_size,
                                        .sums = sum + o * window,
                                        .sums_stride = window});
        }
      }
    }
  });
  if (blocks > 1) add_blocks(partial.data(), g.groups, blocks, size, dweight);
}

}  // namespace

template <class T>
void conv_forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                  StretchKernel activation) {
  if (g.is_pointwise() && !blocks_sums<T>(g, g.group_outputs()))
    return multiply_images<T>(g, g.group_outputs(), g.group_inputs(), x, {weight, g.window()}, bias, y,
                              activation);
  if (depthwise_sums(g)) return depthwise_forward(g, x, weight, bias, y, activation);
  if (blocks_sums<T>(g, g.group_outputs())) return blocked_forward(g, x, weight, bias, y, activation);
  if (by_columns(g)) return columns_forward(g, x, weight, bias, y, activation);
  Weights<T> weights{weight, g.group_outputs() * g.window(), g.window(), g.kernel_size(), {}};
  weights.taps.resize(size_t(g.kernel_size()));
  std::iota(weights.taps.begin(), weights.taps.end(), 0);
  direct_sums(g, x, weights, bias, Placement{g.out, {0, 0, 0}, {1, 1, 1}}, y, activation);
}

template <class T>
void conv_grad_input(const ConvGeometry& g, const T* grad, const T* weight, const T* bias, T* dx) {
  if (g.is_pointwise() && !blocks_sums<T>(g, g.group_inputs()))
    return multiply_images<T>(g, g.group_inputs(), g.group_outputs(), grad, {weight, g.window(), true}, bias,
                              dx);
  if (depthwise_sums(g)) return depthwise_grad_input(g, grad, weight, bias, dx);
  if (blocks_sums<T>(g, g.group_inputs())) return blocked_grad_input(g, grad, weight, bias, dx);
  if (by_columns(g) || spreads_few(g)) return columns_grad_input(g, grad, weight, bias, dx);
  for_remainders(g, [&](const Sizes& start) {
    const InputGradient part(g, start);
    Weights<T> weights{weight, g.group_outputs() * g.window(), g.kernel_size(), g.window(), part.taps};
    direct_sums(part.geometry, grad, weights, bias, part.place, dx);
  });
}

template <class T>
void conv_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  if (depthwise_weights(g)) return depthwise_grad_weight(g, x, grad, dweight);
  if (blocks_weights<T>(g)) return blocked_grad_weight(g, x, grad, dweight);
  const bool columns = g.is_pointwise() || by_columns(g);
  columns ? columns_grad_weight(g, x, grad, dweight) : direct_grad_weight(g, x, grad, dweight);
}

template void conv_forward(const ConvGeometry&, const float*, const float*, const float*, float*,
                           StretchKernel);
template void conv_forward(const ConvGeometry&, const double*, const double*, const double*, double*,
                           StretchKernel);
template void conv_grad_input(const ConvGeometry&, const float*, const float*, const float*, float*);
template void conv_grad_input(const ConvGeometry&, const double*, const double*, const double*, double*);
template void conv_grad_weight(const ConvGeometry&, const float*, const float*, float*);
template void conv_grad_weight(const ConvGeometry&, const double*, const double*, double*);

}  // namespace lunagrad
