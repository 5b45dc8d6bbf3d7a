// Joins several tensors into one, and splits one into views.
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

void cat_shape(Call& call) {
  if (call.in.empty()) fail("cat: a non-empty list of tensors expected");
  const Shape& first = call.input(0).shape();
  if (first.empty()) fail("cat: scalar tensors have no dim to join along; use stack");
  const int dim = normalize_dim("cat", call.integer(0), first);
  Shape shape = first;
  DType dtype = call.input(0).dtype();
  for (size_t i = 1; i < call.in.size(); ++i) {
    const Shape& next = call.in[i].shape();
    bool fits = next.size() == first.size();
    for (int d = 0; fits && d < first.size(); ++d) fits = d == dim || next[d] == first[d];
    if (!fits)
      fail("cat: shapes ", first, " and ", next, " (tensor ", i + 1, ") differ in more than dim ", dim + 1);
    shape[dim] += next[dim];
    dtype = promote(dtype, call.in[i].dtype());
  }
  call.emit(shape, dtype);
}
void cat_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int dim = normalize_dim("cat", call.integer(0), out.shape());
  int64_t at = 0;
  for (const Tensor& x : call.in) {
    char* to = static_cast<char*>(out.raw()) + size_t(at * out.strides()[dim]) * item_size(out.dtype());
    if (x.numel() > 0)
      copy_strided(to, out.dtype(), out.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
    at += x.size(dim);
  }
}
void cat_vjp(Backward& b) {
  const Tensor g = b.grad();
  const int dim = normalize_dim("cat", b.integer(0), g.shape());
  int64_t at = 0;
  for (int i = 0; i < b.inputs(); ++i) {
    const int64_t length = b.shape(i)[dim];
    if (b.needs(i)) b.set(i, narrow(g, dim, at, length));
    at += length;
  }
}
const Op kCat{.name = "cat",
              .doc = "Joins tensors along an existing dim.",
              .inputs = {{.name = "tensors", .list = true}},
              .params = {{"dim", ParamKind::dim, 0}},
              .shape = cat_shape,
              .cpu = cat_cpu,
              .vjp = cat_vjp,
              .complex = true,
              .family = OpFamily::view,
              .flops = kMovesData};

Operands stack_compose(const Call& call) {
  if (call.in.empty()) fail("stack: a non-empty list of tensors expected");
  TensorList rows;
  for (const Tensor& x : call.in) {
    if (!(x.shape() == call.input(0).shape()))
      fail("stack: shapes ", call.input(0).shape(), " and ", x.shape(), " differ");
    rows.push_back(unsqueeze(x, int(call.integer(0))));
  }
  return {cat(rows, int(call.integer(0)))};
}
const Op kStack{.name = "stack",
                .doc = "Joins tensors of one shape along a new dim.",
                .inputs = {{.name = "tensors", .list = true}},
                .params = {{"dim", ParamKind::dim, 0}},
                .compose = stack_compose,
                .family = OpFamily::view};

// Joins along dim 1 (from 0), vectors along their only dim; scalars count as vectors.
Operands hstack_compose(const Call& call) {
  if (call.in.empty()) fail("hstack: a non-empty list of tensors expected");
  TensorList parts;
  for (const Tensor& x : call.in) parts.push_back(x.ndim() == 0 ? reshape(x, {1}) : x);
  return {cat(parts, parts[0].ndim() == 1 ? 0 : 1)};
}
const Op kHstack{.name = "hstack",
                 .doc = "Joins tensors side by side: along dim 2, vectors along dim 1.",
                 .inputs = {{.name = "tensors", .list = true}},
                 .compose = hstack_compose,
                 .family = OpFamily::view};

// Joins along dim 0; vectors count as rows.
Operands vstack_compose(const Call& call) {
  if (call.in.empty()) fail("vstack: a non-empty list of tensors expected");
  TensorList parts;
  for (const Tensor& x : call.in) parts.push_back(x.ndim() < 2 ? reshape(x, {1, x.numel()}) : x);
  return {cat(parts, 0)};
}
const Op kVstack{.name = "vstack",
                 .doc = "Joins tensors one below the other: along dim 1, vectors as rows.",
                 .inputs = {{.name = "tensors", .list = true}},
                 .compose = vstack_compose,
                 .family = OpFamily::view};

// Views of the consecutive pieces of a tensor along a dim. The gradient joins the gradients of the pieces in
// one copy.
void split_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("split: a scalar tensor has no dims");
  const int dim = normalize_dim("split", call.integer(0), x.shape());
  Shape shape = x.shape();
  int64_t at = 0, left = shape[dim];
  bool fits = !call.list(1).empty();
  for (const int64_t length : call.list(1)) {
    fits = fits && length >= 0 && length <= left;
    if (fits) left -= length;
  }
  if (!fits || left != 0)
    fail("split: lengths ", call.list(1), " do not add up to dim ", dim + 1, " of shape ", x.shape());
  for (const int64_t length : call.list(1)) {
    shape[dim] = length;
    call.emit_view(x, shape, x.strides(), length > 0 ? x.offset() + at * x.strides()[dim] : x.offset());
    at += length;
  }
}
void split_vjp(Backward& b) {
  TensorList pieces;
  for (int i = 0; i < b.list(1).size(); ++i) pieces.push_back(b.grad(i));
  b.set(0, cat(pieces, normalize_dim("split", b.integer(0), b.shape(0))));
}
const Op kSplit{.name = "_split",
                .doc = "The pieces of a dim, which have the given lengths, as views.",
                .inputs = {{"input"}},
                .params = {{"dim", ParamKind::dim, {}}, {"lengths", ParamKind::integers, {}}},
                .shape = split_shape,
                .vjp = split_vjp,
                .complex = true,
                .family = OpFamily::view,
                .flops = kMovesData};

}  // namespace

Tensor hstack(const TensorList& tensors) { return apply1(kHstack, tensors); }
Tensor vstack(const TensorList& tensors) { return apply1(kVstack, tensors); }
Tensor cat(const TensorList& tensors, int dim) { return apply1(kCat, tensors, {dim}); }
Tensor stack(const TensorList& tensors, int dim) { return apply1(kStack, tensors, {dim}); }

std::span<const Op* const> join_ops() {
  static constexpr const Op* ops[] = {&kCat, &kStack, &kHstack, &kVstack, &kSplit};
  return ops;
}

}  // namespace lunagrad
