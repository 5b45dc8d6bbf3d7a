#include "gpu/ops/nn/conv_units.h"

#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/nn/conv_along.h"
#include "gpu/ops/products/product.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/unit_operands.h"
#include "gpu/ops/variant.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::ChannelsLast, shaders::ConvCooperative;

struct ConvUnitArguments {
  uint64_t a, image, c, bias;
  uint64_t a_largest, image_largest;
  uint32_t m, n, k;
  uint32_t groups, splits, split;
  uint32_t row_tiles, column_tiles;
  uint32_t a_line, a_group;
  uint32_t channels, group_channels;
  uint32_t image_size[3];
  uint32_t size[3];
  uint32_t kernel[3];
  int32_t stride[3], origin[3], tap[3];
  uint32_t out_channels, out_size[3], out_stride[3], out_origin[3];
};

struct ChannelsLastArguments {
  uint64_t from, to, largest;
  int64_t item_step[2], group_step, channel_step, place_step[3];
  uint32_t items[2];
  uint32_t groups, group_channels, padded_channels;
  uint32_t size[3];
  uint32_t channel_tiles, place_tiles, tiles;
};
static_assert(offsetof(ChannelsLastArguments, items) == 80);

constexpr int64_t padded(int64_t channels) { return (channels + 7) / 8 * 8; }

// How an operand lies in memory, in elements.
struct OperandLayout {
  int64_t items[2], item_step[2];  // the samples, or the rows of a weight
  int64_t groups, group_step, group_channels, channel_step;
  ConvGeometry::Sizes size, place_step;
  int64_t first = 0;  // offset of the first element

  int64_t places() const { return size[0] * size[1] * size[2]; }
  int64_t channels() const { return groups * padded(group_channels); }
  int64_t elements() const { return items[0] * items[1] * places() * channels(); }
};

UnitOperand channels_last(const Tensor& x, const OperandLayout& layout, DType unit_type, Recorder& recorder) {
  constexpr int64_t kChannels = ChannelsLast::kChannels, kManyPlaces = 64, kFewPlaces = 16;
  const bool is_f32 = x.dtype() == DType::f32;
  const int64_t tile_places = layout.places() > kFewPlaces ? kManyPlaces : kFewPlaces;
  const bool scaled = is_f32 && unit_type == DType::f16;
  const UnitOperand made{Tensor::empty({layout.elements()}, unit_type, x.device()),
                         scaled ? largest_magnitude(x, recorder) : Tensor()};
  Launch launch(recorder);
  ChannelsLastArguments arguments{};
  arguments.from = launch.reads(x) + uint64_t(layout.first) * item_size(x.dtype());
  arguments.to = launch.writes(made.tensor);
  if (scaled) arguments.largest = launch.reads(made.largest);
  for (size_t i = 0; i < 2; ++i) {
    arguments.items[i] = uint32_t(layout.items[i]);
    arguments.item_step[i] = layout.item_step[i];
  }
  arguments.groups = uint32_t(layout.groups);
  arguments.group_step = layout.group_step;
  arguments.group_channels = uint32_t(layout.group_channels);
  arguments.padded_channels = uint32_t(padded(layout.group_channels));
  arguments.channel_step = layout.channel_step;
  for (size_t d = 0; d < 3; ++d) {
    arguments.size[d] = uint32_t(layout.size[d]);
    arguments.place_step[d] = layout.place_step[d];
  }
  arguments.channel_tiles = uint32_t((layout.channels() + kChannels - 1) / kChannels);
  arguments.place_tiles = uint32_t((layout.places() + tile_places - 1) / tile_places);
  const uint64_t tiles =
      uint64_t(layout.items[0] * layout.items[1]) * arguments.channel_tiles * arguments.place_tiles;
  arguments.tiles = uint32_t(tiles);
  const ConvGeometry::Sizes& step = layout.place_step;
  const bool adjacent =
      step[2] == 1 && step[1] == layout.size[2] && step[0] == layout.size[1] * layout.size[2];
  const auto aligned = [](int64_t elements) { return elements % 4 == 0; };
  const bool in_fours =
      !is_f32 && adjacent && aligned(layout.places()) &&
      (layout.groups == 1 || (layout.group_channels % 8 == 0 &&
                              layout.group_step == layout.group_channels * layout.channel_step)) &&
      aligned(layout.channel_step) && aligned(layout.item_step[0]) && aligned(layout.item_step[1]) &&
      arguments.from % 8 == 0;
  launch.run(
      ChannelsLast{.scaled = scaled,
                   .type = uint32_t(x.dtype()),
                   .places = uint32_t(tile_places),
                   .adjacent = adjacent,
                   .in_fours = in_fours},
      {in_fours ? groups_for(uint64_t(layout.elements()) / 32, recorder) : group_count(tiles, recorder)},
      bytes_of(arguments));
  return made;
}

// What tells this layout from others, and from a layout of matrices.
UnitLayout numbers_of(const OperandLayout& x) {
  UnitLayout numbers{-1, x.groups, x.group_step, x.group_channels, x.channel_step, x.first};
  for (size_t i = 0; i < 2; ++i) numbers.insert(numbers.end(), {x.items[i], x.item_step[i]});
  for (size_t d = 0; d < 3; ++d) numbers.insert(numbers.end(), {x.size[d], x.place_step[d]});
  return numbers;
}

// Shares f32 operands, which are converted in two passes, and gradients, which are operands of the gradients
// of both operands.
UnitOperand operand_of(const Tensor& x, const OperandLayout& layout, bool is_gradient, DType unit_type,
                       Recorder& recorder) {
  const auto convert = [&] { return channels_last(x, layout, unit_type, recorder); };
  if (x.dtype() != DType::f32 && !is_gradient) return convert();
  return recorder.unit_operands.shared(x, unit_type, numbers_of(layout), convert);
}

ConvGeometry::Sizes steps_of(const ConvGeometry::Sizes& size) { return {size[1] * size[2], size[2], 1}; }

// A batch of images [samples, channels, …].
OperandLayout image_layout(const ConvGeometry& g, int64_t channels, const ConvGeometry::Sizes& size) {
  const int64_t places = size[0] * size[1] * size[2];
  return {.items = {1, g.batch},
          .item_step = {0, channels * places},
          .groups = g.groups,
          .group_step = channels / g.groups * places,
          .group_channels = channels / g.groups,
          .channel_step = places,
          .size = size,
          .place_step = steps_of(size)};
}

std::string conv_unit_variant(const ShaderCode& code, Constants constants) {
  const ConvCooperative c = ConvCooperative::of_values(constants);
  return text(c.scaled ? "scaled " : "", code.bfloat ? "bf16 " : "f16 ",
              c.part == ConvCooperative::kWeightGradient ? "weight gradient " : "", c.bm, 'x', c.bn, 'x',
              c.bk, c.scattered ? ", strided" : "", ending_name(c.has_bias, c.activation));
}

// The matrix product of one group of a convolution, for the choice of a plan.
Product group_product(const ConvUnitArguments& a, DType type, DType unit_type) {
  Product p;
  p.m = a.m, p.n = a.n, p.k = a.k;
  p.batch = {int64_t(a.groups)};
  p.type = type;
  p.unit_type = unit_type;
  return p;
}

struct Run {
  const Call& call;
  const ConvGeometry& g;
  DType unit_type;
  Recorder& recorder;

  DType type() const { return call.input(0).dtype(); }

  // Chooses tiles and parts of k. `most`: the most parts allowed.
  ProductTile plan(ConvUnitArguments& a, uint32_t most) const {
    const auto [tile, parts] =
        plan_of(group_product(a, type(), unit_type), recorder.physical, recorder.rates, recorder.products);
    const uint32_t length = std::max(1u, a.k), count = std::min(parts, most);
    a.split = ((length + count - 1) / count + tile->bk - 1) / tile->bk * tile->bk;
    a.splits = (length + a.split - 1) / a.split;
    a.row_tiles = (a.m + tile->bm - 1) / tile->bm;
    a.column_tiles = (a.n + tile->bn - 1) / tile->bn;
    return *tile;
  }

  void dispatch(Launch& launch, const ConvUnitArguments& a, const ProductTile& tile, uint32_t part,
                bool scattered, bool biased, Activation activation, DType out) const {
    static const ShaderCode half_code = with_variant(find_shader("conv_cooperative"), conv_unit_variant);
    static const ShaderCode bfloat_code = with_variant(half_code, conv_unit_variant, true);
    const double share = recorder.rates.f32 / recorder.rates.matrix_units;
    launch.multiplies(double(a.m) * double(a.n) * double(a.k) * double(a.groups) * share);
    const uint32_t subgroup = recorder.physical.subgroup_size;
    const uint32_t threads = tile.bm / tile.own_m * (tile.bn / tile.own_n) * subgroup;
    launch.run_in_turns(unit_type == DType::f16 ? half_code : bfloat_code,
                        ConvCooperative{.local_size_x = threads,
                                        .bm = tile.bm,
                                        .bn = tile.bn,
                                        .bk = tile.bk,
                                        .wm = tile.own_m,
                                        .wn = tile.own_n,
                                        .part = part,
                                        .scattered = scattered,
                                        .has_bias = biased,
                                        .threads = threads,
                                        .scaled = type() == DType::f32 && unit_type == DType::f16,
                                        .out_type = uint32_t(out),
                                        .subgroup = subgroup,
                                        .m = MatrixUnits::kSide,
                                        .n = MatrixUnits::kSide,
                                        .k = MatrixUnits::kSide,
                                        .dims = used_dims(g),
                                        .activation = uint32_t(activation)}
                            .values(),
                        a.row_tiles * a.column_tiles * a.groups * a.splits, bytes_of(a));
  }

  static void read_largest(ConvUnitArguments& a, Launch& launch, const UnitOperand& left,
                           const UnitOperand& image) {
    if (left.largest.defined()) a.a_largest = launch.reads(left.largest);
    if (image.largest.defined()) a.image_largest = launch.reads(image.largest);
  }

  // C, or memory for its parts of k in f32.
  Tensor target(const ConvUnitArguments& a) const {
    const Tensor& out = call.output();
    if (a.splits == 1) return out;
    return Tensor::empty({int64_t(a.splits), out.numel()}, DType::f32, out.device());
  }

  // Computes the result, or one remainder of the input's gradient. `channels`: channels of the image; `rows`:
  // rows of C.
  void result(const UnitOperand& image, const Tensor& weight, bool back, const Window& along,
              const Tensor& bias, Activation activation) const {
    const int64_t channels = back ? g.group_outputs() : g.group_inputs(),
                  rows = back ? g.group_inputs() : g.group_outputs();
    const ConvGeometry::Sizes &image_size = back ? g.out : g.in, &out_size = back ? g.in : g.out;
    ConvUnitArguments a{};
    set_window(a, along, image_size, out_size);
    const int64_t taps = taps_of(along), positions = g.batch * positions_of(along);
    const bool scattered = is_scattered(along);
    OperandLayout layout{.items = {g.groups, rows},
                         .item_step = {g.group_outputs() * g.window(), back ? g.kernel_size() : g.window()},
                         .groups = 1,
                         .group_step = 0,
                         .group_channels = channels,
                         .channel_step = back ? g.window() : g.kernel_size(),
                         .size = {},
                         .place_step = {}};
    const ConvGeometry::Sizes steps = steps_of(g.kernel);
    for (size_t d = 0; d < 3; ++d) {
      const Along& one = along[d];
      layout.size[d] = one.taps;
      layout.place_step[d] = one.every * steps[d];
      layout.first += one.first * steps[d];
    }
    if (positions == 0) return;
    a.m = uint32_t(rows);
    a.n = uint32_t(positions);
    a.k = uint32_t(taps * padded(channels));
    a.groups = uint32_t(g.groups);
    a.a_line = a.k;
    a.a_group = a.k * a.m;
    a.group_channels = uint32_t(padded(channels));
    a.channels = a.groups * a.group_channels;
    a.out_channels = a.groups * a.m;
    const bool ends = bias.defined() || activation != Activation::none;
    const ProductTile tile = plan(a, ends || scattered ? 1 : a.k);
    UnitOperand left = image;  // not read where no tap reaches the positions
    if (a.k > 0) left = operand_of(weight, layout, false, unit_type, recorder);
    const Tensor made = target(a);
    {
      Launch launch(recorder);
      a.a = launch.reads(left.tensor);
      a.image = launch.reads(image.tensor);
      read_largest(a, launch, left, image);
      if (bias.defined()) a.bias = launch.reads(bias);
      a.c = launch.writes(made);
      dispatch(launch, a, tile, ConvCooperative::kResult, scattered, bias.defined(), activation,
               made.dtype());
    }
    if (a.splits > 1) add_parts(call.output(), made, recorder);
  }

  void weight_gradient(const UnitOperand& image, const UnitOperand& gradient) const {
    ConvUnitArguments a{};
    const int64_t inputs = padded(g.group_inputs()), outputs = padded(g.group_outputs());
    for (size_t d = 0; d < 3; ++d) {
      a.image_size[d] = uint32_t(g.in[d]);
      a.size[d] = uint32_t(g.out[d]);
      a.kernel[d] = uint32_t(g.kernel[d]);
      a.stride[d] = int32_t(g.stride[d]);
      a.origin[d] = int32_t(-g.padding[d]);
      a.tap[d] = int32_t(g.dilation[d]);
    }
    a.m = uint32_t(g.group_outputs());
    a.n = uint32_t(g.kernel_size() * inputs);
    a.k = uint32_t(g.batch * g.out_size());
    a.groups = uint32_t(g.groups);
    a.a_line = uint32_t(g.groups * outputs);
    a.a_group = uint32_t(outputs);
    a.group_channels = uint32_t(inputs);
    a.channels = uint32_t(g.groups * inputs);
    const ProductTile tile = plan(a, a.k);
    const Tensor& out = call.output();
    // [rows, positions in the kernel, channels with padding]
    const Shape shape{g.out_channels, g.kernel_size(), inputs};
    const Tensor parts = Tensor::empty({int64_t(a.splits), numel(shape)}, DType::f32, out.device());
    {
      Launch launch(recorder);
      a.a = launch.reads(gradient.tensor);
      a.image = launch.reads(image.tensor);
      read_largest(a, launch, gradient, image);
      a.c = launch.writes(parts);
      dispatch(launch, a, tile, ConvCooperative::kWeightGradient, false, false, Activation::none, DType::f32);
    }
    Tensor sum = parts;
    if (a.splits > 1) {
      sum = Tensor::empty(shape, DType::f32, out.device());
      add_parts(sum, parts, recorder);
    }
    const Tensor own = narrow(reshape(sum, shape), 2, 0, g.group_inputs());
    copy(reshape(out, {g.out_channels, g.group_inputs(), g.kernel_size()}), permute(own, {0, 2, 1}),
         recorder);
  }
};

}  // namespace

DType conv_unit_type(DType type, ConvPart part, const ConvGeometry& g, const PhysicalDevice& physical) {
  constexpr double kLeastUse = 1.0 / 64;  // share of the matrix units; below it f32 arithmetic is as fast
  constexpr int64_t kSide = 64, kMost = int64_t(1) << 31;
  const bool back = part == ConvPart::input_gradient || part == ConvPart::transposed;
  const int64_t rows = back ? g.group_inputs() : g.group_outputs();
  const int64_t channels = back ? g.group_outputs() : g.group_inputs();
  if (rows == 0 || channels == 0) return DType::f32;
  const double use = std::min(1.0, double(rows) / kSide) * double(channels) / double(padded(channels));
  const int64_t inputs = g.batch * g.in_size() * g.groups * padded(g.group_inputs());
  const int64_t outputs = g.batch * g.out_size() * g.groups * padded(g.group_outputs());
  const int64_t weights = g.kernel_size() * padded(g.in_channels) * padded(g.out_channels);
  if (use < kLeastUse || std::max({inputs, outputs, weights}) >= kMost) return DType::f32;
  Product p;
  p.m = rows;
  p.n = g.batch * (back ? g.in_size() : g.out_size());
  p.k = channels * g.kernel_size();
  p.type = type;
  return unit_type_of(p, physical);
}

void convolve_on_units(const Call& call, ConvPart part, const ConvGeometry& g, DType unit_type,
                       Recorder& recorder) {
  const NoGrad off;
  const Tensor first = contiguous(call.input(0)), second = contiguous(call.input(1));
  const Tensor bias = call.has(2) ? contiguous(call.input(2)) : Tensor();
  const auto last = [&](const Tensor& x, const OperandLayout& layout, bool is_gradient = false) {
    return operand_of(x, layout, is_gradient, unit_type, recorder);
  };
  const OperandLayout outputs = image_layout(g, g.out_channels, g.out);
  if (part == ConvPart::input_gradient || part == ConvPart::transposed) {
    const UnitOperand image = last(first, outputs, part == ConvPart::input_gradient);
    const Run run{call, g, unit_type, recorder};
    each_remainder(
        g, [&](const Window& along) { run.result(image, second, true, along, bias, Activation::none); });
    return;
  }
  // Along a dim in which the kernel has one element, bring only the positions at its strides into the layout.
  OperandLayout inputs = image_layout(g, g.in_channels, g.in);
  ConvGeometry used = g;
  for (size_t d = 0; d < 3; ++d)
    if (g.kernel[d] == 1 && g.padding[d] == 0) {
      inputs.size[d] = used.in[d] = g.out[d];
      inputs.place_step[d] *= g.stride[d];
      used.stride[d] = 1;
    }
  const Run run{call, used, unit_type, recorder};
  const UnitOperand image = last(first, inputs);
  if (part == ConvPart::weight_gradient) return run.weight_gradient(image, last(second, outputs, true));
  run.result(image, second, false, {forward_along(used, 0), forward_along(used, 1), forward_along(used, 2)},
             bias, activation_of(call.params));
}

}  // namespace lunagrad::gpu
