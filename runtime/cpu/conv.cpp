#include "runtime/cpu/conv.h"

#include <algorithm>
#include <cstring>

#include "runtime/context.h"
#include "runtime/cpu/blas.h"
#include "runtime/cpu/parallel.h"
#include "runtime/device.h"

namespace lunagrad {
namespace {

constexpr int64_t kTileBytes = 384 << 10;  // of copied windows: about half of a core's second-level cache
constexpr double kGrain = 4e6;             // operations, 20 µs

// Memory for one range of a loop.
template <class T>
class Workspace {
 public:
  explicit Workspace(int64_t count)
      : bytes_(size_t(count) * sizeof(T)), data_(static_cast<T*>(cpu_device().alloc(bytes_))) {}
  ~Workspace() { cpu_device().free(data_, bytes_); }
  Workspace(const Workspace&) = delete;
  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of outputs whose windows fill a tile.
template <class T>
int64_t tile_rows(const ConvGeometry& g) {
  const int64_t row_bytes = std::max<int64_t>(1, g.window() * g.out[2] * int64_t(sizeof(T)));
  const int64_t rows = std::clamp<int64_t>(kTileBytes / row_bytes, 1, std::max<int64_t>(1, g.out_rows()));
  return ceil_div(g.out_rows(), std::max<int64_t>(1, ceil_div(g.out_rows(), rows)));
}

// Operations of `outputs` results.
double work_of(const ConvGeometry& g, int64_t outputs) {
  return 2.0 * double(g.group_outputs()) * double(g.window()) * double(outputs);
}

// A row of inputs that one weight meets along one row of outputs: outputs [low, high) read x[start + i *
// stride], the others lie in the padding.
struct Segment {
  const int64_t start, low, high;
};

// Calls f(k, row, offset of the input row in its channel or -1 for padding, segment) for every weight k of
// channel 0 … channels - 1 and every output row of [first, last).
template <class F>
void for_segments(const ConvGeometry& g, int64_t channels, int64_t first, int64_t last, F&& f) {
  int64_t k = 0;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
        for (int64_t kw = 0; kw < g.kernel[2]; ++kw, ++k) {
          const int64_t start = kw * g.dilation[2] - g.padding[2];
          const int64_t low = start >= 0 ? 0 : std::min(g.out[2], ceil_div(-start, g.stride[2]));
          const int64_t high = std::clamp<int64_t>(
              ceil_div(std::max<int64_t>(0, g.in[2] - start), g.stride[2]), low, g.out[2]);
          const Segment segment{start, low, high};
          int64_t od = first / g.out[1], oh = first % g.out[1];
          for (int64_t row = first; row < last; ++row) {
            const int64_t d = od * g.stride[0] - g.padding[0] + kd * g.dilation[0];
            const int64_t h = oh * g.stride[1] - g.padding[1] + kh * g.dilation[1];
            const bool inside = d >= 0 && d < g.in[0] && h >= 0 && h < g.in[1];
            f(k, row, inside ? (c * g.in[0] + d) * g.in[1] * g.in[2] + h * g.in[2] : -1, segment);
            if (++oh == g.out[1]) oh = 0, ++od;
          }
        }
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

template <class T>
inline void add_row(const T* __restrict in, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += in[i];
}

// copy_windows for images as wide as their results, stride 1: each weight sees the whole channel, shifted, so
// that one copy serves all rows and only what came from the neighbouring row at either end must be cleared.
template <class T>
void copy_shifted(const ConvGeometry& g, const T* x, int64_t first, int64_t last, T* columns) {
  const int64_t width = g.out[2];
  T* out = columns;
  for (int64_t c = 0; c < g.group_inputs(); ++c)
    for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
      for (int64_t kw = 0; kw < g.kernel[2]; ++kw, out += (last - first) * width) {
        const int64_t down = kh * g.dilation[1] - g.padding[1], right = kw * g.dilation[2] - g.padding[2];
        const int64_t top = std::clamp(-down, first, last), bottom = std::clamp(g.in[1] - down, top, last);
        const int64_t low = std::clamp<int64_t>(-right, 0, width),
                      high = std::clamp(width - right, low, width);
        T* const rows = out + (top - first) * width;
        const int64_t count = (bottom - top) * width;
        std::fill(out, rows, T(0));
        std::fill(rows + count, out + (last - first) * width, T(0));
        if (count == 0) continue;
        if (low == high) {
          std::fill_n(rows, count, T(0));
          continue;
        }
        const T* const from = x + (c * g.in[1] + top + down) * width + right;
        std::copy(from + low, from + count - width + high, rows + low);
        for (int64_t row = 0; row < count; row += width) {
          for (int64_t i = 0; i < low; ++i) rows[row + i] = 0;
          for (int64_t i = high; i < width; ++i) rows[row + i] = 0;
        }
      }
}

// columns[k, position] = the input that weight k meets at that output position, rows [first, last) of
// outputs.
template <class T>
void copy_windows(const ConvGeometry& g, const T* x, int64_t first, int64_t last, T* columns) {
  const int64_t width = g.out[2], tile = (last - first) * width, stride = g.stride[2];
  if (g.stride == ConvGeometry::Sizes{1, 1, 1} && width == g.in[2] && g.kernel[0] * g.in[0] * g.out[0] == 1)
    return copy_shifted(g, x, first, last, columns);
  for_segments(g, g.group_inputs(), first, last, [&](int64_t k, int64_t row, int64_t at, const Segment& s) {
    T* const out = columns + k * tile + (row - first) * width;
    if (at < 0) {
      std::fill_n(out, width, T(0));
      return;
    }
    const T* const in = x + at + s.start;
    for (int64_t i = 0; i < s.low; ++i) out[i] = 0;
    if (stride == 1)
      copy_row(in + s.low, out + s.low, s.high - s.low);
    else
      for (int64_t i = s.low; i < s.high; ++i) out[i] = in[i * stride];
    for (int64_t i = s.high; i < width; ++i) out[i] = 0;
  });
}

// The reverse: adds each window's values to the inputs they came from, for `channels` channels.
template <class T>
void add_windows(const ConvGeometry& g, const T* columns, int64_t channels, int64_t first, int64_t last,
                 T* x) {
  const int64_t width = g.out[2], tile = (last - first) * width, stride = g.stride[2];
  for_segments(g, channels, first, last, [&](int64_t k, int64_t row, int64_t at, const Segment& s) {
    if (at < 0) return;
    const T* const in = columns + k * tile + (row - first) * width;
    T* const out = x + at + s.start;
    if (stride == 1)
      add_row(in + s.low, out + s.low, s.high - s.low);
    else
      for (int64_t i = s.low; i < s.high; ++i) out[i * stride] += in[i];
  });
}

}  // namespace

bool ConvGeometry::is_pointwise() const {
  const Sizes one{1, 1, 1}, none{0, 0, 0};
  return kernel == one && stride == one && padding == none;
}

template <class T>
void conv_forward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y) {
  const int64_t rows = tile_rows<T>(g), tiles = ceil_div(g.out_rows(), rows);
  const int64_t window = g.window(), positions = g.out_size();
  const int64_t grain = std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work_of(g, rows * g.out[2]))));
  parallel_for(g.batch * g.groups * tiles, grain, [&](int64_t begin, int64_t end) {
    const Workspace<T> columns(g.is_pointwise() ? 0 : window * rows * g.out[2]);
    for (int64_t item = begin; item < end; ++item) {
      if (item > begin) context().check_stop();
      const int64_t image = item / tiles / g.groups, group = item / tiles % g.groups;
      const int64_t first = item % tiles * rows, last = std::min(first + rows, g.out_rows());
      const int64_t count = (last - first) * g.out[2];
      const T* const in = x + (image * g.in_channels + group * g.group_inputs()) * g.in_size();
      const int64_t output = group * g.group_outputs();
      T* const out = y + (image * g.out_channels + output) * positions + first * g.out[2];
      if (bias)
        for (int64_t o = 0; o < g.group_outputs(); ++o)
          std::fill_n(out + o * positions, count, bias[output + o]);
      blas::Matrix<T> inputs{in + first * g.out[2], positions};
      if (!g.is_pointwise()) {
        copy_windows(g, in, first, last, columns.data());
        inputs = {columns.data(), count};
      }
      blas::gemm<T>(g.group_outputs(), count, window, {weight + output * window, window}, inputs,
                    bias ? 1 : 0, out, positions);
    }
  });
}

template <class T>
void conv_grad_input(const ConvGeometry& g, const T* grad, const T* weight, T* dx) {
  const int64_t window = g.window(), positions = g.out_size(), inputs = g.group_inputs();
  // Windows overlap, so an image's channel belongs to one thread; channels are divided where there are few
  // images.
  const int64_t images = g.batch * g.groups;
  const int64_t parts =
      std::clamp<int64_t>(images >= 2 * thread_count() ? 1 : ceil_div(2 * thread_count(), images), 1,
                          std::max<int64_t>(1, inputs));
  const int64_t channels = ceil_div(inputs, parts), pieces = ceil_div(inputs, channels);
  const int64_t rows = tile_rows<T>(g);
  const int64_t grain = std::max<int64_t>(1, int64_t(kGrain / std::max(1.0, work_of(g, positions / pieces))));
  parallel_for(images * pieces, grain, [&](int64_t begin, int64_t end) {
    const Workspace<T> columns(g.is_pointwise() ? 0 : channels * g.kernel_size() * rows * g.out[2]);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t image = item / pieces / g.groups, group = item / pieces % g.groups;
      const int64_t channel = item % pieces * channels, count = std::min(channels, inputs - channel);
      T* const out = dx + (image * g.in_channels + group * inputs + channel) * g.in_size();
      const int64_t output = group * g.group_outputs();
      const T* const in = grad + (image * g.out_channels + output) * positions;
      const blas::Matrix<T> weights{weight + output * window + channel * g.kernel_size(), window, true};
      if (!g.is_pointwise()) std::fill_n(out, count * g.in_size(), T(0));
      for (int64_t first = 0; first < g.out_rows(); first += rows) {
        if (first > 0 || item > begin) context().check_stop();
        const int64_t last = std::min(first + rows, g.out_rows()), tile = (last - first) * g.out[2];
        T* const target = g.is_pointwise() ? out + first * g.out[2] : columns.data();
        blas::gemm<T>(count * g.kernel_size(), tile, g.group_outputs(), weights,
                      {in + first * g.out[2], positions}, 0, target, g.is_pointwise() ? positions : tile);
        if (!g.is_pointwise()) add_windows(g, columns.data(), count, first, last, out);
      }
    }
  });
}

template <class T>
void conv_grad_weight(const ConvGeometry& g, const T* x, const T* grad, T* dweight) {
  const int64_t rows = tile_rows<T>(g), tiles = ceil_div(g.out_rows(), rows);
  const int64_t window = g.window(), positions = g.out_size();
  const int64_t size = g.group_outputs() * window, items = g.batch * tiles;
  // The sum over images is taken in blocks and the blocks added up in order, whichever thread did them.
  const double work = work_of(g, positions) * double(g.batch);
  const int64_t most = std::max<int64_t>(1, std::min<int64_t>(items, 2 * thread_count()));
  const int64_t blocks = std::clamp<int64_t>(int64_t(work / kGrain), 1, most);
  const int64_t per_block = ceil_div(items, blocks);
  const Workspace<T> partial(blocks > 1 ? g.groups * blocks * size : 0);
  parallel_for(g.groups * blocks, 1, [&](int64_t begin, int64_t end) {
    const Workspace<T> columns(g.is_pointwise() ? 0 : window * rows * g.out[2]);
    for (int64_t part = begin; part < end; ++part) {
      const int64_t group = part / blocks, block = part % blocks, output = group * g.group_outputs();
      T* const sum = blocks > 1 ? partial.data() + part * size : dweight + output * window;
      T beta = 0;
      for (int64_t item = block * per_block; item < std::min(items, (block + 1) * per_block);
           ++item, beta = 1) {
        if (beta != 0) context().check_stop();
        const int64_t image = item / tiles, first = item % tiles * rows,
                      last = std::min(first + rows, g.out_rows());
        const int64_t count = (last - first) * g.out[2];
        const T* const in = x + (image * g.in_channels + group * g.group_inputs()) * g.in_size();
        blas::Matrix<T> inputs{in + first * g.out[2], positions, true};
        if (!g.is_pointwise()) {
          copy_windows(g, in, first, last, columns.data());
          inputs = {columns.data(), count, true};
        }
        const T* const out = grad + (image * g.out_channels + output) * positions + first * g.out[2];
        blas::gemm<T>(g.group_outputs(), window, count, {out, positions}, inputs, beta, sum, window);
      }
      if (beta == 0) std::fill_n(sum, size, T(0));
    }
  });
  if (blocks == 1) return;
  parallel_for(g.groups * size, std::max<int64_t>(64, 32768 / blocks), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* const part = partial.data() + i / size * blocks * size + i % size;
      T sum = part[0];
      for (int64_t block = 1; block < blocks; ++block) sum += part[block * size];
      dweight[i] = sum;
    }
  });
}

template void conv_forward(const ConvGeometry&, const float*, const float*, const float*, float*);
template void conv_forward(const ConvGeometry&, const double*, const double*, const double*, double*);
template void conv_grad_input(const ConvGeometry&, const float*, const float*, float*);
template void conv_grad_input(const ConvGeometry&, const double*, const double*, double*);
template void conv_grad_weight(const ConvGeometry&, const float*, const float*, float*);
template void conv_grad_weight(const ConvGeometry&, const double*, const double*, double*);

}  // namespace lunagrad
