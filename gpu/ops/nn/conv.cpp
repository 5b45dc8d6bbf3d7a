// Convolutions over 1 to 3 dims, their gradients and transposed convolutions, as matrix products
// (gpu/ops/nn/conv.comp) in f32. Complex convolutions are computed by real and imaginary parts. 16-bit ones
// run on matrix units (conv_units.h), or after a conversion to f32.
#include <algorithm>
#include <utility>

#include "gpu/ops/copy.h"
#include "gpu/ops/elementwise/complex.h"
#include "gpu/ops/nn/conv_along.h"
#include "gpu/ops/nn/conv_depthwise.h"
#include "gpu/ops/nn/conv_units.h"
#include "gpu/ops/nn/unfold.h"
#include "gpu/ops/products/matmul.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/through_f32.h"
#include "gpu/ops/variant.h"
#include "runtime/ops.h"
#include "runtime/ops/nn/conv_geometry.h"

namespace lunagrad::gpu {
namespace {

struct ConvArguments {
  uint64_t a, image, c, bias;
  uint32_t m, n, k;
  uint32_t groups, splits, split;
  uint32_t row_tiles, column_tiles;
  uint32_t image_channels, image_size[3];
  uint32_t other_channels, size[3];
  uint32_t kernel[3], kernel_size;
  int32_t stride[3], origin[3], tap[3];
  uint32_t out_size[3], out_stride[3], out_origin[3];
};

using shaders::Conv;

std::string conv_variant(const ShaderCode&, Constants constants) {
  const Conv c = Conv::of_values(constants);
  const char* const part = c.part == Conv::kInputGradient    ? "input gradient "
                           : c.part == Conv::kWeightGradient ? "weight gradient "
                                                             : "";
  return text(part, c.bm, 'x', c.bn, 'x', c.bk, c.scattered ? ", strided" : "",
              ending_name(c.has_bias, c.activation));
}

struct ConvTile {
  uint32_t bm, bn, bk, tm, tn;
};
// With 64 sums per invocation, a step of bk = 8 leaves registers for a fourth workgroup of 128 invocations.
constexpr ConvTile kTiles[] = {
    {128, 128, 8, 8, 8}, {64, 128, 8, 8, 8}, {32, 128, 16, 4, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 4}};
constexpr uint32_t threads_of(const ConvTile& tile) { return tile.bm / tile.tm * (tile.bn / tile.tn); }
static_assert(std::all_of(std::begin(kTiles), std::end(kTiles), [](const ConvTile& tile) {
  // an invocation loads the same column, or the same k, in every step
  const uint32_t threads = threads_of(tile);
  return threads % tile.bn == 0 && threads % tile.bk == 0 && tile.bm * tile.bk / threads % 4 == 0;
}));
constexpr uint32_t kBusyGroups = 2;       // workgroups per processor that keep a device busy
constexpr uint32_t kShortestSplit = 256;  // elements of k: a shorter part does not repay the second pass

// The shader computes positions in 32 bits.
bool fits(const Call& call) {
  for (const Operands* list : {&call.in, &call.out})
    for (const Tensor& x : *list)
      if (x.defined() &&
          ((part_type(x.dtype()) != DType::f32 && !is_16bit_float(x.dtype())) || !indexable(x)))
        return false;
  return true;
}

// The result of a convolution over no channels.
Tensor constant_of(const Call& call, const Tensor& bias, Activation activation) {
  if (!bias.defined()) return activate(zeros({}, DType::f32, call.device()), activation);
  Shape shape(call.input(1).ndim() - 1, 1);  // channels, then spatial dims
  shape[0] = bias.numel();
  return activate(reshape(bias, shape), activation);
}

bool fits(const ConvTile& tile, const PhysicalDevice& physical) {
  // Arrays of conv.comp: two buffers of both tiles, then step_part, window_part and c_column.
  const uint32_t bytes = 2 * tile.bk * (tile.bm / 4 + tile.bn / 4 + 2) * 16 + 2 * tile.bk * 16 + tile.bn * 20;
  return bytes <= physical.limits.maxComputeSharedMemorySize &&
         threads_of(tile) <= physical.limits.maxComputeWorkGroupInvocations;
}

ConvTile choose(const ConvArguments& a, const Recorder& recorder) {
  const uint64_t busy = recorder.rates.busy_groups(kBusyGroups);
  for (const ConvTile& tile : kTiles) {
    if (!fits(tile, recorder.physical)) continue;
    // Skip tiles that would be mostly padding.
    if (tile.bm > 32 && a.m <= tile.bm / 2) continue;
    if (tile.bn > 32 && (a.n + tile.bn - 1) / tile.bn * tile.bn > a.n + a.n / 5) continue;
    const uint64_t tiles =
        uint64_t((a.m + tile.bm - 1) / tile.bm) * ((a.n + tile.bn - 1) / tile.bn) * a.groups;
    if (tiles * std::max<uint32_t>(1, a.k / (4 * kShortestSplit)) >= busy / 2) return tile;
  }
  return std::end(kTiles)[-1];
}

// The kernel taps that `along` selects, as a contiguous weight.
Tensor weight_of_taps(const Tensor& weight, const Window& along) {
  const int first = weight.ndim() - 3;
  Tensor taps = weight;
  for (int d = 0; d < 3; ++d) {
    const Along& one = along[size_t(d)];
    if (first + d >= 2)
      taps = slice(taps, first + d, one.first, one.first + (one.taps - 1) * one.every + 1, one.every);
  }
  return contiguous(taps);
}

// Computes the call, or one remainder of the input's gradient.
void convolve(const Call& call, uint32_t part, const ConvGeometry& g, const Window& along,
              Recorder& recorder) {
  const Tensor image = contiguous(call.input(0));
  const Tensor bias = call.has(2) ? contiguous(call.input(2)) : Tensor();
  const Tensor& out = call.output();
  Activation activation = part == Conv::kResult ? activation_of(call.params) : Activation::none;
  const bool back = part == Conv::kInputGradient;
  const ConvGeometry::Sizes &image_size = back ? g.out : g.in, &out_size = back ? g.in : g.out;
  ConvArguments a{};
  set_window(a, along, image_size, out_size);
  const uint32_t taps = uint32_t(taps_of(along)), places = uint32_t(g.batch * positions_of(along));
  const bool scattered = is_scattered(along);
  const uint32_t outputs = uint32_t(g.group_outputs()), inputs = uint32_t(g.group_inputs());
  a.kernel_size = std::max(1u, taps);
  switch (part) {
    case Conv::kResult:
      a.m = outputs, a.n = places, a.k = inputs * taps;
      break;
    case Conv::kInputGradient:
      a.m = inputs, a.n = places, a.k = outputs * taps;
      break;
    case Conv::kWeightGradient:
      a.m = outputs, a.n = inputs * taps, a.k = places;
      break;
  }
  if (a.n == 0) return;
  if (a.k == 0 && !scattered) return copy(out, constant_of(call, bias, activation), recorder);
  a.groups = uint32_t(g.groups);
  a.image_channels = uint32_t(back ? g.out_channels : g.in_channels);
  a.other_channels = uint32_t(back ? g.in_channels : g.out_channels);
  const Tensor second =
      a.k > 0 && taps != g.kernel_size() ? weight_of_taps(call.input(1), along) : contiguous(call.input(1));
  const ConvTile tile = choose(a, recorder);
  a.row_tiles = (a.m + tile.bm - 1) / tile.bm;
  a.column_tiles = (a.n + tile.bn - 1) / tile.bn;
  const uint32_t whole = a.row_tiles * a.column_tiles * a.groups;
  // Split-K for the gradient of the weights, which has few sums of many terms. The parts are added in order.
  a.splits = 1;
  if (part == Conv::kWeightGradient)
    a.splits = uint32_t(std::clamp<uint64_t>(2 * recorder.rates.busy_groups(kBusyGroups) / whole, 1,
                                             std::max<uint32_t>(1, a.k / kShortestSplit)));
  const uint32_t length = std::max(1u, a.k);  // k = 0: no tap reaches the positions, and the sums are 0
  a.split = ((length + a.splits - 1) / a.splits + tile.bk - 1) / tile.bk * tile.bk;
  a.splits = (length + a.split - 1) / a.split;
  const Tensor made =
      a.splits == 1 ? out : Tensor::empty(Shape{int64_t(a.splits), out.numel()}, DType::f32, out.device());
  const Activation after = ends_within(activation, tile.tm * tile.tn)
                               ? Activation::none
                               : std::exchange(activation, Activation::none);

  Launch launch(recorder);
  // A is the weight, or the result's gradient.
  a.a = launch.reads(second);
  a.image = launch.reads(image);
  a.c = launch.writes(made);
  if (bias.defined()) a.bias = launch.reads(bias);
  launch.multiplies(double(a.m) * double(a.n) * double(a.k) * double(a.groups));
  const uint32_t threads = threads_of(tile);
  const uint32_t run = part == Conv::kResult          ? a.k
                       : part == Conv::kInputGradient ? a.kernel_size
                                                      : uint32_t(g.out_size());
  static const ShaderCode code = with_variant(find_shader("conv"), conv_variant);
  launch.run_in_turns(code,
                      Conv{.local_size_x = threads,
                           .bm = tile.bm,
                           .bn = tile.bn,
                           .bk = tile.bk,
                           .tm = tile.tm,
                           .tn = tile.tn,
                           .part = part,
                           .has_bias = bias.defined(),
                           .threads = threads,
                           .dims = used_dims(g),
                           .scattered = scattered,
                           .a_vector = run % 4 == 0 && a.a % 16 == 0,
                           .activation = uint32_t(activation)}
                          .values(),
                      whole * a.splits, bytes_of(a));
  if (a.splits > 1) add_parts(out, made, recorder);
  if (after != Activation::none) activate_in_place(out, after, recorder);
}

// Whether the call is a matrix product for each sample: the kernel has one element, and each position of the
// image is used. The other kernels compute products of few rows or columns, since they fill their tiles with
// several samples.
bool is_product(const Call& call, ConvPart part, const ConvGeometry& g) {
  constexpr int64_t kFewPlaces = 128, kFewChannels = 16;
  if (!g.is_pointwise() || call.has(2) || std::min(g.group_inputs(), g.group_outputs()) < kFewChannels)
    return false;
  // Matrix units read lines in runs of eight.
  if (g.in_size() < kFewPlaces || (call.output().dtype() != DType::f32 && g.in_size() % 8 != 0)) return false;
  // The weight's gradient of each sample is written and read once more. That is only worthwhile if it is no
  // more data than the images.
  const int64_t images = (g.in_channels + g.out_channels) * g.in_size();
  return part != ConvPart::weight_gradient || g.batch == 1 || 2 * g.out_channels * g.group_inputs() <= images;
}

void run_product(const Call& call, ConvPart part, const ConvGeometry& g, Recorder& recorder) {
  const NoGrad off;
  const auto image = [&](const Tensor& x, int64_t channels) {
    return reshape(contiguous(x), {g.batch, g.groups, channels, g.in_size()});
  };
  const Shape weight{1, g.groups, g.group_outputs(), g.group_inputs()};
  const Tensor &first = call.input(0), &second = call.input(1), &out = call.output();
  if (part == ConvPart::result)
    return multiply(reshape(contiguous(second), weight), image(first, g.group_inputs()), false,
                    {{}, activation_of(call.params)}, image(out, g.group_outputs()), recorder);
  if (part != ConvPart::weight_gradient)
    return multiply(transpose(reshape(contiguous(second), weight), 2, 3), image(first, g.group_outputs()),
                    false, {}, image(out, g.group_inputs()), recorder);
  const Tensor left = image(second, g.group_outputs()), right = image(first, g.group_inputs());
  if (g.batch == 1) return multiply(left, right, true, {}, reshape(out, weight), recorder);
  Shape each = weight;
  each[0] = g.batch;
  const Tensor parts = Tensor::empty(each, DType::f32, out.device());
  multiply(left, right, true, {}, parts, recorder);
  add_parts(out, reshape(parts, {g.batch, out.numel()}), recorder);
}

// Whether the input's gradient has too many remainders for a dispatch each: large strides, as of patches and
// of inverse spectra.
bool has_many_remainders(ConvPart part, const ConvGeometry& g) {
  constexpr int64_t kMost = 64, kLargest = 1 << 30;
  if (part != ConvPart::input_gradient && part != ConvPart::transposed) return false;
  int64_t remainders = 1;
  for (size_t d = 0; d < 3; ++d) {
    if (std::max({g.kernel[d], g.stride[d], g.padding[d], g.dilation[d]}) >= kLargest) return false;
    remainders *= std::min(g.stride[d], g.in[d]);
  }
  const int64_t planes = g.batch * g.in_channels;  // of the columns
  return remainders > kMost &&
         double(planes) * double(g.kernel_size()) * double(g.out_size()) < double(most_elements());
}

// The input's gradient, or a transposed convolution, as columns: a product with the weight computes what each
// window adds to each of its positions.
void add_windows(const Call& call, const ConvGeometry& g, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  const int64_t taps = g.group_inputs() * g.kernel_size(), windows = g.out_size();
  const Tensor image = reshape(contiguous(call.input(0)), {g.batch, g.groups, g.group_outputs(), windows});
  const Tensor weight = reshape(contiguous(call.input(1)), {1, g.groups, g.group_outputs(), taps});
  const Tensor columns = Tensor::empty({g.batch, g.groups, taps, windows}, DType::f32, out.device());
  multiply(transpose(weight, 2, 3), image, false, {}, columns, recorder);
  add_columns(columns, g, out, recorder);
  if (!call.has(2)) return;
  const Tensor sums = reshape(out, {g.batch, g.in_channels, g.in_size()});
  copy(sums, sums + reshape(call.input(2), {g.in_channels, 1}), recorder);
}

template <ConvPart part, int dims>
bool supports_conv(const Call& call) {
  if (!fits(call)) return false;
  const ConvGeometry g = conv_geometry(call, part, dims);
  return g.out_size() * g.batch < most_elements();
}
template <ConvPart part, int dims>
void run_conv(const Call& call, Recorder& recorder) {
  const DType type = call.output().dtype();
  if (is_complex(type)) return run_by_parts(call, run_conv<part, dims>, recorder);
  const ConvGeometry g = conv_geometry(call, part, dims);
  if (is_product(call, part, g)) return run_product(call, part, g, recorder);
  if (has_many_remainders(part, g))
    return is_16bit_float(type) ? run_in_f32(call, run_conv<part, dims>, recorder)
                                : add_windows(call, g, recorder);
  if (convolve_depthwise(call, part, g, recorder)) return;
  if (const DType unit_type = conv_unit_type(type, part, g, recorder.physical); unit_type != DType::f32)
    return convolve_on_units(call, part, g, unit_type, recorder);
  if (is_16bit_float(type)) return run_in_f32(call, run_conv<part, dims>, recorder);
  // A transposed convolution is the gradient of a convolution's input, plus a bias.
  constexpr uint32_t shader = part == ConvPart::result            ? Conv::kResult
                              : part == ConvPart::weight_gradient ? Conv::kWeightGradient
                                                                  : Conv::kInputGradient;
  const NoGrad off;
  if (shader != Conv::kInputGradient)
    return convolve(call, shader, g, {forward_along(g, 0), forward_along(g, 1), forward_along(g, 2)},
                    recorder);
  each_remainder(g, [&](const Window& along) { convolve(call, shader, g, along, recorder); });
}
template <ConvPart part, int dims>
Kernel kernel() {
  return {supports_conv<part, dims>, run_conv<part, dims>, true};
}

}  // namespace

std::vector<KernelEntry> conv_kernels() {
  return {{find_op("conv1d"), kernel<ConvPart::result, 1>()},
          {find_op("conv2d"), kernel<ConvPart::result, 2>()},
          {find_op("conv3d"), kernel<ConvPart::result, 3>()},
          {find_op("_conv1d_grad_input"), kernel<ConvPart::input_gradient, 1>()},
          {find_op("_conv2d_grad_input"), kernel<ConvPart::input_gradient, 2>()},
          {find_op("_conv3d_grad_input"), kernel<ConvPart::input_gradient, 3>()},
          {find_op("_conv1d_grad_weight"), kernel<ConvPart::weight_gradient, 1>()},
          {find_op("_conv2d_grad_weight"), kernel<ConvPart::weight_gradient, 2>()},
          {find_op("_conv3d_grad_weight"), kernel<ConvPart::weight_gradient, 3>()},
          {find_op("conv_transpose1d"), kernel<ConvPart::transposed, 1>()},
          {find_op("conv_transpose2d"), kernel<ConvPart::transposed, 2>()},
          {find_op("conv_transpose3d"), kernel<ConvPart::transposed, 3>()}};
}

}  // namespace lunagrad::gpu
