// Convolutions over 1 to 3 dims, their gradients and transposed convolutions as matrix products
// (shaders/conv.comp). Of f32; complex ones are computed by real and imaginary parts.
#include <algorithm>

#include "gpu/kernels/complex.h"
#include "gpu/kernels/copy.h"
#include "gpu/kernels/reduce.h"
#include "gpu/kernels/variant.h"
#include "runtime/ops.h"
#include "runtime/ops/conv_geometry.h"

namespace lunagrad::gpu {
namespace {

struct Arguments {
  uint64_t a, image, c, bias;
  uint32_t m, n, k;
  uint32_t groups, splits, split;
  uint32_t row_tiles, column_tiles;
  uint32_t image_channels, image_size[3];
  uint32_t other_channels, other_size[3];
  uint32_t kernel[3], kernel_size;
  int32_t stride[3], padding[3], dilation[3];
};

using shaders::Conv;

std::string variant(const ShaderCode&, Constants constants) {
  const Conv c = Conv::of_values(constants);
  const char* const part = c.part == Conv::kInputGradient    ? "input gradient "
                           : c.part == Conv::kWeightGradient ? "weight gradient "
                                                             : "";
  return text(part, c.bm, 'x', c.bn, 'x', c.bk, c.strided ? ", strided" : "",
              ending_name(c.has_bias, c.activation));
}

struct Tile {
  uint32_t bm, bn, bk, tm, tn;
};
// With 64 sums a thread, a step of bk = 8 leaves registers for a fourth work group of 128 threads.
constexpr Tile kTiles[] = {
    {128, 128, 8, 8, 8}, {64, 128, 8, 8, 8}, {32, 128, 16, 4, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 4}};
constexpr uint32_t threads_of(const Tile& tile) { return tile.bm / tile.tm * (tile.bn / tile.tn); }
static_assert(std::all_of(std::begin(kTiles), std::end(kTiles), [](const Tile& tile) {
  const uint32_t threads = threads_of(tile);  // a thread loads the same column, or the same k, in every step
  return threads % tile.bn == 0 && threads % tile.bk == 0 && tile.bm * tile.bk / threads % 4 == 0;
}));
constexpr uint32_t kBusyGroups = 2;       // work groups for each processor that keep a device busy
constexpr uint32_t kShortestSplit = 256;  // elements of k: a shorter part is not worth the second pass

void set_sizes(uint32_t (&to)[3], const ConvGeometry::Sizes& from) {
  std::copy(from.begin(), from.end(), to);
}

// The shader computes positions in 32 bits.
bool fits(const Call& call) {
  constexpr int64_t kMost = int64_t(1) << 31;
  for (const Operands* list : {&call.in, &call.out})
    for (const Tensor& x : *list)
      if (x.defined() && (part_type(x.dtype()) != DType::f32 || x.numel() >= kMost)) return false;
  return true;
}

// The result of a convolution over no channels.
Tensor constant_of(const Call& call, const Tensor& bias, Activation activation) {
  if (!bias.defined()) return activate(zeros({}, DType::f32, call.device()), activation);
  Shape shape(call.input(1).ndim() - 1, 1);  // channels, then spatial dims
  shape[0] = bias.numel();
  return activate(reshape(bias, shape), activation);
}

bool fits(const Tile& tile, const PhysicalDevice& physical) {
  // As conv.comp: two buffers of both tiles, then step_part, window_part and c_column.
  const uint32_t bytes = 2 * tile.bk * (tile.bm / 4 + tile.bn / 4 + 2) * 16 + 2 * tile.bk * 16 + tile.bn * 20;
  return bytes <= physical.limits.maxComputeSharedMemorySize &&
         threads_of(tile) <= physical.limits.maxComputeWorkGroupInvocations;
}

Tile choose(const Arguments& a, const Recorder& recorder) {
  const uint64_t busy = recorder.rates.busy_groups(kBusyGroups);
  for (const Tile& tile : kTiles) {
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

void convolve(const Call& call, uint32_t part, const ConvGeometry& g, Recorder& recorder) {
  const NoGrad off;
  const Tensor first = contiguous(call.input(0)), second = contiguous(call.input(1));
  const Tensor bias = call.has(2) ? contiguous(call.input(2)) : Tensor();
  const Tensor& out = call.output();
  const Activation activation = part == Conv::kResult ? activation_of(call.params) : Activation::none;
  Arguments a{};
  const uint32_t in_places = uint32_t(g.batch * g.in_size()), out_places = uint32_t(g.batch * g.out_size());
  const uint32_t outputs = uint32_t(g.group_outputs()), inputs = uint32_t(g.group_inputs());
  a.kernel_size = uint32_t(g.kernel_size());
  switch (part) {
    case Conv::kResult:
      a.m = outputs, a.n = out_places, a.k = inputs * a.kernel_size;
      break;
    case Conv::kInputGradient:
      a.m = inputs, a.n = in_places, a.k = outputs * a.kernel_size;
      break;
    case Conv::kWeightGradient:
      a.m = outputs, a.n = inputs * a.kernel_size, a.k = out_places;
      break;
  }
  if (a.k == 0) return copy(out, constant_of(call, bias, activation), recorder);
  const bool back = part == Conv::kInputGradient;
  a.groups = uint32_t(g.groups);
  a.image_channels = uint32_t(back ? g.out_channels : g.in_channels);
  set_sizes(a.image_size, back ? g.out : g.in);
  a.other_channels = uint32_t(back ? g.in_channels : g.out_channels);
  set_sizes(a.other_size, back ? g.in : g.out);
  set_sizes(a.kernel, g.kernel);
  for (size_t d = 0; d < 3; ++d) {
    a.stride[d] = int32_t(g.stride[d]);
    a.padding[d] = int32_t(g.padding[d]);
    a.dilation[d] = int32_t(g.dilation[d]);
  }
  const Tile tile = choose(a, recorder);
  a.row_tiles = (a.m + tile.bm - 1) / tile.bm;
  a.column_tiles = (a.n + tile.bn - 1) / tile.bn;
  const uint32_t whole = a.row_tiles * a.column_tiles * a.groups;
  // Split-K for the gradient of the weights, whose sums are long and few. The parts are added in order.
  a.splits = 1;
  if (part == Conv::kWeightGradient)
    a.splits = uint32_t(std::clamp<uint64_t>(2 * recorder.rates.busy_groups(kBusyGroups) / whole, 1,
                                             std::max<uint32_t>(1, a.k / kShortestSplit)));
  a.split = ((a.k + a.splits - 1) / a.splits + tile.bk - 1) / tile.bk * tile.bk;
  a.splits = std::max<uint32_t>(1, (a.k + a.split - 1) / std::max<uint32_t>(1, a.split));
  const Tensor made =
      a.splits == 1 ? out : Tensor::empty(Shape{int64_t(a.splits), out.numel()}, DType::f32, out.device());

  Launch launch(recorder);
  // A is the weight, or the gradient of the result.
  a.a = launch.reads(second);
  a.image = launch.reads(first);
  a.c = launch.writes(made);
  if (bias.defined()) a.bias = launch.reads(bias);
  launch.multiplies(double(a.m) * double(a.n) * double(a.k) * double(a.groups));
  const uint32_t threads = threads_of(tile);
  const auto trivial = [&](size_t d) {
    return g.in[d] == 1 && g.out[d] == 1 && g.kernel[d] == 1 && g.padding[d] == 0;
  };
  const uint32_t dims = !trivial(0) ? 3 : !trivial(1) ? 2 : 1;
  const bool strided =
      back && std::any_of(g.stride.begin(), g.stride.end(), [](int64_t step) { return step != 1; });
  const int64_t run = part == Conv::kResult          ? a.k
                      : part == Conv::kInputGradient ? a.kernel_size
                                                     : g.out_size();
  const bool in_fours = run % 4 == 0 && a.a % 16 == 0;
  static const ShaderCode code = with_variant(find_shader("conv"), variant);
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
                           .dims = dims,
                           .strided = strided,
                           .a_vector = in_fours,
                           .activation = uint32_t(activation)}
                          .values(),
                      whole * a.splits, bytes_of(a));
  if (a.splits > 1) add_parts(out, made, recorder);
}

template <ConvPart part, int dims>
bool supports(const Call& call) {
  if (!fits(call)) return false;
  const ConvGeometry g = conv_geometry(call, part, dims);
  return g.out_size() * g.batch < int64_t(1) << 31;
}
template <ConvPart part, int dims>
void run(const Call& call, Recorder& recorder) {
  if (is_complex(call.output().dtype())) return run_by_parts(call, run<part, dims>, recorder);
  // A transposed convolution is the gradient of its input, with a bias.
  constexpr uint32_t shader = part == ConvPart::result            ? Conv::kResult
                              : part == ConvPart::weight_gradient ? Conv::kWeightGradient
                                                                  : Conv::kInputGradient;
  convolve(call, shader, conv_geometry(call, part, dims), recorder);
}
template <ConvPart part, int dims>
Kernel kernel() {
  return {supports<part, dims>, run<part, dims>, true};
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
