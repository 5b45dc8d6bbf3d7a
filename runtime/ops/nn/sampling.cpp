// grid_sample, which reads images at any positions, and affine_grid, which makes the positions (Jaderberg and
// others, "Spatial transformer networks", NIPS 2015). Compositions of gathers and elementwise ops: on every
// device, with gradients of any order for the input and for the grid.
#include <array>
#include <vector>

#include "runtime/ops/families.h"
#include "runtime/ops/nn/resize_forms.h"

namespace lunagrad {
namespace {

enum GridSampleParam { kSampleMode, kSamplePaddingMode, kSampleAlignCorners };
enum SampleMode : int64_t { kBilinear, kNearest, kCubic };
enum SamplePadding : int64_t { kZeros, kBorder, kReflection };

// The images of a call as [N, C, positions], and how positions outside them are read.
struct Images {
  Tensor flat;
  int64_t padding;
  bool align;
  std::vector<int64_t> sizes;  // W, H and D, in the order of the grid's last dim

  // A coordinate -1 … 1 in elements: -1 and 1 are the centres of the outer elements, or their outer edges.
  Tensor unnormalized(const Tensor& at, int64_t size) const {
    return align ? (at + 1.0) * (double(size - 1) / 2) : ((at + 1.0) * double(size) - 1.0) * 0.5;
  }
  // A coordinate reflected at the centres of the outer elements, or at their outer edges.
  Tensor reflected(const Tensor& at, int64_t size) const {
    const double low = align ? 0 : -0.5, span = align ? double(size - 1) : double(size);
    if (span == 0) return at * 0.0;
    const Tensor distance = abs(at - low), flips = floor(distance / span), rest = distance - flips * span;
    const Tensor even = eq(remainder(flips.detach(), Tensor::number(2.0)), Tensor::number(0.0));
    return where(even, rest + low, (span + low) - rest);
  }
  // Moves a coordinate into the image, unless zeros are read outside it. In that case the coordinate is
  // limited to 2 elements outside, so that it fits an integer.
  Tensor inside(const Tensor& at, int64_t size) const {
    const double last = double(size - 1);
    if (padding == kZeros) return clamp(at, -2.0, last + 2);
    // At the border the gradient is 0, as in PyTorch.
    const Tensor place = padding == kReflection ? reflected(at, size) : at;
    const Tensor inside = logical_and(gt(place, Tensor::number(0.0)), lt(place, Tensor::number(last)));
    return where(inside, place, clamp(place.detach(), 0.0, last));
  }

  // The elements [N, C, P] at whole positions [N, P] of W, H and D; 0 outside.
  Tensor read(const std::vector<Tensor>& at) const {
    Tensor place, within;
    {
      const NoGrad off;
      for (size_t d = at.size(); d-- > 0;) {
        const double last = double(sizes[d] - 1);
        const Tensor along = to(clamp(at[d], 0.0, last), DType::i64);
        place = place.defined() ? place * Tensor::number(sizes[d]) + along : along;
        if (padding != kZeros) continue;
        const Tensor good = logical_and(ge(at[d], Tensor::number(0.0)), le(at[d], Tensor::number(last)));
        within = within.defined() ? logical_and(within, good) : good;
      }
    }
    const Shape shape{flat.size(0), flat.size(1), place.size(1)};
    const Tensor values = gather(flat, 2, expand(unsqueeze(place, 1), shape));
    return within.defined() ? where(unsqueeze(within, 1), values, Tensor::number(0.0)) : values;
  }
};

Tensor plus(const Tensor& sum, const Tensor& part) { return sum.defined() ? sum + part : part; }

// The mean of the 2^d elements around each position, each weighted by its closeness.
Tensor sample_linear(const Images& images, const std::vector<Tensor>& given) {
  const size_t dims = given.size();
  std::vector<Tensor> low(dims), share(dims);
  for (size_t d = 0; d < dims; ++d) {
    const Tensor at = images.inside(images.unnormalized(given[d], images.sizes[d]), images.sizes[d]);
    low[d] = floor(at.detach());
    share[d] = at - low[d];
  }
  Tensor y;
  for (size_t corner = 0; corner < size_t(1) << dims; ++corner) {
    std::vector<Tensor> at(dims);
    Tensor weight;
    for (size_t d = 0; d < dims; ++d) {
      const bool high = corner >> d & 1;
      at[d] = high ? low[d] + 1.0 : low[d];
      const Tensor w = high ? share[d] : 1.0 - share[d];
      weight = weight.defined() ? weight * w : w;
    }
    y = plus(y, product_unless_zero(images.read(at), unsqueeze(weight, 1)));
  }
  return y;
}

Tensor sample_nearest(const Images& images, const std::vector<Tensor>& given) {
  std::vector<Tensor> at(given.size());
  for (size_t d = 0; d < at.size(); ++d)
    at[d] = round(images.inside(images.unnormalized(given[d].detach(), images.sizes[d]), images.sizes[d]));
  return images.read(at);
}

// Cubic convolution over 4 x 4 elements; each of them is moved into the image by itself.
Tensor sample_cubic(const Images& images, const std::vector<Tensor>& given) {
  std::array<std::array<Tensor, 4>, 2> weights, places;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t size = images.sizes[d];
    Tensor at = images.unnormalized(given[d], size);
    if (images.padding == kZeros) at = clamp(at, -4.0, double(size + 3));
    const Tensor low = floor(at.detach());
    weights[d] = cubic_weights(at - low);
    for (size_t i = 0; i < 4; ++i) places[d][i] = images.inside(low + (double(i) - 1), size);
  }
  Tensor y;
  for (size_t j = 0; j < 4; ++j) {
    Tensor row;
    for (size_t i = 0; i < 4; ++i)
      row = plus(row,
                 product_unless_zero(images.read({places[0][i], places[1][j]}), unsqueeze(weights[0][i], 1)));
    y = plus(y, product_unless_zero(row, unsqueeze(weights[1][j], 1)));
  }
  return y;
}

void check_sampling(const Tensor& x, const Tensor& grid, int64_t mode) {
  const int n = x.ndim();
  if ((n != 4 && n != 5) || grid.ndim() != n)
    fail(
        "grid_sample: input [N, C, H, W] with a grid [N, H', W', 2], or input [N, C, D, H, W] with a grid "
        "[N, D', "
        "H', W', 3] expected (got shapes ",
        x.shape(), " and ", grid.shape(), ")");
  if (grid.size(n - 1) != n - 2 || grid.size(0) != x.size(0))
    fail("grid_sample: input of shape ", x.shape(), " needs a grid of ", x.size(0), " items and ", n - 2,
         " coordinates (got shape ", grid.shape(), ")");
  for (int d = 2; d < n; ++d)
    if (x.size(d) == 0)
      fail("grid_sample: dim ", d + 1, " of the input of shape ", x.shape(), " has no elements");
  if (!is_floating(x.dtype()) || x.dtype() != grid.dtype())
    fail("grid_sample: input and grid must have one floating type (got ", x.dtype(), " and ", grid.dtype(),
         ")");
  if (mode == kCubic && n != 4)
    fail("grid_sample: mode 'bicubic' needs input [N, C, H, W] (got shape ", x.shape(), ")");
}

Operands grid_sample_compose(const Call& call) {
  const Tensor &x = call.input(0), &grid = call.input(1);
  const int64_t mode = call.integer(kSampleMode);
  check_sampling(x, grid, mode);
  const int n = x.ndim();
  const DType type = accumulate_type(x.dtype());
  int64_t elements = 1, places = 1;
  Shape shape = x.shape();
  for (int d = 2; d < n; ++d) {
    elements *= x.size(d);
    places *= grid.size(d - 1);
    shape[d] = grid.size(d - 1);
  }
  if (numel(shape) == 0 || places == 0) return {zeros(shape, x.dtype(), x.device())};
  Images images{to(reshape(x, {x.size(0), x.size(1), elements}), type),
                call.integer(kSamplePaddingMode),
                call.flag(kSampleAlignCorners),
                {}};
  std::vector<Tensor> at;
  for (int d = 0; d < n - 2; ++d) {
    images.sizes.push_back(x.size(n - 1 - d));
    at.push_back(to(reshape(select(grid, n - 1, d), {x.size(0), places}), type));
  }
  const Tensor y = mode == kNearest ? sample_nearest(images, at)
                   : mode == kCubic ? sample_cubic(images, at)
                                    : sample_linear(images, at);
  return {to(reshape(y, shape), x.dtype())};
}

OpExample sample(const Shape& image, const Shape& grid, SampleMode mode, SamplePadding padding, bool align) {
  return {.inputs = {{.shape = image}, {.shape = grid, .low = -1.25, .high = 1.25}},
          .params = {int64_t(mode), int64_t(padding), align},
          .types = OpExample::Types::floating};
}
std::vector<OpExample> sample_examples() {
  std::vector<OpExample> list;
  for (const SampleMode mode : {kBilinear, kNearest, kCubic})
    for (const SamplePadding padding : {kZeros, kBorder, kReflection})
      for (const bool align : {false, true})
        list.push_back(sample({1, 2, 3, 4}, {1, 2, 3, 2}, mode, padding, align));
  for (const SampleMode mode : {kBilinear, kNearest})
    for (const SamplePadding padding : {kZeros, kBorder, kReflection})
      list.push_back(sample({1, 2, 2, 3, 2}, {1, 2, 1, 2, 3}, mode, padding, padding == kBorder));
  list.push_back(
      {.inputs = {{.shape = {1, 2, 3}}, {.shape = {1, 2, 2}}}, .error = "input [N, C, H, W] with a grid"});
  list.push_back(
      {.inputs = {{.shape = {1, 2, 3, 3}}, {.shape = {2, 2, 2, 2}}}, .error = "needs a grid of 1 items"});
  list.push_back({.inputs = {{.shape = {1, 2, 2, 3, 3}}, {.shape = {1, 2, 2, 2, 3}}},
                  .params = {int64_t(kCubic)},
                  .error = "mode 'bicubic' needs input"});
  return list;
}

const Op kGridSample{
    .name = "grid_sample",
    .doc =
        "The values of input [N, C, H, W] or [N, C, D, H, W] at the positions of grid, whose last dim has x, "
        "y "
        "(and z) from -1 to 1.",
    .inputs = {{"input"}, {"grid"}},
    .params = {{"mode", ParamKind::choice, int64_t(kBilinear), {"bilinear", "nearest", "bicubic"}},
               {"padding_mode", ParamKind::choice, int64_t(kZeros), {"zeros", "border", "reflection"}},
               {"align_corners", ParamKind::boolean, false}},
    .compose = grid_sample_compose,
    .family = OpFamily::other,
    .autocast = AutocastPolicy::promote,
    .examples = sample_examples()};

// --- affine_grid ---

// Coordinates -1 … 1 of `size` elements: of the centres of the outer ones, or of their outer edges.
Tensor coordinates(int64_t size, bool align, const Tensor& like) {
  if (size == 1) return zeros({1}, like.dtype(), like.device());
  const Tensor steps = linspace(-1, 1, size, like.dtype(), like.device());
  return align ? steps : steps * (double(size - 1) / double(size));
}

Operands affine_grid_compose(const Call& call) {
  const Tensor& theta = call.input(0);
  const Dims& size = call.list(0);
  const int dims = size.size() - 2;
  if (dims != 2 && dims != 3)
    fail("affine_grid: size must be [N, C, H, W] or [N, C, D, H, W] (got ", size, ")");
  if (!is_floating(theta.dtype())) fail("affine_grid: a floating type is needed (got ", theta.dtype(), ")");
  if (!(theta.shape() == Shape{size[0], dims, dims + 1}))
    fail("affine_grid: size ", size, " needs theta of shape ", Shape{size[0], dims, dims + 1}, " (got ",
         theta.shape(), ")");
  for (int i = 0; i < size.size(); ++i)
    if (size[i] < 1) fail("affine_grid: sizes must be at least 1 (got ", size, ")");
  const Tensor upcast = to(theta, accumulate_type(theta.dtype()));
  Shape spatial;
  for (int i = 2; i < size.size(); ++i) spatial.push_back(size[i]);
  numel(spatial);
  // theta's columns times x, y (and z), and its last column.
  Tensor y;
  for (int axis = 0; axis <= dims; ++axis) {
    Shape column{size[0]}, along(dims + 2, 1);
    for (int i = 0; i < dims; ++i) column.push_back(1);
    column.push_back(dims);
    Tensor part = reshape(select(upcast, 2, axis), column);
    if (axis < dims) {
      const int at = dims - axis;  // x is the last spatial dim
      along[at] = size[at + 1];
      part = part * reshape(coordinates(size[at + 1], call.flag(1), upcast), along);
    }
    y = plus(y, part);
  }
  return {to(y, theta.dtype())};
}
const Op kAffineGrid{
    .name = "affine_grid",
    .doc =
        "The grid of grid_sample for images of size [N, C, H, W] or [N, C, D, H, W], moved by the matrices "
        "theta "
        "[N, 2, 3] or [N, 3, 4].",
    .inputs = {{"theta"}},
    .params = {{"size", ParamKind::integers, {}}, {"align_corners", ParamKind::boolean, false}},
    .compose = affine_grid_compose,
    .family = OpFamily::other,
    .autocast = AutocastPolicy::f32,
    .examples = {
        {.inputs = {{.shape = {2, 2, 3}}}, .params = {Dims{2, 3, 3, 4}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {1, 3, 4}}},
         .params = {Dims{1, 1, 2, 3, 2}, true},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {1, 2, 3}}}, .params = {Dims{1, 1, 1, 3}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {1, 2, 2}}},
         .params = {Dims{1, 1, 2, 2}},
         .error = "needs theta of shape [1, 2, 3]"},
        {.inputs = {{.shape = {1, 2, 3}}}, .params = {Dims{1, 1, 0, 2}}, .error = "sizes must be at least 1"},
        {.inputs = {{.shape = {1, 2, 3}}}, .params = {Dims{1, 2, 2}}, .error = "size must be [N, C, H, W]"}}};

}  // namespace

std::span<const Op* const> sampling_ops() {
  static const Op* const ops[] = {&kGridSample, &kAffineGrid};
  return ops;
}

}  // namespace lunagrad
