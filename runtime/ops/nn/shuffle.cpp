// Channels as pixels and pixels as channels: pixel_shuffle (Shi and others, CVPR 2016), its inverse, and
// channel_shuffle (Zhang and others, CVPR 2018). Views in another order.
#include "runtime/ops/families.h"
#include "runtime/ops/nn/resize_forms.h"

namespace lunagrad {
namespace {

int64_t leading(const Tensor& x) {
  int64_t count = 1;
  for (int d = 0; d < x.ndim() - 3; ++d) count *= x.size(d);
  return count;
}
Shape with_image(const Tensor& x, int64_t channels, int64_t rows, int64_t columns) {
  Shape shape = x.shape();
  const int n = x.ndim();
  shape[n - 3] = channels, shape[n - 2] = rows, shape[n - 1] = columns;
  return shape;
}
// The factor, and its square.
std::pair<int64_t, int64_t> factor_of(const Call& call) {
  const char* const name = call.op->params[0].name;
  const int64_t r = call.integer(0);
  if (call.input(0).ndim() < 3)
    fail(call.op->name, ": an input [.., C, H, W] expected (got shape ", call.input(0).shape(), ")");
  if (r < 1 || r > (int64_t(1) << 30))
    fail(call.op->name, ": ", name, " must be 1 to 1073741824 (got ", r, ")");
  return {r, r * r};
}

Operands pixel_shuffle_compose(const Call& call) {
  const auto [r, square] = factor_of(call);
  const Tensor& x = call.input(0);
  const int64_t channels = x.size(-3), rows = x.size(-2), columns = x.size(-1);
  if (channels % square != 0)
    fail("pixel_shuffle: ", channels, " channels are not a multiple of upscale_factor^2 = ", square);
  const int64_t made = channels / square;
  const Shape shape = with_image(x, made, rows * r, columns * r);
  const Tensor parts = reshape(x, {leading(x), made, r, r, rows, columns});
  return {reshape(permute(parts, {0, 1, 4, 2, 5, 3}), shape)};
}
const Op kPixelShuffle{
    .name = "pixel_shuffle",
    .doc = "Images [.., C r^2, H, W] as [.., C, H r, W r], where r is upscale_factor.",
    .inputs = {{"input"}},
    .params = {{"upscale_factor", ParamKind::integer, {}}},
    .compose = pixel_shuffle_compose,
    .family = OpFamily::view,
    .examples = {
        {.inputs = {{.shape = {2, 8, 2, 3}}}, .params = {2}},
        {.inputs = {{.shape = {9, 1, 2}}}, .params = {3}},
        {.inputs = {{.shape = {6, 1, 2}}}, .params = {2}, .error = "not a multiple of upscale_factor^2 = 4"},
        {.inputs = {{.shape = {6, 1}}}, .params = {2}, .error = "an input [.., C, H, W]"}}};

Operands pixel_unshuffle_compose(const Call& call) {
  const auto [r, square] = factor_of(call);
  const Tensor& x = call.input(0);
  const int64_t channels = x.size(-3), rows = x.size(-2), columns = x.size(-1);
  if (rows % r != 0 || columns % r != 0)
    fail("pixel_unshuffle: ", rows, " rows and ", columns,
         " columns are not multiples of downscale_factor = ", r);
  const Shape shape = with_image(x, channels * square, rows / r, columns / r);
  const Tensor parts = reshape(x, {leading(x), channels, rows / r, r, columns / r, r});
  return {reshape(permute(parts, {0, 1, 3, 5, 2, 4}), shape)};
}
const Op kPixelUnshuffle{
    .name = "pixel_unshuffle",
    .doc = "Images [.., C, H r, W r] as [.., C r^2, H, W], where r is downscale_factor.",
    .inputs = {{"input"}},
    .params = {{"downscale_factor", ParamKind::integer, {}}},
    .compose = pixel_unshuffle_compose,
    .family = OpFamily::view,
    .examples = {
        {.inputs = {{.shape = {2, 2, 4, 6}}}, .params = {2}},
        {.inputs = {{.shape = {1, 3, 6}}}, .params = {3}},
        {.inputs = {{.shape = {1, 3, 6}}}, .params = {2}, .error = "not multiples of downscale_factor = 2"}}};

Operands channel_shuffle_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t groups = call.integer(0);
  if (x.ndim() < 3)
    fail("channel_shuffle: an input [N, C, …] of 3 or more dims expected (got shape ", x.shape(), ")");
  if (groups < 1 || x.size(1) % groups != 0)
    fail("channel_shuffle: groups = ", groups, " must divide the ", x.size(1), " channels");
  int64_t rest = 1;
  for (int d = 2; d < x.ndim(); ++d) rest *= x.size(d);
  const Tensor parts = reshape(x, {x.size(0), groups, x.size(1) / groups, rest});
  return {reshape(transpose(parts, 1, 2), x.shape())};
}
const Op kChannelShuffle{
    .name = "channel_shuffle",
    .doc = "input [N, C, …] with its channels, seen as [groups, C / groups], transposed.",
    .inputs = {{"input"}},
    .params = {{"groups", ParamKind::integer, {}}},
    .compose = channel_shuffle_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{.shape = {2, 6, 2, 2}}}, .params = {3}},
                 {.inputs = {{.shape = {1, 4, 3}}}, .params = {2}},
                 {.inputs = {{.shape = {1, 4, 3}}}, .params = {3}, .error = "must divide the 4 channels"}}};

}  // namespace

std::span<const Op* const> shuffle_ops() {
  static constexpr const Op* ops[] = {&kPixelShuffle, &kPixelUnshuffle, &kChannelShuffle};
  return ops;
}

}  // namespace lunagrad
