#include "runtime/ops/nn/cpu/blocked_conv.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/transpose_kernels.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/nn/cpu/blocked_conv_kernels.h"
#include "runtime/ops/nn/cpu/conv_places.h"

namespace lunagrad {
namespace {

using Sizes = ConvGeometry::Sizes;

constexpr double kGrain = 4e6;              // operations that are worth another thread: 20 µs
constexpr int64_t kElementGrain = 1 << 14;  // elements that are worth another thread to copy
constexpr int64_t kRun = 32;                // neighbouring positions, at least, that images are grouped for
constexpr int64_t kDepth = 128;  // channels whose weights of one tap fill half of the first-level cache
constexpr int64_t kSumBytes = 96 << 10;  // bytes of the sums of a task
constexpr int64_t kPositions = 128;      // positions whose products are added in registers
constexpr int64_t kMostBlocks = 6;       // blocks of output channels of a task of the weights' gradient

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Images are grouped into sets; [set, group, block of channels, depth and row, column, image, channel]. The
// columns of a row are sorted by their remainder modulo `stride`.
struct Layout {
  int64_t batch, set, groups, channels, blocks;  // channels and their blocks of one group
  Sizes size;
  int64_t stride;

  Layout(const ConvGeometry& g, int64_t all_channels, const Sizes& sizes, int64_t in_set, int64_t step)
      : batch(g.batch),
        set(in_set),
        groups(g.groups),
        channels(all_channels / g.groups),
        blocks(ceil_div(channels, kChannelBlock)),
        size(sizes),
        stride(step) {}
  int64_t sets() const { return ceil_div(batch, set); }
  int64_t images(int64_t index) const { return std::min(set, batch - index * set); }
  int64_t rows() const { return size[0] * size[1]; }
  int64_t pixels() const { return rows() * size[2]; }
  int64_t elements() const { return batch * groups * blocks * pixels() * kChannelBlock; }
  // elements between blocks of channels
  int64_t block(int64_t index) const { return pixels() * images(index) * kChannelBlock; }
  int64_t offset(int64_t index, int64_t group) const {
    return index * set * groups * blocks * pixels() * kChannelBlock + group * blocks * block(index);
  }
  // the place of a column among the columns of its row
  int64_t column(int64_t w) const {
    const int64_t phase = w % stride;
    int64_t first = 0;
    for (int64_t p = 0; p < phase; ++p) first += ceil_div(size[2] - p, stride);
    return first + w / stride;
  }
};

// Writes the transpose of from [valid channels, pixels] to `pixels` places, `step` elements apart.
template <class T>
void turn_channels(const T* from, int64_t channel, int64_t pixels, int64_t valid, T* to, int64_t step) {
  transpose_block(to, step * int64_t(sizeof(T)), from, channel * int64_t(sizeof(T)), pixels, valid,
                  int64_t(sizeof(T)));
  for (int64_t i = 0; valid < kChannelBlock && i < pixels; ++i)
    std::fill(to + i * step + valid, to + i * step + kChannelBlock, T(0));
}

template <class T>
void pack_images(const Layout& to, const T* x, T* packed) {
  const int64_t pixels = to.pixels(), blocks = to.groups * to.blocks, width = to.size[2];
  std::vector<int64_t> columns;
  for (int64_t w = 0; w < width; ++w) columns.push_back(to.column(w));
  parallel_for(
      to.batch * blocks, iterations_in(kElementGrain, pixels * kChannelBlock),
      [&](int64_t begin, int64_t end) {
        const Workspace<T> turned(to.stride > 1 ? width * kChannelBlock : 0);
        for (int64_t item = begin; item < end; ++item) {
          const int64_t n = item / blocks, group = item % blocks / to.blocks, block = item % to.blocks;
          const int64_t set = n / to.set, step = to.images(set) * kChannelBlock;
          const int64_t first = block * kChannelBlock, valid = std::min(kChannelBlock, to.channels - first);
          const T* const from = x + ((n * to.groups + group) * to.channels + first) * pixels;
          T* out = packed + to.offset(set, group) + block * to.block(set) + n % to.set * kChannelBlock;
          if (to.stride == 1) {
            turn_channels(from, pixels, pixels, valid, out, step);
            continue;
          }
          for (int64_t row = 0; row < to.rows(); ++row, out += width * step) {
            turn_channels(from + row * width, pixels, width, valid, turned.data(), kChannelBlock);
            for (int64_t w = 0; w < width; ++w)
              std::memcpy(out + columns[size_t(w)] * step, turned.data() + w * kChannelBlock,
                          size_t(kChannelBlock) * sizeof(T));
          }
        }
      });
}

// How many images form a set, so that rows of `width` outputs are runs of enough positions.
int64_t set_size(const ConvGeometry& g) {
  const int64_t wanted = std::min(g.batch, ceil_div(kRun, std::max<int64_t>(1, g.out[2])));
  return ceil_div(g.batch, ceil_div(g.batch, wanted));
}

// The outputs of a row that a tap reaches: those from `low` to before `high`; output `low` reads column
// `place`.
struct Reach {
  int64_t low, high, place;
  Reach(const ConvGeometry& g, const Layout& x, int64_t tap) {
    const int64_t start = tap * g.dilation[2] - g.padding[2], stride = g.stride[2];
    low = std::clamp<int64_t>(-floor_div(start, stride), 0, g.out[2]);
    high = std::clamp<int64_t>(floor_div(g.in[2] - 1 - start, stride) + 1, low, g.out[2]);
    place = low < high ? x.column(low * stride + start) : 0;
  }
};

// The row of x that a tap reads for row `oh` of outputs at depth `od`, or -1. Rows count through all depths.
int64_t input_row(const ConvGeometry& g, int64_t od, int64_t oh, int64_t kd, int64_t kh) {
  const int64_t d = od * g.stride[0] + kd * g.dilation[0] - g.padding[0];
  const int64_t h = oh * g.stride[1] + kh * g.dilation[1] - g.padding[1];
  return d >= 0 && d < g.in[0] && h >= 0 && h < g.in[1] ? d * g.in[1] + h : -1;
}

// Sums over windows of x: the convolution, or a part of the inputs' gradient. Weights are packed as [group,
// block of outputs, tap, input channel, output channel].
template <class T>
struct Part {
  ConvGeometry geometry;
  std::vector<int64_t> taps;  // of the kernel in the tensor of weights
  Placement place;
  int64_t first_weight = 0;  // of its packed weights
  std::vector<Reach> reaches;
};

template <class T>
struct Outputs {
  const T* bias;
  T* y;
  StretchKernel activation;
};

template <class T>
class Sums {
 public:
  Sums(std::vector<Part<T>> parts, const Layout& x, int64_t outputs)
      : parts_(std::move(parts)),
        x_(x),
        outputs_(outputs),
        columns_(blocked_columns(sizeof(T) == 8)),
        blocks_(ceil_div(outputs, columns_)) {
    for (Part<T>& part : parts_) {
      part.first_weight = weights_;
      weights_ += x.groups * blocks_ * int64_t(part.taps.size()) * x.channels * columns_;
      for (int64_t k = 0; k < part.geometry.kernel[2]; ++k) part.reaches.emplace_back(part.geometry, x, k);
    }
    size_ = parts_[0].geometry.out;
    const int64_t rows = size_[0] * size_[1], items = std::max<int64_t>(1, x.sets() * x.groups * blocks_);
    const int64_t bytes = rows * size_[2] * x.set * columns_ * int64_t(parts_.size() * sizeof(T));
    const int64_t bands = std::max(ceil_div(bytes, kSumBytes), ceil_div(4 * thread_count(), items));
    rows_ = std::max<int64_t>(1, ceil_div(rows, bands));
    bands_ = ceil_div(rows, rows_);
  }

  int64_t weights() const { return weights_; }

  // The weights of a convolution: [output, input channel, tap].
  void pack_forward(const T* weight, T* packed) const {
    const int64_t taps = int64_t(parts_[0].taps.size()), inputs = x_.channels;
    constexpr int64_t kChannels = 16;
    const int64_t pieces = ceil_div(inputs, kChannels);
    parallel_for(x_.groups * blocks_ * pieces, iterations_in(kElementGrain, columns_ * taps * kChannels),
                 [&](int64_t begin, int64_t end) {
                   const Workspace<T> turned(kChannels * taps * columns_);
                   for (int64_t item = begin; item < end; ++item) {
                     const int64_t block = item / pieces, c = item % pieces * kChannels;
                     const int64_t group = block / blocks_, o = block % blocks_ * columns_;
                     const int64_t valid = std::min(columns_, outputs_ - o),
                                   count = std::min(kChannels, inputs - c);
                     const T* const from = weight + ((group * outputs_ + o) * inputs + c) * taps;
                     T* const to = packed + (block * taps * inputs + c) * columns_;
                     turn(from, inputs * taps, count * taps, valid, taps == 1 ? to : turned.data());
                     for (int64_t i = 0; taps > 1 && i < count; ++i)
                       for (int64_t t = 0; t < taps; ++t)
                         std::copy_n(turned.data() + (i * taps + t) * columns_, columns_,
                                     to + (t * inputs + i) * columns_);
                   }
                 });
  }

  // The weights of a convolution's gradient, whose outputs are the convolution's input channels: [input
  // channel, output, tap].
  void pack_backward(const T* weight, int64_t kernel, T* packed) const {
    const int64_t inputs = x_.channels;
    parallel_for(x_.groups * blocks_ * inputs, iterations_in(kElementGrain, columns_ * kernel),
                 [&](int64_t begin, int64_t end) {
                   const Workspace<T> turned(kernel * columns_);
                   for (int64_t item = begin; item < end; ++item) {
                     const int64_t block = item / inputs, c = item % inputs;
                     const int64_t group = block / blocks_, o = block % blocks_ * columns_;
                     const int64_t valid = std::min(columns_, outputs_ - o);
                     turn(weight + ((group * inputs + c) * outputs_ + o) * kernel, kernel, kernel, valid,
                          turned.data());
                     for (const Part<T>& part : parts_) {
                       const int64_t taps = int64_t(part.taps.size());
                       T* const to = packed + part.first_weight + (block * taps * inputs + c) * columns_;
                       for (int64_t t = 0; t < taps; ++t)
                         std::copy_n(turned.data() + part.taps[size_t(t)] * columns_, columns_,
                                     to + t * inputs * columns_);
                     }
                   }
                 });
  }

  void run(const T* x, const T* weights, const Outputs<T>& to) const {
    const int64_t items = x_.sets() * x_.groups * blocks_;
    double work = 0;  // of a task
    for (const Part<T>& part : parts_)
      work += 2.0 * double(part.taps.size()) * double(x_.channels * columns_ * x_.set) *
              double(rows_ * part.geometry.out[2]);
    parallel_for(items * bands_, std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work))),
                 [&](int64_t begin, int64_t end) {
                   const int64_t size = rows_ * size_[2] * columns_ * int64_t(parts_.size());
                   const Workspace<T> sums(size * x_.set), turned(size), line(parts_[0].place.size[2]);
                   for (int64_t i = begin; i < end; ++i) {
                     if (i > begin) context().check_stop();
                     const int64_t item = i / bands_, set = item / blocks_ / x_.groups;
                     const int64_t first = i % bands_ * rows_;
                     const Task task{.set = set,
                                     .images = x_.images(set),
                                     .group = item / blocks_ % x_.groups,
                                     .block = item % blocks_,
                                     .first = first,
                                     .rows = std::min(rows_, size_[0] * size_[1] - first)};
                     run(task, x, weights, to, sums.data(), turned.data(), line.data());
                   }
                 });
  }

 private:
  // to [rows, columns_] = the transpose of from [columns, rows], padded with zeros.
  void turn(const T* from, int64_t step, int64_t rows, int64_t valid, T* to) const {
    if (valid < columns_) std::fill_n(to, rows * columns_, T(0));
    if (rows == 1 && step == 1) return void(std::copy_n(from, valid, to));
    transpose_block(to, columns_ * int64_t(sizeof(T)), from, step * int64_t(sizeof(T)), rows, valid,
                    int64_t(sizeof(T)));
  }

  // The rows of each part that a task computes.
  struct Task {
    int64_t set, images, group, block, first, rows;
  };

  void run(const Task& task, const T* x, const T* weights, const Outputs<T>& to, T* sums, T* turned,
           T* line) const {
    const int64_t valid = std::min(columns_, outputs_ - task.block * columns_);
    const int64_t channel = task.group * outputs_ + task.block * columns_, images = task.images;
    const int64_t pixels = task.rows * size_[2], step = pixels * columns_;
    const Placement& place = parts_[0].place;
    constexpr int64_t kItem = sizeof(T);
    for (size_t i = 0; i < parts_.size(); ++i)
      add_windows(parts_[i], task, x, weights, to.bias ? to.bias + channel : nullptr, valid,
                  sums + int64_t(i) * step * images);
    run_in_place(to.activation, sums, int64_t(parts_.size()) * step * images);
    for (int64_t n = 0; n < images; ++n) {
      T* const out = to.y + ((task.set * x_.set + n) * x_.groups * outputs_ + channel) * place.channel();
      const bool dense = place.dense();
      for (size_t i = 0; i < parts_.size(); ++i)
        transpose_block(dense ? out + task.first * size_[2] : turned + int64_t(i) * step,
                        (dense ? place.channel() : pixels) * kItem,
                        sums + int64_t(i) * step * images + n * columns_, images * columns_ * kItem, valid,
                        pixels, kItem);
      for (int64_t o = 0; !dense && o < valid; ++o)
        join_rows(task, turned + o * pixels, step, line, out + o * place.channel());
    }
  }

  // Writes the rows of one output channel, whose elements are divided among the parts. Memory takes whole
  // rows faster than single elements.
  void join_rows(const Task& task, const T* values, int64_t step, T* line, T* out) const {
    const Placement& place = parts_[0].place;
    const auto together = size_t(std::min(place.step[2], place.size[2]));  // parts of a row
    for (int64_t r = 0; r < task.rows; ++r)
      for (size_t i = 0; i < parts_.size(); i += together) {
        const int64_t d = (task.first + r) / size_[1], h = (task.first + r) % size_[1];
        const Sizes& size = parts_[i].geometry.out;
        if (d >= size[0] || h >= size[1]) continue;
        for (size_t k = 0; k < together; ++k) {
          const T* const from = values + int64_t(i + k) * step + r * size_[2];
          for (int64_t w = 0; w < parts_[i + k].geometry.out[2]; ++w)
            line[w * place.step[2] + int64_t(k)] = from[w];
        }
        std::copy_n(line, place.size[2], out + parts_[i].place.row(d, h));
      }
  }

  // sums [row, column, image, output] = bias + the sums over the windows of x.
  void add_windows(const Part<T>& part, const Task& task, const T* x, const T* weights, const T* bias,
                   int64_t valid, T* sums) const {
    const ConvGeometry& g = part.geometry;
    const int64_t taps = int64_t(part.taps.size()), inputs = x_.channels, images = task.images;
    const int64_t count = task.rows * size_[2] * images;
    std::fill_n(sums, (bias ? 1 : count) * columns_, T(0));
    if (bias) {
      std::copy_n(bias, valid, sums);
      for (int64_t i = 1; i < count; ++i) std::copy_n(sums, columns_, sums + i * columns_);
    }
    const T* const from = x + x_.offset(task.set, task.group);
    const int64_t block = x_.block(task.set);
    const T* const packed =
        weights + part.first_weight + (task.group * blocks_ + task.block) * taps * inputs * columns_;
    for (int64_t c = 0; c < inputs; c += kDepth)
      for (int64_t r = 0; r < task.rows; ++r) {
        const int64_t d = (task.first + r) / size_[1], h = (task.first + r) % size_[1];
        if (d >= g.out[0] || h >= g.out[1]) continue;
        for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
          for (int64_t kh = 0; kh < g.kernel[1]; ++kh) {
            const int64_t row = input_row(g, d, h, kd, kh);
            if (row < 0) continue;
            for (int64_t kw = 0; kw < g.kernel[2]; ++kw) {
              const Reach& reach = part.reaches[size_t(kw)];
              const int64_t tap = (kd * g.kernel[1] + kh) * g.kernel[2] + kw;
              blocked_sums(BlockedSums<T>{.rows = (reach.high - reach.low) * images,
                                          .channels = std::min(kDepth, inputs - c),
                                          .x = from + c / kChannelBlock * block +
                                               (row * x_.size[2] + reach.place) * images * kChannelBlock,
                                          .x_block = block,
                                          .weights = packed + (tap * inputs + c) * columns_,
                                          .y = sums + (r * size_[2] + reach.low) * images * columns_});
            }
          }
      }
  }

  std::vector<Part<T>> parts_;
  Layout x_;
  int64_t outputs_, columns_, blocks_, weights_ = 0;
  Sizes size_;            // outputs of the first part, which has the most
  int64_t rows_, bands_;  // of a task; of an image
};

constexpr int64_t kFew = 64;  // positions of one image, too few to fill BLAS's panels

// Windows that do not overlap are matrix products without blocks (conv.cpp).
bool overlaps(const ConvGeometry& g) {
  bool apart = true;
  for (size_t d = 0; d < ConvGeometry::kSpatial; ++d) apart &= g.stride[d] >= g.kernel[d];
  return !apart;
}

template <class T>
bool has_blocks(const ConvGeometry& g) {
  return blocked_columns(sizeof(T) == 8) >= 8 && g.group_inputs() >= kChannelBlock &&
         g.group_outputs() >= kChannelBlock && g.batch * g.in_size() * g.out_size() > 0;
}

}  // namespace

template <class T>
bool blocks_weights(const ConvGeometry& g) {
  return has_blocks<T>(g) && (overlaps(g) || g.out_size() <= kFew);
}

template <class T>
bool blocks_sums(const ConvGeometry& g, int64_t outputs) {
  constexpr int64_t kWide = 64, kNarrow = 8;  // rows that fill vectors well, and badly
  constexpr int64_t kMany = 128;              // channels whose products take longer than packing
  const int64_t columns = blocked_columns(sizeof(T) == 8), computed = ceil_div(outputs, columns) * columns;
  if (!has_blocks<T>(g) || g.out[2] > kWide) return false;
  if (!overlaps(g)) return g.out_size() <= kFew && std::min(g.group_inputs(), g.group_outputs()) >= kMany;
  return 2 * computed <= 3 * outputs || g.out[2] <= kNarrow;
}

template <class T>
void blocked_forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                     StretchKernel activation) {
  const Layout layout(g, g.in_channels, g.in, set_size(g), g.stride[2]);
  Part<T> part{.geometry = g, .taps = {}, .place = {g.out, {0, 0, 0}, {1, 1, 1}}, .reaches = {}};
  part.taps.resize(size_t(g.kernel_size()));
  std::iota(part.taps.begin(), part.taps.end(), 0);
  const Sums<T> sums({part}, layout, g.group_outputs());
  const Workspace<T> packed(layout.elements()), weights(sums.weights());
  pack_images(layout, x, packed.data());
  sums.pack_forward(weight, weights.data());
  sums.run(packed.data(), weights.data(), {bias, y, activation});
}

template <class T>
void blocked_grad_input(const ConvGeometry& g, const T* grad, const T* weight, const T* bias, T* dx) {
  const Layout layout(g, g.out_channels, g.out, set_size(g), 1);
  std::vector<Part<T>> parts;
  for_remainders(g, [&](const Sizes& start) {
    const InputGradient part(g, start);
    parts.push_back({.geometry = part.geometry, .taps = part.taps, .place = part.place, .reaches = {}});
  });
  const Sums<T> sums(std::move(parts), layout, g.group_inputs());
  const Workspace<T> packed(layout.elements()), weights(sums.weights());
  pack_images(layout, grad, packed.data());
  sums.pack_backward(weight, g.kernel_size(), weights.data());
  sums.run(packed.data(), weights.data(), {bias, dx, nullptr});
}

template <class T>
void blocked_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  const Layout in(g, g.in_channels, g.in, set_size(g), g.stride[2]);
  const Layout out(g, g.out_channels, g.out, in.set, 1);
  const Workspace<T> packed(in.elements()), packed_grad(out.elements());
  pack_images(in, x, packed.data());
  pack_images(out, grad, packed_grad.data());

  std::vector<Reach> reaches;
  for (int64_t k = 0; k < g.kernel[2]; ++k) reaches.emplace_back(g, in, k);
  const int64_t rows = out.rows(), taps = g.kernel_size(), lines = g.kernel[0] * g.kernel[1];
  const int64_t band = std::max<int64_t>(1, kPositions / std::max<int64_t>(1, g.out[2] * in.set));
  const int64_t tiles = ceil_div(out.blocks, kMostBlocks), per_tile = ceil_div(out.blocks, tiles);
  const int64_t whole = g.groups * in.blocks * tiles;
  const int64_t parts = std::clamp<int64_t>(ceil_div(4 * thread_count(), whole), 1, lines);
  const int64_t per_part = ceil_div(lines, parts);
  const double work = 2.0 * double(taps * kChannelBlock * per_tile * kChannelBlock) / double(parts) *
                      double(g.batch * g.out_size());
  parallel_for(
      whole * parts, std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work))),
      [&](int64_t begin, int64_t end) {
        const int64_t most = per_tile * kChannelBlock;
        const Workspace<T> sums(kChannelBlock * per_part * g.kernel[2] * most);
        std::vector<BlockedRun> runs(static_cast<size_t>(band));
        for (int64_t item = begin; item < end; ++item) {
          const int64_t tile = item / parts % tiles, block = item / parts / tiles % in.blocks;
          const int64_t group = item / parts / tiles / in.blocks;
          const int64_t first_line = item % parts * per_part,
                        last_line = std::min(lines, first_line + per_part);
          if (first_line >= last_line) continue;
          const int64_t columns = std::min(per_tile, out.blocks - tile * per_tile) * kChannelBlock;
          const int64_t count = (last_line - first_line) * g.kernel[2];  // taps
          std::fill_n(sums.data(), kChannelBlock * count * columns, T(0));
          for (int64_t set = 0; set < in.sets(); ++set) {
            const int64_t images = in.images(set);
            const T* const from = packed.data() + in.offset(set, group) + block * in.block(set);
            const T* const up =
                packed_grad.data() + out.offset(set, group) + tile * per_tile * out.block(set);
            for (int64_t first = 0; first < rows; first += band) {
              context().check_stop();
              for (int64_t line = first_line; line < last_line; ++line)
                for (int64_t kw = 0; kw < g.kernel[2]; ++kw) {
                  const Reach& reach = reaches[size_t(kw)];
                  int64_t found = 0;
                  for (int64_t r = first; r < std::min(rows, first + band); ++r) {
                    const int64_t row =
                        input_row(g, r / g.out[1], r % g.out[1], line / g.kernel[1], line % g.kernel[1]);
                    if (row < 0 || reach.low == reach.high) continue;
                    runs[size_t(found++)] = {(row * g.in[2] + reach.place) * images,
                                             (r * g.out[2] + reach.low) * images,
                                             (reach.high - reach.low) * images};
                  }
                  const int64_t tap = (line - first_line) * g.kernel[2] + kw;
                  blocked_products(BlockedProducts<T>{.runs = runs.data(),
                                                      .run_count = found,
                                                      .columns = columns,
                                                      .x = from,
                                                      .g = up,
                                                      .g_block = out.block(set),
                                                      .sums = sums.data() + tap * columns,
                                                      .sums_step = count * columns});
                }
            }
          }
          const int64_t c = block * kChannelBlock, o = tile * per_tile * kChannelBlock;
          const int64_t valid = std::min(columns, out.channels - o);
          T* const to =
              dweight + ((group * out.channels + o) * in.channels + c) * taps + first_line * g.kernel[2];
          constexpr int64_t kItem = sizeof(T);
          // All taps of the channels are neighbours, the taps of a part are not.
          const int64_t inputs = std::min(kChannelBlock, in.channels - c);
          const int64_t together = count == taps ? inputs : 1;
          for (int64_t i = 0; i < inputs; i += together)
            transpose_block(to + i * taps, in.channels * taps * kItem, sums.data() + i * count * columns,
                            columns * kItem, valid, together * count, kItem);
        }
      });
}

template bool blocks_sums<float>(const ConvGeometry&, int64_t);
template bool blocks_sums<double>(const ConvGeometry&, int64_t);
template bool blocks_weights<float>(const ConvGeometry&);
template bool blocks_weights<double>(const ConvGeometry&);
template void blocked_forward(const ConvGeometry&, const float*, const float*, const float*, float*,
                              StretchKernel);
template void blocked_forward(const ConvGeometry&, const double*, const double*, const double*, double*,
                              StretchKernel);
template void blocked_grad_input(const ConvGeometry&, const float*, const float*, const float*, float*);
template void blocked_grad_input(const ConvGeometry&, const double*, const double*, const double*, double*);
template void blocked_grad_weight(const ConvGeometry&, const float*, const float*, float*);
template void blocked_grad_weight(const ConvGeometry&, const double*, const double*, double*);

}  // namespace lunagrad
