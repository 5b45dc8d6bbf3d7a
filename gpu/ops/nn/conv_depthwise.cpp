#include "gpu/ops/nn/conv_depthwise.h"

#include <algorithm>
#include <optional>

#include "gpu/ops/nn/conv_along.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/variant.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Depthwise, shaders::DepthwiseWeight;

struct DepthwiseTile {
  uint32_t planes, rows, strips;
  uint32_t image_rows, image_columns;
};
struct DepthwiseArguments {
  uint64_t image, weight, c, bias;
  uint32_t samples, groups, rows, sums;
  uint32_t image_size[3], size[3];
  uint32_t taps[3];
  int32_t stride[3], origin[3], tap[3];
  int64_t weight_first, weight_group, weight_row, weight_sum, weight_tap[3];
  uint32_t out_size[3], out_stride[3], out_origin[3];
  uint32_t plane_tiles, row_tiles, strip_tiles;
  DepthwiseTile tile;
};
static_assert(offsetof(DepthwiseArguments, weight_first) == 120);
struct DepthwiseWeightArguments {
  uint64_t image, gradient, c;
  uint32_t samples, groups, rows, sums;
  uint32_t image_size[3], size[3];
  uint32_t taps[3];
  int32_t stride[3], origin[3], tap[3];
  uint32_t row_groups, tap_groups;
  uint32_t parts, part;
  DepthwiseTile tile;
};

constexpr int64_t kThreads = Depthwise::kThreads, kShared = Depthwise::kShared;

// Lengths of the loops that a shader unrolls.
struct Unrolled {
  uint32_t outs, taps, lanes;
};

int64_t whole(int64_t count, int64_t size) { return (count + size - 1) / size; }

// How many adjacent outputs an invocation should compute: the number with the fewest shared memory accesses
// and multiplications in all.
int64_t outs_for(int64_t size, int64_t taps, int64_t stride) {
  constexpr int64_t kWidest = 48;
  int64_t best = 1, least = 0;
  for (const int64_t outs : {7, 5, 3, 1}) {
    const int64_t window = (outs - 1) * stride + taps;
    if (window > kWidest && outs > 1) continue;
    const int64_t time = whole(size, outs) * (window + taps + outs * taps);
    if (least == 0 || time < least) best = outs, least = time;
  }
  return best;
}

// Returns a tile whose part of the image fits into shared memory, or nothing. A kernel reaches over
// reach_rows x reach_columns elements.
std::optional<DepthwiseTile> tile_of(int64_t samples, int64_t rows, int64_t columns, int64_t outs,
                                     int64_t reach_rows, int64_t reach_columns, int64_t row_stride,
                                     int64_t column_stride) {
  const int64_t all_strips = whole(columns, outs);
  int64_t strips = std::min(all_strips, kThreads), own_rows = std::min(rows, kThreads / strips),
          planes = std::min(samples, kThreads / (strips * own_rows));
  for (;;) {
    const int64_t image_rows = (own_rows - 1) * row_stride + reach_rows;
    const int64_t image_columns = (strips * outs - 1) * column_stride + reach_columns;
    if (planes * image_rows * image_columns <= kShared)
      return DepthwiseTile{uint32_t(planes), uint32_t(own_rows), uint32_t(strips), uint32_t(image_rows),
                           uint32_t(image_columns)};
    int64_t& largest = planes > 1 ? planes : own_rows > 1 ? own_rows : strips;
    if (largest == 1) return std::nullopt;
    largest = whole(largest, 2);
  }
}

uint32_t lanes_for(uint32_t columns) {
  uint32_t lanes = 8;
  while (lanes < columns && lanes < uint32_t(kThreads)) lanes *= 2;
  return lanes;
}

// How many taps of a row are computed together. Taps that are far apart would need too wide a window.
uint32_t taps_for(int64_t taps, int64_t tap) {
  constexpr int64_t kMost = 7, kWidest = 40;
  const int64_t together = std::min(taps, kMost);
  return uint32_t((together - 1) * tap < kWidest ? together : 1);
}

std::string depthwise_variant(const ShaderCode&, Constants constants) {
  const Depthwise c = Depthwise::of_values(constants);
  return text(dtype_name(DType(c.type)), ' ', c.outs, " by ", c.taps, ending_name(c.has_bias, c.activation));
}

// Computes the result, or one remainder of the input's gradient. Returns false if a row does not fit into
// shared memory.
bool result(const Call& call, bool back, const ConvGeometry& g, const Window& along, Recorder& recorder) {
  const Tensor image = contiguous(call.input(0)), weight = contiguous(call.input(1));
  const Tensor bias = call.has(2) ? contiguous(call.input(2)) : Tensor();
  const Tensor& out = call.output();
  const ConvGeometry::Sizes &image_size = back ? g.out : g.in, &out_size = back ? g.in : g.out;
  DepthwiseArguments a{};
  a.samples = uint32_t(g.batch);
  a.groups = uint32_t(g.groups);
  a.rows = uint32_t(back ? g.group_inputs() : g.group_outputs());
  a.sums = uint32_t(back ? g.group_outputs() : g.group_inputs());
  a.weight_group = g.group_outputs() * g.window();
  a.weight_row = back ? g.kernel_size() : g.window();
  a.weight_sum = back ? g.window() : g.kernel_size();
  const ConvGeometry::Sizes steps{g.kernel[1] * g.kernel[2], g.kernel[2], 1};
  for (size_t d = 0; d < 3; ++d) {
    const Along& one = along[d];
    const bool backward = one.tap < 0;  // the taps are visited in reverse order
    const int64_t last = std::max<int64_t>(0, one.taps - 1);
    if (one.positions == 0) return true;
    a.image_size[d] = uint32_t(image_size[d]);
    a.size[d] = uint32_t(one.positions);
    a.taps[d] = uint32_t(one.taps);
    a.stride[d] = int32_t(one.stride);
    a.origin[d] = int32_t(one.origin + (backward ? last * one.tap : 0));
    a.tap[d] = int32_t(std::max<int64_t>(1, std::abs(one.tap)));
    a.weight_first += steps[d] * (one.first + (backward ? last * one.every : 0));
    a.weight_tap[d] = steps[d] * (backward ? -one.every : one.every);
    a.out_size[d] = uint32_t(out_size[d]);
    a.out_stride[d] = uint32_t(one.out_stride);
    a.out_origin[d] = uint32_t(one.out_origin);
  }
  const auto reach = [&](size_t d) { return std::max<int64_t>(0, int64_t(a.taps[d]) - 1) * a.tap[d] + 1; };
  const uint32_t taps = taps_for(std::max<int64_t>(1, a.taps[2]), a.tap[2]);
  const int64_t outs = outs_for(a.size[2], (taps - 1) * a.tap[2] + 1, a.stride[2]);
  const auto tile =
      tile_of(g.batch, a.size[1], a.size[2], outs, reach(1), reach(2), a.stride[1], a.stride[2]);
  if (!tile) return false;
  a.tile = *tile;
  a.plane_tiles = uint32_t(whole(g.batch, tile->planes));
  a.row_tiles = uint32_t(whole(a.size[1], tile->rows));
  a.strip_tiles = uint32_t(whole(whole(a.size[2], outs), tile->strips));
  const uint64_t items =
      uint64_t(a.plane_tiles) * a.groups * a.rows * a.size[0] * a.row_tiles * a.strip_tiles;
  if (items >= uint64_t(1) << 31) return false;
  Launch launch(recorder);
  a.image = launch.reads(image);
  a.weight = launch.reads(weight);
  a.c = launch.writes(out);
  if (bias.defined()) a.bias = launch.reads(bias);
  launch.multiplies(double(g.batch) * a.groups * a.rows * a.sums * a.size[0] * a.size[1] * a.size[2] *
                    a.taps[0] * a.taps[1] * a.taps[2]);
  static const ShaderCode code = with_variant(find_shader("depthwise"), depthwise_variant);
  launch.run_in_turns(code,
                      Depthwise{.outs = uint32_t(outs),
                                .taps = taps,
                                .stride = uint32_t(a.stride[2]),
                                .tap = uint32_t(a.tap[2]),
                                .lanes = lanes_for(tile->image_columns),
                                .type = uint32_t(out.dtype()),
                                .has_bias = bias.defined(),
                                .activation = uint32_t(back ? Activation::none : activation_of(call.params))}
                          .values(),
                      uint32_t(items), bytes_of(a));
  return true;
}

bool weight_gradient(const Call& call, const ConvGeometry& g, Recorder& recorder) {
  constexpr uint32_t kMostSums = kShared / (kThreads + 1), kGroupsForEach = 8;
  const Tensor image = contiguous(call.input(0)), gradient = contiguous(call.input(1));
  const Tensor& out = call.output();
  DepthwiseWeightArguments a{};
  a.samples = uint32_t(g.batch);
  a.groups = uint32_t(g.groups);
  a.rows = uint32_t(g.group_outputs());
  a.sums = uint32_t(g.group_inputs());
  for (size_t d = 0; d < 3; ++d) {
    a.image_size[d] = uint32_t(g.in[d]);
    a.size[d] = uint32_t(g.out[d]);
    a.taps[d] = uint32_t(g.kernel[d]);
    a.stride[d] = int32_t(g.stride[d]);
    a.origin[d] = int32_t(-g.padding[d]);
    a.tap[d] = int32_t(g.dilation[d]);
  }
  const uint32_t taps = taps_for(g.kernel[2], g.dilation[2]);
  const uint32_t rows = std::min(a.taps[1], kMostSums / taps);
  const int64_t outs = outs_for(a.size[2], (taps - 1) * a.tap[2] + 1, a.stride[2]);
  const auto tile = tile_of(g.batch, a.size[1], a.size[2], outs, (rows - 1) * a.tap[1] + 1,
                            (taps - 1) * a.tap[2] + 1, a.stride[1], a.stride[2]);
  if (!tile) return false;
  a.tile = *tile;
  a.row_groups = uint32_t(whole(a.taps[1], rows));
  a.tap_groups = uint32_t(whole(a.taps[2], taps));
  const uint64_t each = uint64_t(a.groups) * a.rows * a.sums * a.taps[0] * a.row_groups * a.tap_groups;
  const int64_t wanted = std::max<int64_t>(1, int64_t(recorder.rates.busy_groups(kGroupsForEach) / each));
  a.part = uint32_t(whole(g.batch, std::min(wanted, whole(g.batch, tile->planes))));
  a.parts = uint32_t(whole(g.batch, a.part));
  if (each * a.parts >= uint64_t(1) << 31) return false;
  const Tensor parts = Tensor::empty({int64_t(a.parts), out.numel()}, DType::f32, out.device());
  {
    Launch launch(recorder);
    a.image = launch.reads(image);
    a.gradient = launch.reads(gradient);
    a.c = launch.writes(parts);
    launch.multiplies(double(g.batch) * double(g.out_size()) * double(g.out_channels) * double(g.window()));
    launch.run_in_turns(DepthwiseWeight{.outs = uint32_t(outs),
                                        .taps = taps,
                                        .stride = uint32_t(a.stride[2]),
                                        .tap = uint32_t(a.tap[2]),
                                        .lanes = lanes_for(tile->image_columns),
                                        .type = uint32_t(image.dtype()),
                                        .rows = rows},
                        uint32_t(each * a.parts), bytes_of(a));
  }
  add_parts(out, parts, recorder);
  return true;
}

}  // namespace

bool convolve_depthwise(const Call& call, ConvPart part, const ConvGeometry& g, Recorder& recorder) {
  constexpr int64_t kFewChannels = 8;
  if (g.groups == 1 || std::max(g.group_inputs(), g.group_outputs()) > kFewChannels ||
      std::min(g.group_inputs(), g.group_outputs()) == 0)
    return false;
  const NoGrad off;
  if (part == ConvPart::weight_gradient) return weight_gradient(call, g, recorder);
  if (part == ConvPart::result)
    return result(call, false, g, {forward_along(g, 0), forward_along(g, 1), forward_along(g, 2)}, recorder);
  bool done = true;
  each_remainder(g, [&](const Window& along) { done = done && result(call, true, g, along, recorder); });
  return done;
}

}  // namespace lunagrad::gpu
