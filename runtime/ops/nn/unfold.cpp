// Elements in another arrangement. Windows of one dim as a view, and its gradient, which adds overlapping
// windows; views by strides. Channels as pixels and pixels as channels: pixel_shuffle (Shi and others, CVPR
// 2016), its inverse, and channel_shuffle (Zhang and others, CVPR 2018).
#include <algorithm>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/sum_by_index.h"

namespace lunagrad {
namespace {

constexpr int64_t kUnfoldGrain = 1 << 14;  // elements added in about 20 µs
constexpr int kDimAt = 0, kSizeAt = 1, kStepAt = 2;

Shape with_dim(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

// x [.., L, ..] -> [.., n, .., size]; n = (L - size) / step + 1.
void unfold_shape(Call& call) {
  const Tensor& x = call.input(0);
  Shape shape = with_dim(x.shape());
  Strides strides = x.ndim() == 0 ? Strides{1} : x.strides();
  const int dim = normalize_dim("unfold", call.integer(kDimAt), x.shape());
  const int64_t size = call.integer(kSizeAt), step = call.integer(kStepAt);
  if (step < 1) fail("unfold: a step of at least 1 expected (got ", step, ")");
  if (size < 0 || size > shape[dim])
    fail("unfold: a size of ", size, " does not fit dim ", dim + 1, " of shape ", x.shape());
  const int64_t inside = strides[dim];
  shape[dim] = (shape[dim] - size) / step + 1;
  if (shape[dim] > 1) strides[dim] *= step;
  shape.push_back(size);
  strides.push_back(inside);
  call.emit_view(x, shape, strides, x.offset());
}
void unfold_vjp(Backward&);
const Op kUnfold{.name = "unfold",
                 .doc = "Windows of size elements of a dim, step apart, in a new last dim; a view.",
                 .inputs = {{"input"}},
                 .params = {{"dimension", ParamKind::dim, {}},
                            {"size", ParamKind::integer, {}},
                            {"step", ParamKind::integer, {}}},
                 .shape = unfold_shape,
                 .vjp = unfold_vjp,
                 .complex = true,
                 .family = OpFamily::view,
                 .flops = kMovesNothing};

constexpr int kLengthAt = 2, kFoldStepAt = 1;  // parameters of _fold_windows

void fold_shape(Call& call) {
  Shape shape = call.input(0).shape();
  shape.erase(shape.size() - 1);
  shape[int(call.integer(kDimAt))] = call.integer(kLengthAt);
  call.emit(shape, call.input(0).dtype());
}
// y[o, w step + j, i] = sum over the windows w of g[o, w, i, j]; in the order of the windows.
void fold_cpu(const Call& call) {
  const Tensor g = in_order(call.input(0));
  const Tensor& out = call.output();
  const int dim = int(call.integer(kDimAt));
  const int64_t step = call.integer(kFoldStepAt), length = call.integer(kLengthAt);
  const int64_t windows = g.size(dim), size = g.size(-1);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < dim; ++d) outer *= g.size(d);
  for (int d = dim + 1; d < g.ndim() - 1; ++d) inner *= g.size(d);
  visit_any_dtype(out.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>) {
      const int64_t grain = iterations_in(kUnfoldGrain, length * inner);
      parallel_for(outer, grain, [&](int64_t begin, int64_t end) {
        T* to = out.data<T>() + begin * length * inner;
        std::fill(to, out.data<T>() + end * length * inner, T(0));
        const T* from = g.data<T>() + begin * windows * inner * size;
        for (int64_t o = begin; o < end; ++o, to += length * inner)
          for (int64_t w = 0; w < windows; ++w)
            for (int64_t i = 0; i < inner; ++i, from += size)
              for (int64_t j = 0; j < size; ++j) to[(w * step + j) * inner + i] += from[j];
      });
    }
  });
}
void fold_vjp(Backward& b) {
  b.set(0,
        unfold(b.grad(), int(b.integer(kDimAt)), b.shape(0)[b.shape(0).size() - 1], b.integer(kFoldStepAt)));
}
const Op kFoldWindows{.name = "_fold_windows",
                      .doc = "Windows added up at the places that they come from.",
                      .inputs = {{"input"}},
                      .params = {{"dimension", ParamKind::dim, {}},
                                 {"step", ParamKind::integer, {}},
                                 {"length", ParamKind::integer, {}}},
                      .shape = fold_shape,
                      .cpu = fold_cpu,
                      .vjp = fold_vjp,
                      .half_through_f32 = true,
                      .complex = true,
                      .family = OpFamily::view,
                      .flops = kOnePerOperand};
void unfold_vjp(Backward& b) {
  const Shape whole = with_dim(b.shape(0));
  const int dim = normalize_dim("unfold", b.integer(kDimAt), b.shape(0));
  b.set(0, reshape(fold_windows(b.grad(), dim, b.integer(kStepAt), whole[dim]), b.shape(0)));
}

// --- as_strided: a view by numbers; also how the tape describes writes through views ---

// Error unless all elements from `first` on lie in a storage of `room` elements.
void check_inside(const Shape& shape, const Strides& strides, int64_t first, int64_t room) {
  if (shape.size() != strides.size())
    fail("as_strided: size ", shape, " and stride ", strides, " must have equally many numbers");
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] < 0 || strides[i] < 0)
      fail("as_strided: sizes and strides must not be negative (got ", shape, " and ", strides, ")");
  if (first < 0) fail("as_strided: storage_offset must not be negative (got ", first, ")");
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  int64_t last = first;
  for (int i = 0; i < shape.size() && last < room; ++i) {
    if (shape[i] == 1 || strides[i] == 0) continue;
    last = shape[i] - 1 > (room - 1 - last) / strides[i] ? room : last + (shape[i] - 1) * strides[i];
  }
  if (last >= room)
    fail("as_strided: size ", shape, " with stride ", strides, " from element ", first,
         " leaves the storage of ", room, " elements");
}

void as_strided_shape(Call& call) {
  const Tensor& x = call.input(0);
  const int64_t first = x.offset() + call.integer(2);
  check_inside(call.list(0), call.list(1), first, int64_t(x.storage().bytes / item_size(x.dtype())));
  call.emit_view(x, call.list(0), call.list(1), first);
}
// The gradient for a contiguous input. Elements repeated by a stride of 0 get the sum; elements repeated by
// other strides are added one by one.
void as_strided_vjp(Backward& b) {
  Tensor g = b.grad();
  Dims strides = b.list(1);
  Dims repeated;
  for (int i = 0; i < strides.size(); ++i)
    if (strides[i] == 0 && g.size(i) != 1) repeated.push_back(i);
  if (!repeated.empty()) g = sum(g, repeated, true);
  for (const int64_t d : repeated) strides[int(d)] = 1;
  if (overlaps(g.shape(), strides)) {
    const Shape flat{numel(b.shape(0))}, places{g.numel()};
    const Tensor count = arange(0, double(flat[0]), 1, DType::i64, g.device());
    const Tensor index = reshape(as_strided(count, g.shape(), strides, b.integer(2)), places);
    const Tensor total = sum_by_index(flat, 0, index, reshape(g, places));
    return b.set(0, reshape(total, b.shape(0)));
  }
  b.set(0, as_strided_scatter(blank(b.shape(0), g.dtype(), g.device()), g, strides, b.integer(2)));
}
const Op kAsStrided{.name = "_as_strided",
                    .doc = "A view by shape, strides and offset from the tensor's first element.",
                    .inputs = {{"input"}},
                    .params = {{"size", ParamKind::integers, {}},
                               {"stride", ParamKind::integers, {}},
                               {"storage_offset", ParamKind::integer, 0}},
                    .shape = as_strided_shape,
                    .vjp = as_strided_vjp,
                    .complex = true,
                    .in_place = InPlaceForm::becomes_view,
                    .family = OpFamily::view,
                    .flops = kMovesNothing};

// --- channels and pixels ---

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

Tensor unfold(const Tensor& x, int dim, int64_t size, int64_t step) {
  return apply1(kUnfold, {x}, {dim, size, step});
}

Tensor fold_windows(const Tensor& x, int dim, int64_t step, int64_t length) {
  return apply1(kFoldWindows, {x}, {dim, step, length});
}

Tensor as_strided(const Tensor& x, const Shape& shape, const Strides& strides, int64_t offset) {
  return apply1(kAsStrided, {x}, {Value(shape), Value(strides), offset});
}

std::span<const Op* const> unfold_ops() {
  static constexpr const Op* ops[] = {&kUnfold,       &kFoldWindows,    &kAsStrided,
                                      &kPixelShuffle, &kPixelUnshuffle, &kChannelShuffle};
  return ops;
}

}  // namespace lunagrad
