// Pools composed of the pools of images (pool.cpp), so that they run on every device and have gradients of
// any order:
//   over D, H, W    First a pool over H and W of each slice, then a pool over D. The largest element of a
//                   box is the largest of its slices' maxima; its mean is the mean of its slices' means.
//   indices         Max pooling of x also takes the elements of another tensor at the same positions. From
//                   a tensor of positions it takes the indices.
//   unpooling       The elements are scattered to these indices.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "runtime/ops/families.h"
#include "runtime/ops/nn/pool_windows.h"

namespace lunagrad {
namespace {

const ParamSpec kPoolStride{.name = "stride", .kind = ParamKind::integers, .optional = true};
const ParamSpec kOutputSize{"output_size", ParamKind::integers, {}};
const ParamSpec kReturnIndices{"return_indices", ParamKind::boolean, false};

void need_floating(const Call& call) {
  if (!is_floating(call.input(0).dtype()))
    fail(call.op->name, ": a floating type is needed (got ", call.input(0).dtype(), ")");
}

// --- two passes over a volume ---

int64_t planes_of_volume(const Shape& x) { return x.size() == 5 ? x[0] * x[1] : x[0]; }

// [planes * D, H, W] and back to [.., D', H', W'].
Tensor slices(const Tensor& x) {
  const int n = x.ndim();
  return reshape(x, {planes_of_volume(x.shape()) * x.size(n - 3), x.size(n - 2), x.size(n - 1)});
}
// Slices after the first pass as [planes, D, H' W'].
Tensor as_rows(const Tensor& y, const Shape& x) {
  return reshape(y, {planes_of_volume(x), x[x.size() - 3], y.size(1) * y.size(2)});
}
Tensor as_volume(const Tensor& y, const Shape& x, const Tensor& slice) {
  Shape shape = x;
  const int n = x.size();
  shape[n - 3] = y.size(1), shape[n - 2] = slice.size(1), shape[n - 1] = slice.size(2);
  return reshape(y, shape);
}

// --- indices ---

// A pass of max pooling: the op, the op that takes values by x, and their parameters.
struct MaxPass {
  const Op &pool, &pick;
  Values params;
  Tensor of(const Tensor& x) const { return apply1(pool, {x}, params); }
  Tensor taken(const Tensor& values, const Tensor& x) const { return apply1(pick, {values, x}, params); }
};
template <int dims>
MaxPass max_pass(Values params) {
  static const Op &pool = *find_op(dims == 1 ? "max_pool1d" : "max_pool2d"),
                  &pick = *find_op(dims == 1 ? "_max_pool1d_pick" : "_max_pool2d_pick");
  return {pool, pick, std::move(params)};
}
MaxPass adaptive_pass(const Dims& size) {
  static const Op &pool = *find_op("adaptive_max_pool2d"), &pick = *find_op("_adaptive_max_pool2d_pick");
  return {pool, pick, {size}};
}

constexpr int64_t kExactInF32 = 1 << 24;

// x in a type that holds its elements and the numbers of its positions.
Tensor comparable(const Tensor& x, int64_t positions) {
  return to(x.detach(), positions > kExactInF32     ? DType::f64
                        : is_16bit_float(x.dtype()) ? DType::f32
                                                    : x.dtype());
}
// The positions 0, 1, … of the last `dims` dims, in the shape and type of x.
Tensor positions_of(const Tensor& x, int dims) {
  Shape shape(x.shape());
  while (shape.size() > dims) shape.erase(0);
  const Tensor numbers = arange(0, double(numel(shape)), 1, x.dtype(), x.device());
  return expand(reshape(numbers, shape), x.shape());
}

// The result and, if wanted, the indices of a pool of one pass.
Operands with_indices(const Tensor& x, const MaxPass& pass, int dims, bool wanted) {
  Operands results{pass.of(x)};
  if (!wanted) return results;
  const NoGrad off;
  int64_t count = 1;
  for (int d = x.ndim() - dims; d < x.ndim(); ++d) count *= x.size(d);
  const Tensor seen = comparable(x, count);
  results.push_back(to(pass.taken(positions_of(seen, dims), seen), DType::i64));
  return results;
}

// The same for a pool over the slices and then over the depth.
Operands volume_with_indices(const Tensor& x, const MaxPass& within, const MaxPass& across, bool wanted) {
  const Shape& shape = x.shape();
  const Tensor slice = within.of(slices(x));
  Operands results{as_volume(across.of(as_rows(slice, shape)), shape, slice)};
  if (!wanted) return results;
  const NoGrad off;
  const int n = x.ndim();
  const Tensor seen = comparable(x, shape[n - 3] * shape[n - 2] * shape[n - 1]), parts = slices(seen);
  const Tensor best = within.of(parts), place = within.taken(slices(positions_of(seen, 3)), parts);
  const Tensor taken = across.taken(as_rows(place, shape), as_rows(best, shape));
  results.push_back(to(as_volume(taken, shape, slice), DType::i64));
  return results;
}

std::vector<ParamSpec> max_params() {
  return {{"kernel_size", ParamKind::integers, {}},  kPoolStride,
          {"padding", ParamKind::integers, Dims{0}}, {"dilation", ParamKind::integers, Dims{1}},
          {"ceil_mode", ParamKind::boolean, false},  kReturnIndices};
}
Values without_last(const Values& params) {
  Values list;
  for (size_t i = 0; i + 1 < params.size(); ++i) list.push_back(params[i]);
  return list;
}

template <int dims>
Operands max_pool_compose(const Call& call) {
  return with_indices(call.input(0), max_pass<dims>(without_last(call.params)), dims, call.flag(5));
}
constexpr const char* kMaxPoolIndicesDoc =
    "The largest element of each window; with return_indices also its position (from 0) in the flattened "
    "spatial dims.";
const Op kMaxPool1dIndices{.name = "_max_pool1d_indices",
                           .doc = kMaxPoolIndicesDoc,
                           .inputs = {{"input"}},
                           .params = max_params(),
                           .compose = max_pool_compose<1>,
                           .family = OpFamily::reduction,
                           .short_form = "max_pool1d"};
const Op kMaxPool2dIndices{.name = "_max_pool2d_indices",
                           .doc = kMaxPoolIndicesDoc,
                           .inputs = {{"input"}},
                           .params = max_params(),
                           .compose = max_pool_compose<2>,
                           .family = OpFamily::reduction,
                           .short_form = "max_pool2d"};

using Axes = std::array<WindowAxis, 3>;
Dims of_slice(const Axes& axes, int64_t WindowAxis::*field) { return {axes[1].*field, axes[2].*field}; }
Dims of_depth(const Axes& axes, int64_t WindowAxis::*field, int64_t across) {
  return {axes[0].*field, across};
}

Operands max_pool3d_compose(const Call& call) {
  need_floating(call);
  const Tensor& x = call.input(0);
  const Axes axes = window_axes(
      call, 3, x.shape(), {call.list(0), call.params[1], call.list(2), call.list(3), call.flag(4), false});
  const bool ceil = call.flag(4);
  const MaxPass within =
      max_pass<2>({of_slice(axes, &WindowAxis::kernel), of_slice(axes, &WindowAxis::stride),
                   of_slice(axes, &WindowAxis::padding), of_slice(axes, &WindowAxis::dilation), ceil});
  const MaxPass across =
      max_pass<2>({of_depth(axes, &WindowAxis::kernel, 1), of_depth(axes, &WindowAxis::stride, 1),
                   of_depth(axes, &WindowAxis::padding, 0), of_depth(axes, &WindowAxis::dilation, 1), ceil});
  return volume_with_indices(x, within, across, call.flag(5));
}
const Op kMaxPool3d{
    .name = "max_pool3d",
    .doc = kMaxPoolIndicesDoc,
    .inputs = {{"input"}},
    .params = max_params(),
    .compose = max_pool3d_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {1, 2, 4, 5, 4}}}, .params = {Dims{2}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 5, 5, 6}}},
         .params = {Dims{3, 2, 3}, Dims{2, 1, 2}, Dims{1, 1, 0}, Dims{1, 2, 1}, true},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 4, 4, 4}}}, .params = {Dims{5}}, .error = "no window fits"},
        {.inputs = {{.shape = {4, 4, 4}}}, .params = {Dims{2}}, .error = "must be [N, C, D, H, W]"},
        {.inputs = {{.shape = {2, 4, 4, 4}}},
         .params = {Dims{2}, Dims{2}, Dims{2}},
         .error = "max_pool3d: padding may be at most half"}}};

Operands avg_pool3d_compose(const Call& call) {
  need_floating(call);
  const Tensor& x = call.input(0);
  const bool ceil = call.flag(3), padded = call.flag(4);
  const Axes axes =
      window_axes(call, 3, x.shape(), {call.list(0), call.params[1], call.list(2), Dims{1}, ceil, padded});
  const Value& divisor = call.params[5];
  if (divisor.present() && divisor.i == 0) fail("avg_pool3d: divisor_override may not be 0");
  // The divisor for the slices is a power of two near the whole divisor, so that no sum is much larger than
  // the result.
  const std::optional<int64_t> none, one = divisor.present() ? std::optional<int64_t>(1) : none;
  constexpr uint64_t kMost = 1 << 20;
  const uint64_t size = divisor.i < 0 ? 0 - uint64_t(divisor.i) : uint64_t(divisor.i);
  const std::optional<int64_t> part =
      divisor.present() ? std::optional(int64_t(std::bit_floor(std::min(size, kMost)))) : none;
  const Tensor upcast = to(x, accumulate_type(x.dtype()));
  const Tensor slice =
      avg_pool2d(slices(upcast), of_slice(axes, &WindowAxis::kernel), of_slice(axes, &WindowAxis::stride),
                 of_slice(axes, &WindowAxis::padding), ceil, padded, part);
  const Tensor rows = avg_pool2d(as_rows(slice, x.shape()), of_depth(axes, &WindowAxis::kernel, 1),
                                 of_depth(axes, &WindowAxis::stride, 1),
                                 of_depth(axes, &WindowAxis::padding, 0), ceil, padded, one);
  const Tensor y = as_volume(rows, x.shape(), slice);
  return {to(part ? y / (double(divisor.i) / double(*part)) : y, x.dtype())};
}
const Op kAvgPool3d{
    .name = "avg_pool3d",
    .doc = "The mean of each window; count_include_pad counts the zeros of the padding.",
    .inputs = {{"input"}},
    .params = {{"kernel_size", ParamKind::integers, {}},
               kPoolStride,
               {"padding", ParamKind::integers, Dims{0}},
               {"ceil_mode", ParamKind::boolean, false},
               {"count_include_pad", ParamKind::boolean, true},
               {.name = "divisor_override", .kind = ParamKind::integer, .optional = true}},
    .compose = avg_pool3d_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {1, 2, 4, 5, 4}}}, .params = {Dims{2}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 5, 5, 6}}},
         .params = {Dims{3, 2, 4}, Dims{2, 1, 3}, Dims{1, 1, 2}, true, false},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 5, 5, 6}}},
         .params = {Dims{3, 2, 4}, Dims{2, 1, 3}, Dims{1, 1, 2}, true, true},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 3, 3, 3}}},
         .params = {Dims{2}, Dims{1}, Dims{0}, false, true, 3},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 3, 3, 3}}},
         .params = {Dims{2}, Dims{1}, Dims{0}, false, true, 0},
         .error = "divisor_override may not be 0"},
        {.inputs = {{.shape = {2, 3, 0, 3}}}, .params = {Dims{2}}, .error = "has no elements"}}};

// --- windows that divide the input evenly ---

Operands adaptive_max_pool1d_compose(const Call& call) {
  need_floating(call);
  const Tensor& x = call.input(0);
  check_pooled(call, 1, x.shape());
  const int64_t size = pool_sizes(call, 1, "output_size", call.list(0), 0)[2];
  Operands results = with_indices(unsqueeze(x, -2), adaptive_pass({1, size}), 2, call.flag(1));
  for (Tensor& result : results) result = squeeze(result, -2);
  return results;
}
constexpr const char* kAdaptiveMaxDoc =
    "The largest elements of output_size windows that divide the input evenly; with return_indices also "
    "their "
    "positions (from 0) in the flattened spatial dims.";
const Op kAdaptiveMaxPool1d{
    .name = "adaptive_max_pool1d",
    .doc = kAdaptiveMaxDoc,
    .inputs = {{"input"}},
    .params = {kOutputSize, kReturnIndices},
    .compose = adaptive_max_pool1d_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {2, 3, 7}}}, .params = {Dims{3}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {3, 4}}}, .params = {Dims{5}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {4}}}, .params = {Dims{1}}, .error = "input must be [N, C, W] or [C, W]"}}};

Operands adaptive_max_pool2d_compose(const Call& call) {
  return with_indices(call.input(0), adaptive_pass(call.list(0)), 2, call.flag(1));
}
const Op kAdaptiveMaxPool2dIndices{.name = "_adaptive_max_pool2d_indices",
                                   .doc = kAdaptiveMaxDoc,
                                   .inputs = {{"input"}},
                                   .params = {kOutputSize, kReturnIndices},
                                   .compose = adaptive_max_pool2d_compose,
                                   .family = OpFamily::reduction,
                                   .short_form = "adaptive_max_pool2d"};

// The sizes of the result; an empty one has no second pass.
PoolSizes adaptive_sizes(const Call& call) {
  need_floating(call);
  check_pooled(call, 3, call.input(0).shape());
  return pool_sizes(call, 3, "output_size", call.list(0), 0);
}
bool is_empty(const PoolSizes& size) { return size[0] == 0 || size[1] == 0 || size[2] == 0; }
Tensor empty_volume(const Tensor& x, const PoolSizes& size) {
  Shape shape = x.shape();
  for (int i = 0; i < 3; ++i) shape[x.ndim() - 3 + i] = size[size_t(i)];
  numel(shape);
  return reshape(narrow(x, 0, 0, 0), shape);
}

Operands adaptive_max_pool3d_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const PoolSizes size = adaptive_sizes(call);
  if (is_empty(size)) {
    const Tensor y = empty_volume(x, size);
    return call.flag(1) ? Operands{y, to(y.detach(), DType::i64)} : Operands{y};
  }
  return volume_with_indices(x, adaptive_pass({size[1], size[2]}),
                             adaptive_pass({size[0], size[1] * size[2]}), call.flag(1));
}
const Op kAdaptiveMaxPool3d{
    .name = "adaptive_max_pool3d",
    .doc = kAdaptiveMaxDoc,
    .inputs = {{"input"}},
    .params = {kOutputSize, kReturnIndices},
    .compose = adaptive_max_pool3d_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {1, 2, 5, 4, 3}}},
         .params = {Dims{2, 3, 3}},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 3, 3, 4}}}, .params = {Dims{4}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {3, 3, 4}}}, .params = {Dims{4}}, .error = "input must be [N, C, D, H, W]"}}};

Operands adaptive_avg_pool3d_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const PoolSizes size = adaptive_sizes(call);
  if (is_empty(size)) return {empty_volume(x, size)};
  const Tensor upcast = to(x, accumulate_type(x.dtype()));
  const Tensor slice = adaptive_avg_pool2d(slices(upcast), {size[1], size[2]});
  const Tensor rows = adaptive_avg_pool2d(as_rows(slice, x.shape()), {size[0], size[1] * size[2]});
  return {to(as_volume(rows, x.shape(), slice), x.dtype())};
}
const Op kAdaptiveAvgPool3d{
    .name = "adaptive_avg_pool3d",
    .doc = "The means of output_size windows that divide the input evenly.",
    .inputs = {{"input"}},
    .params = {kOutputSize},
    .compose = adaptive_avg_pool3d_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {1, 2, 5, 4, 3}}},
         .params = {Dims{2, 3, 3}},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 3, 3, 4}}}, .params = {Dims{4}}, .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 3, 3, 4}}}, .params = {Dims{-1}}, .error = "must be at least 0"}}};

// --- unpooling ---

constexpr int kUnpoolStride = 1, kUnpoolPadding = 2, kUnpoolSize = 3;

// The spatial sizes of the result. The default is (in - 1) stride + kernel - 2 padding; the wanted sizes may
// differ from it by less than a stride.
Shape unpooled_shape(const Call& call, int dims, const Shape& x) {
  const char* const name = call.op->name;
  const PoolSizes kernel = pool_sizes(call, dims, "kernel_size", call.list(0), 1);
  const Value& given = call.params[kUnpoolStride];
  const PoolSizes stride =
      given.present() && !given.list.empty() ? pool_sizes(call, dims, "stride", given.list, 1) : kernel;
  const PoolSizes padding = pool_sizes(call, dims, "padding", call.list(kUnpoolPadding), 0);
  const Value& wanted = call.params[kUnpoolSize];
  const int count = wanted.present() ? wanted.list.size() : 0;
  if (count != 0 && count != dims && count != x.size())
    fail(name, ": output_size must have ", dims, " or ", x.size(), " sizes (got ", wanted.list, ")");
  Shape shape = x;
  for (size_t k = size_t(3 - dims); k < 3; ++k) {
    const int d = x.size() - 3 + int(k);
    const __int128 usual = __int128(x[d] - 1) * stride[k] + kernel[k] - 2 * padding[k];
    __int128 size = usual;
    if (count > 0) {
      size = wanted.list[count - 3 + int(k)];
      if (size <= usual - stride[k] || size >= usual + stride[k])
        fail(name, ": output_size ", wanted.list, " does not fit: dim ", d + 1, " may have ",
             int64_t(std::max<__int128>(usual - stride[k] + 1, 1)), " to ", int64_t(usual + stride[k] - 1),
             " elements");
    }
    if (size < 1 || size > __int128(1) << 40)
      fail(name, ": dim ", d + 1, " of the result would have ", double(size), " elements");
    shape[d] = int64_t(size);
  }
  return shape;
}

template <int dims>
Operands max_unpool_compose(const Call& call) {
  const Tensor &x = call.input(0), &indices = call.input(1);
  check_pooled(call, dims, x.shape());
  if (!(x.shape() == indices.shape()))
    fail(call.op->name, ": input has shape ", x.shape(), " and indices ", indices.shape(),
         "; they must be the same");
  if (indices.dtype() != DType::i64)
    fail(call.op->name, ": indices must be i64, from a max_pool with return_indices (got ", indices.dtype(),
         ")");
  const Shape shape = unpooled_shape(call, dims, x.shape());
  Shape flat = x.shape(), large = shape;
  for (int d = 0; d < dims; ++d) flat.erase(flat.size() - 1), large.erase(large.size() - 1);
  int64_t from = 1, into = 1;
  for (int d = x.ndim() - dims; d < x.ndim(); ++d) from *= x.size(d);
  if (numel(shape) > 0)
    for (int d = x.ndim() - dims; d < x.ndim(); ++d) into *= shape[d];
  flat.push_back(from), large.push_back(into);
  const Tensor zero = zeros(large, x.dtype(), x.device());
  return {reshape(scatter(zero, -1, reshape(indices, flat), reshape(x, flat)), shape)};
}
std::vector<ParamSpec> unpool_params() {
  return {{"kernel_size", ParamKind::integers, {}},
          kPoolStride,
          {"padding", ParamKind::integers, Dims{0}},
          {.name = "output_size", .kind = ParamKind::integers, .optional = true}};
}
constexpr const char* kUnpoolDoc =
    "Puts each element of input at its position in indices, which max pooling gives with return_indices; "
    "zeros "
    "elsewhere.";
const Op kMaxUnpool1d{
    .name = "max_unpool1d",
    .doc = kUnpoolDoc,
    .inputs = {{"input"}, {"indices"}},
    .params = unpool_params(),
    .compose = max_unpool_compose<1>,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .examples = {{.inputs = {{.shape = {2, 1, 1}},
                             {.shape = {2, 1, 1}, .low = 0, .high = 2, .kind = ExampleOperand::Kind::index}},
                  .params = {Dims{2}}},
                 {.inputs = {{.shape = {2, 1, 2}},
                             {.shape = {2, 1, 1}, .low = 0, .high = 2, .kind = ExampleOperand::Kind::index}},
                  .params = {Dims{2}},
                  .error = "they must be the same"}}};
const Op kMaxUnpool2d{
    .name = "max_unpool2d",
    .doc = kUnpoolDoc,
    .inputs = {{"input"}, {"indices"}},
    .params = unpool_params(),
    .compose = max_unpool_compose<2>,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .examples = {
        {.inputs = {{.shape = {2, 3, 1, 1}},
                    {.shape = {2, 3, 1, 1}, .low = 0, .high = 12, .kind = ExampleOperand::Kind::index}},
         .params = {Dims{3}, Dims{2}, Dims{0}, Dims{3, 4}}},
        {.inputs = {{.shape = {2, 3, 1, 1}},
                    {.shape = {2, 3, 1, 1}, .low = 0, .high = 9, .kind = ExampleOperand::Kind::index}},
         .params = {Dims{3}, Dims{2}, Dims{0}, Dims{3, 5}},
         .error = "does not fit"}}};
const Op kMaxUnpool3d{
    .name = "max_unpool3d",
    .doc = kUnpoolDoc,
    .inputs = {{"input"}, {"indices"}},
    .params = unpool_params(),
    .compose = max_unpool_compose<3>,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .examples = {
        {.inputs = {{.shape = {2, 1, 1, 1}},
                    {.shape = {2, 1, 1, 1}, .low = 0, .high = 8, .kind = ExampleOperand::Kind::index}},
         .params = {Dims{2}}}}};

}  // namespace

std::span<const Op* const> pool_forms() {
  static const Op* const ops[] = {&kMaxPool1dIndices,  &kMaxPool2dIndices,  &kMaxPool3d,
                                  &kAvgPool3d,         &kAdaptiveMaxPool1d, &kAdaptiveMaxPool2dIndices,
                                  &kAdaptiveMaxPool3d, &kAdaptiveAvgPool3d, &kMaxUnpool1d,
                                  &kMaxUnpool2d,       &kMaxUnpool3d};
  return ops;
}

}  // namespace lunagrad
