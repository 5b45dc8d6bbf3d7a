// Windows of one dim as a view, and its gradient, which adds overlapping windows.
#include <algorithm>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements added in about 20 µs
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

constexpr int kLengthAt = 2, kFoldStepAt = 1;  // of _fold_windows

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
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, length * inner));
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

}  // namespace

Tensor unfold(const Tensor& x, int dim, int64_t size, int64_t step) {
  return apply1(kUnfold, {x}, {dim, size, step});
}

Tensor fold_windows(const Tensor& x, int dim, int64_t step, int64_t length) {
  return apply1(kFoldWindows, {x}, {dim, step, length});
}

std::span<const Op* const> unfold_ops() {
  static constexpr const Op* ops[] = {&kUnfold, &kFoldWindows};
  return ops;
}

}  // namespace lunagrad
