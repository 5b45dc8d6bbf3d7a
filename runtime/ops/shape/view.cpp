// Views. A view shares its input's memory: its record has a shape function and no kernel.
#include <algorithm>

#include "runtime/ops/blank.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

void view_like(Call& call, const Shape& shape, const Strides& strides, int64_t skip = 0) {
  const Tensor& x = call.input(0);
  call.emit_view(x, shape, strides, x.offset() + skip);
}

// --- reshape ---

// `shape` with its one -1 computed.
Shape resolve_shape(const char* op, const Shape& wanted, int64_t count) {
  Shape shape = wanted;
  int unknown = -1;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && unknown < 0)
      unknown = i;
    else if (shape[i] < 0)
      fail(op, ": shape ", wanted, " has more than one -1 or a negative size");
  }
  if (unknown >= 0) {
    shape[unknown] = 1;
    const int64_t known = numel(shape);
    if (known == 0 || count % known != 0) fail(op, ": ", count, " elements do not fill shape ", wanted);
    shape[unknown] = count / known;
  }
  if (numel(shape) != count)
    fail(op, ": shape ", wanted, " has ", numel(shape), " elements, the tensor ", count);
  return shape;
}

// The strides that show the elements of x in `shape` without a copy, if there are any: adjacent dims that are
// contiguous with each other merge into runs, and each run is split into dims of the new shape.
bool reshaped_strides(const Tensor& x, const Shape& shape, Strides& strides) {
  if (x.numel() == 0 || x.is_contiguous()) {
    strides = contiguous_strides(shape);
    return true;
  }
  struct Run {
    int64_t size, stride;
  };
  Small<Run, kMaxDims> runs;  // innermost first
  for (int i = x.ndim() - 1; i >= 0; --i) {
    if (x.size(i) == 1) continue;
    if (!runs.empty() && x.strides()[i] == runs.back().size * runs.back().stride)
      runs.back().size *= x.size(i);
    else
      runs.push_back({x.size(i), x.strides()[i]});
  }
  strides = Strides(shape.size(), 1);
  int to = shape.size() - 1;
  for (const Run& run : runs) {
    int64_t filled = 1;
    for (; to >= 0 && filled < run.size; --to) {
      strides[to] = run.stride * filled;
      filled *= shape[to];
    }
    if (filled != run.size) return false;
  }
  return true;
}

void view_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Shape shape = resolve_shape("view", call.list(0), x.numel());
  Strides strides;
  if (!reshaped_strides(x, shape, strides))
    fail("view: a tensor of shape ", x.shape(), " and strides ", x.strides(), " cannot be seen as ", shape,
         " without a copy; use reshape");
  view_like(call, shape, strides);
}
void view_vjp(Backward& b) { b.set(0, reshape(b.grad(), b.shape(0))); }
const Op kView{.name = "view",
               .doc = "The elements of input in another shape, without a copy; one size may be -1.",
               .inputs = {{"input"}},
               .params = {{"shape", ParamKind::integers, {}}},
               .shape = view_shape,
               .vjp = view_vjp,
               .complex = true,
               .family = OpFamily::view,
               .flops = kMovesNothing};

Operands reshape_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Shape shape = resolve_shape("reshape", call.list(0), x.numel());
  if (shape == x.shape()) return {x};
  Strides strides;
  return {apply1(kView, {reshaped_strides(x, shape, strides) ? x : clone(x)}, {Value(shape)})};
}
const Op kReshape{
    .name = "reshape",
    .doc = "The elements of input in another shape, a view where strides allow it; one size may be -1.",
    .inputs = {{"input"}},
    .params = {{"shape", ParamKind::integers, {}}},
    .compose = reshape_compose,
    .family = OpFamily::view,
    .flops = kMovesNothing};

Operands flatten_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int first = normalize_dim("flatten", call.integer(0), x.shape());
  const int last = normalize_dim("flatten", call.integer(1), x.shape());
  if (first > last) fail("flatten: start_dim ", first + 1, " comes after end_dim ", last + 1);
  if (x.ndim() == 0) return {reshape(x, {1})};
  Shape shape;
  for (int i = 0; i < first; ++i) shape.push_back(x.size(i));
  int64_t merged = 1;
  for (int i = first; i <= last; ++i) merged *= x.size(i);
  shape.push_back(merged);
  for (int i = last + 1; i < x.ndim(); ++i) shape.push_back(x.size(i));
  return {reshape(x, shape)};
}
// Only the shape of the second tensor is used.
Operands reshape_as_compose(const Call& call) { return {reshape(call.input(0), call.input(1).shape())}; }
const Op kReshapeAs{.name = "reshape_as",
                    .doc = "The elements of input in the shape of other, a view where strides allow it.",
                    .inputs = {{"input"}, {"other"}},
                    .compose = reshape_as_compose,
                    .family = OpFamily::view,
                    .flops = kMovesNothing};
Operands view_as_compose(const Call& call) { return {view(call.input(0), call.input(1).shape())}; }
const Op kViewAs{.name = "view_as",
                 .doc = "The elements of input in the shape of other, without a copy.",
                 .inputs = {{"input"}, {"other"}},
                 .compose = view_as_compose,
                 .family = OpFamily::view,
                 .flops = kMovesNothing};

const Op kFlatten{.name = "flatten",
                  .doc = "Merges the dims from start_dim to end_dim into one.",
                  .inputs = {{"input"}},
                  .params = {{"start_dim", ParamKind::dim, 0}, {"end_dim", ParamKind::dim, -1}},
                  .compose = flatten_compose,
                  .family = OpFamily::view,
                  .flops = kMovesNothing};

// --- dims ---

void squeeze_shape(Call& call) {
  const Tensor& x = call.input(0);
  const bool all = !call.params[0].present();
  const int only = all ? -1 : normalize_dim("squeeze", call.integer(0), x.shape());
  Shape shape;
  Strides strides;
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.size(i) == 1 && (all || i == only)) continue;
    shape.push_back(x.size(i));
    strides.push_back(x.strides()[i]);
  }
  view_like(call, shape, strides);
}
const Op kSqueeze{.name = "squeeze",
                  .doc = "Drops dim if its size is 1; without dim, every dim of size 1.",
                  .inputs = {{"input"}},
                  .params = {{.name = "dim", .kind = ParamKind::dim, .optional = true}},
                  .shape = squeeze_shape,
                  .vjp = view_vjp,
                  .complex = true,
                  .in_place = InPlaceForm::becomes_view,
                  .family = OpFamily::view,
                  .flops = kMovesNothing};

void unsqueeze_shape(Call& call) {
  const Tensor& x = call.input(0);
  const int64_t dim = call.integer(0), n = x.ndim() + 1;
  if (dim < -n || dim >= n)
    fail("unsqueeze: dim ", counted_from_1(dim), " is out of range for shape ", x.shape(), " (1 to ", n,
         " or -1 to -", n, ")");
  const int at = int(dim < 0 ? dim + n : dim);
  Shape shape = x.shape();
  Strides strides = x.strides();
  strides.insert(at, at < x.ndim() ? shape[at] * strides[at] : 1);
  shape.insert(at, 1);
  view_like(call, shape, strides);
}
const Op kUnsqueeze{.name = "unsqueeze",
                    .doc = "Inserts a dim of size 1 at position dim.",
                    .inputs = {{"input"}},
                    .params = {{"dim", ParamKind::dim, {}}},
                    .shape = unsqueeze_shape,
                    .vjp = view_vjp,
                    .complex = true,
                    .in_place = InPlaceForm::becomes_view,
                    .family = OpFamily::view,
                    .flops = kMovesNothing};

void transpose_shape(Call& call) {
  const Tensor& x = call.input(0);
  const int a = normalize_dim("transpose", call.integer(0), x.shape());
  const int b = normalize_dim("transpose", call.integer(1), x.shape());
  Shape shape = x.shape();
  Strides strides = x.strides();
  if (x.ndim() > 0) {
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
  }
  view_like(call, shape, strides);
}
void transpose_vjp(Backward& b) { b.set(0, transpose(b.grad(), int(b.integer(0)), int(b.integer(1)))); }
const Op kTranspose{.name = "transpose",
                    .doc = "Swaps dim0 and dim1.",
                    .inputs = {{"input"}},
                    .params = {{"dim0", ParamKind::dim, {}}, {"dim1", ParamKind::dim, {}}},
                    .shape = transpose_shape,
                    .vjp = transpose_vjp,
                    .complex = true,
                    .in_place = InPlaceForm::becomes_view,
                    .family = OpFamily::view,
                    .flops = kMovesNothing};

Operands t_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() > 2) fail("t: at most 2 dims expected (got shape ", x.shape(), "); use transpose or permute");
  return {x.ndim() < 2 ? x : transpose(x, 0, 1)};
}
const Op kT{.name = "t",
            .doc = "The transpose of a matrix.",
            .inputs = {{"input"}},
            .compose = t_compose,
            .in_place = InPlaceForm::becomes_view,
            .family = OpFamily::view,
            .flops = kMovesNothing};

Dims checked_permutation(const Dims& dims, const Shape& shape) {
  if (dims.size() != shape.size()) fail("permute: ", dims.size(), " dims given for shape ", shape);
  dim_mask("permute", dims, shape);
  Dims order = dims;
  for (int i = 0; i < order.size(); ++i) order[i] = normalize_dim("permute", order[i], shape);
  return order;
}
void permute_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Dims order = checked_permutation(call.list(0), x.shape());
  Shape shape = x.shape();
  Strides strides = x.strides();
  for (int i = 0; i < order.size(); ++i) {
    shape[i] = x.shape()[int(order[i])];
    strides[i] = x.strides()[int(order[i])];
  }
  view_like(call, shape, strides);
}
void permute_vjp(Backward& b) {
  const Dims order = checked_permutation(b.list(0), b.shape(0));
  Dims inverse = order;
  for (int i = 0; i < order.size(); ++i) inverse[int(order[i])] = i;
  b.set(0, permute(b.grad(), inverse));
}
const Op kPermute{.name = "permute",
                  .doc = "Reorders the dims of input.",
                  .inputs = {{"input"}},
                  .params = {{"dims", ParamKind::dims, {}}},
                  .shape = permute_shape,
                  .vjp = permute_vjp,
                  .complex = true,
                  .family = OpFamily::view,
                  .flops = kMovesNothing};

Operands movedim_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Dims &source = call.list(0), &destination = call.list(1);
  if (source.size() != destination.size())
    fail("movedim: ", source.size(), " dims cannot be moved to ", destination.size(), " places");
  if (source.empty() || x.ndim() == 0) return {x};
  uint32_t moved = dim_mask("movedim", source, x.shape()),
           taken = dim_mask("movedim", destination, x.shape());
  Dims order(x.ndim(), 0);
  for (int i = 0; i < source.size(); ++i)
    order[normalize_dim("movedim", destination[i], x.shape())] =
        normalize_dim("movedim", source[i], x.shape());
  int from = 0;
  for (int to = 0; to < x.ndim(); ++to) {
    if (taken >> to & 1) continue;
    while (moved >> from & 1) ++from;
    order[to] = from++;
  }
  return {permute(x, order)};
}
const Op kMovedim{
    .name = "movedim",
    .doc = "Moves the source dims to the positions in destination; the other dims keep their order.",
    .inputs = {{"input"}},
    .params = {{"source", ParamKind::dims, {}}, {"destination", ParamKind::dims, {}}},
    .compose = movedim_compose,
    .family = OpFamily::view,
    .flops = kMovesNothing};

Shape expanded_shape(const Tensor& x, const Shape& wanted) {
  Shape shape = wanted;
  const int shift = shape.size() - x.ndim();
  for (int i = 0; i < shape.size(); ++i)
    if (shape[i] == -1 && i >= shift) shape[i] = x.size(i - shift);
  for (const int64_t size : shape)
    if (size < 0)
      fail("expand: shape ", wanted, " has a -1 where the tensor of shape ", x.shape(), " has no dim");
  if (!broadcasts_to(x.shape(), shape)) fail("expand: shape ", x.shape(), " cannot be expanded to ", wanted);
  return shape;
}
void expand_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Shape shape = expanded_shape(x, call.list(0));
  view_like(call, shape, broadcast_strides(x.shape(), x.strides(), shape));
}
// The tape sums over the repeated elements.
void expand_vjp(Backward& b) { b.set(0, b.grad()); }
const Op kExpand{.name = "expand",
                 .doc = "Repeats dims of size 1 up to size, without a copy; -1 keeps a size.",
                 .inputs = {{"input"}},
                 .params = {{"size", ParamKind::integers, {}}},
                 .shape = expand_shape,
                 .vjp = expand_vjp,
                 .complex = true,
                 .family = OpFamily::view,
                 .flops = kMovesNothing};

Operands broadcast_to_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (!broadcasts_to(x.shape(), call.list(0)))
    fail("broadcast_to: shape ", x.shape(), " cannot be broadcast to ", call.list(0));
  return {expand(x, call.list(0))};
}
const Op kBroadcastTo{.name = "broadcast_to",
                      .doc = "Repeats dims of size 1, and adds leading dims, up to size, without a copy.",
                      .inputs = {{"input"}},
                      .params = {{"size", ParamKind::integers, {}}},
                      .compose = broadcast_to_compose,
                      .family = OpFamily::view,
                      .flops = kMovesNothing};
Operands expand_as_compose(const Call& call) { return {expand(call.input(0), call.input(1).shape())}; }
const Op kExpandAs{.name = "expand_as",
                   .doc = "Repeats dims of size 1 up to the shape of other, without a copy.",
                   .inputs = {{"input"}, {"other"}},
                   .compose = expand_as_compose,
                   .family = OpFamily::view,
                   .flops = kMovesNothing};

// --- parts ---

// For error texts: the sum, or the largest integer if the sum overflows.
int64_t capped_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// The gradient of a part: zeros, with g at the part.
Tensor embed(const Tensor& g, const Shape& whole, const Strides& strides, int64_t offset) {
  return as_strided_scatter(blank(whole, g.dtype(), g.device()), g, strides, offset);
}

// `length` positions x[start], x[start + step], … along a dim. Scripts give the first and the last position,
// both included; the binding converts them.
void slice_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("slice: a scalar tensor has no dims");
  const int dim = normalize_dim("slice", call.integer(0), x.shape());
  Shape shape = x.shape();
  Strides strides = x.strides();
  const int64_t start = call.integer(1), length = call.integer(2), step = call.integer(3), size = shape[dim];
  if (length < 0 || step < 1 ||
      (length > 0 && (start < 0 || start >= size || length - 1 > (size - 1 - start) / step)))
    fail("slice: ", length, " positions from ", capped_sum(start, 1), " on, ", step,
         " apart, are not in dim ", dim + 1, " of shape ", x.shape());
  shape[dim] = length;
  const int64_t skip = length > 0 ? start * strides[dim] : 0;
  if (length > 1) strides[dim] *= step;
  view_like(call, shape, strides, skip);
}
void slice_vjp(Backward& b) {
  const Shape& whole = b.shape(0);
  const int dim = normalize_dim("slice", b.integer(0), whole);
  Strides strides = contiguous_strides(whole);
  const int64_t offset = b.output_shape()[dim] > 0 ? b.integer(1) * strides[dim] : 0;
  if (b.output_shape()[dim] > 1) strides[dim] *= b.integer(3);
  b.set(0, embed(b.grad(), whole, strides, offset));
}
const Op kSlice{.name = "slice",
                .doc = "length positions of dim from start on, step apart.",
                .inputs = {{"input"}},
                .params = {{"dim", ParamKind::dim, {}},
                           {"start", ParamKind::position, 0},
                           {"length", ParamKind::integer, {}},
                           {"step", ParamKind::integer, 1}},
                .shape = slice_shape,
                .vjp = slice_vjp,
                .complex = true,
                .family = OpFamily::view,
                .flops = kMovesNothing};

Operands narrow_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("narrow: a scalar tensor has no dims");
  const int dim = normalize_dim("narrow", call.integer(0), x.shape());
  const int64_t size = x.size(dim), length = call.integer(2);
  const int64_t start = call.integer(1) < 0 ? call.integer(1) + size : call.integer(1);
  if (length < 0 || start < 0 || length > size || start > size - length)
    fail("narrow: positions ", capped_sum(start, 1), " to ", capped_sum(start, length), " of dim ", dim + 1,
         " are out of range for shape ", x.shape());
  return {apply1(kSlice, {x}, {dim, start, length, 1})};
}
const Op kNarrow{.name = "narrow",
                 .doc = "length positions of dim from start on.",
                 .inputs = {{"input"}},
                 .params = {{"dim", ParamKind::dim, {}},
                            {"start", ParamKind::position, {}},
                            {"length", ParamKind::integer, {}}},
                 .compose = narrow_compose,
                 .family = OpFamily::view,
                 .flops = kMovesNothing};

void select_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("select: a scalar tensor has no dims");
  const int dim = normalize_dim("select", call.integer(0), x.shape());
  const int64_t size = x.size(dim), given = call.integer(1);
  const int64_t index = given < 0 ? given + size : given;
  if (index < 0 || index >= size)
    fail("select: position ", given < 0 ? given : capped_sum(given, 1), " is out of range for dim ", dim + 1,
         " of shape ", x.shape());
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(dim);
  strides.erase(dim);
  view_like(call, shape, strides, index * x.strides()[dim]);
}
void select_vjp(Backward& b) {
  const Shape& whole = b.shape(0);
  const int dim = normalize_dim("select", b.integer(0), whole);
  const int64_t index = b.integer(1) < 0 ? b.integer(1) + whole[dim] : b.integer(1);
  Strides strides = contiguous_strides(whole);
  const int64_t offset = index * strides[dim];
  strides.erase(dim);
  b.set(0, embed(b.grad(), whole, strides, offset));
}
const Op kSelect{.name = "select",
                 .doc = "Position index of dim; the dim is dropped.",
                 .inputs = {{"input"}},
                 .params = {{"dim", ParamKind::dim, {}}, {"index", ParamKind::position, {}}},
                 .shape = select_shape,
                 .vjp = select_vjp,
                 .complex = true,
                 .family = OpFamily::view,
                 .flops = kMovesNothing};

// The diagonal of dims dim1 and dim2 that begins `offset` columns to the right of the first element.
struct Diagonal {
  int dim1, dim2;
  int64_t length, skip = 0;
  Diagonal(const char* op, const Values& params, const Shape& shape, const Strides& strides)
      : dim1(normalize_dim(op, params[1].i, shape)), dim2(normalize_dim(op, params[2].i, shape)) {
    if (shape.size() < 2) fail(op, ": at least 2 dims expected (got shape ", shape, ")");
    if (dim1 == dim2) fail(op, ": dim1 and dim2 are the same dim ", dim1 + 1);
    const int64_t offset = params[0].i, rows = shape[dim1], columns = shape[dim2];
    length = std::max<int64_t>(
        0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
    if (length > 0) skip = offset >= 0 ? offset * strides[dim2] : -offset * strides[dim1];
  }
  // Sizes or strides without the entries of dim1 and dim2, and with `own` at the end.
  Dims without(const Dims& values, int64_t own) const {
    Dims rest;
    for (int i = 0; i < values.size(); ++i)
      if (i != dim1 && i != dim2) rest.push_back(values[i]);
    rest.push_back(own);
    return rest;
  }
  Strides strides_in(const Strides& strides) const { return without(strides, strides[dim1] + strides[dim2]); }
};
void diagonal_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Diagonal diagonal("diagonal", call.params, x.shape(), x.strides());
  view_like(call, diagonal.without(x.shape(), diagonal.length), diagonal.strides_in(x.strides()),
            diagonal.skip);
}
void diagonal_vjp(Backward& b) {
  const Strides strides = contiguous_strides(b.shape(0));
  const Diagonal diagonal("diagonal", b.node().attributes->params, b.shape(0), strides);
  b.set(0, embed(b.grad(), b.shape(0), diagonal.strides_in(strides), diagonal.skip));
}
const Op kDiagonal{
    .name = "diagonal",
    .doc =
        "The diagonal of dim1 and dim2 as a new last dim; offset counts to the right of the main diagonal.",
    .inputs = {{"input"}},
    .params = {{"offset", ParamKind::integer, 0}, {"dim1", ParamKind::dim, 0}, {"dim2", ParamKind::dim, 1}},
    .shape = diagonal_shape,
    .vjp = diagonal_vjp,
    .complex = true,
    .family = OpFamily::view,
    .flops = kMovesNothing};

}  // namespace

Tensor view(const Tensor& x, const Shape& shape) { return apply1(kView, {x}, {Value(shape)}); }
Tensor reshape(const Tensor& x, const Shape& shape) { return apply1(kReshape, {x}, {Value(shape)}); }
Tensor flatten(const Tensor& x, int first, int last) { return apply1(kFlatten, {x}, {first, last}); }
Tensor squeeze(const Tensor& x) { return apply1(kSqueeze, {x}, {Value()}); }
Tensor squeeze(const Tensor& x, int dim) { return apply1(kSqueeze, {x}, {dim}); }
Tensor unsqueeze(const Tensor& x, int dim) { return apply1(kUnsqueeze, {x}, {dim}); }
Tensor transpose(const Tensor& x, int dim0, int dim1) { return apply1(kTranspose, {x}, {dim0, dim1}); }
Tensor t(const Tensor& x) { return apply1(kT, {x}); }
Tensor permute(const Tensor& x, const Dims& dims) { return apply1(kPermute, {x}, {Value(dims)}); }
Tensor expand(const Tensor& x, const Shape& shape) { return apply1(kExpand, {x}, {Value(shape)}); }
Tensor narrow(const Tensor& x, int dim, int64_t start, int64_t length) {
  return apply1(kNarrow, {x}, {dim, start, length});
}
Tensor select(const Tensor& x, int dim, int64_t index) { return apply1(kSelect, {x}, {dim, index}); }

Tensor slice(const Tensor& x, int dim, int64_t first, int64_t last, int64_t step) {
  if (x.ndim() == 0) fail("slice: a scalar tensor has no dims");
  if (step < 1) fail("slice: a step of at least 1 expected (got ", step, ")");
  const int at = normalize_dim("slice", dim, x.shape());
  if (first < 0 || last > x.size(at))
    fail("slice: positions ", first + 1, " to ", last, " of dim ", at + 1, " are out of range for shape ",
         x.shape());
  const int64_t length = last > first ? (last - first - 1) / step + 1 : 0;
  return apply1(kSlice, {x}, {at, first, length, length > 1 ? step : 1});
}

Tensor movedim(const Tensor& x, const Dims& source, const Dims& destination) {
  return apply1(kMovedim, {x}, {Value(source), Value(destination)});
}
Tensor diagonal(const Tensor& x, int64_t offset, int dim1, int dim2) {
  return apply1(kDiagonal, {x}, {offset, dim1, dim2});
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  const int shift = x.ndim() - shape.size();
  Dims dims;
  for (int i = 0; i < x.ndim(); ++i)
    if (i < shift || (shape[i - shift] == 1 && x.size(i) != 1)) dims.push_back(i);
  const Tensor summed = dims.empty() ? x : sum(x, dims, true);
  return reshape(summed, shape);
}

std::span<const Op* const> view_ops() {
  static constexpr const Op* ops[] = {&kView,    &kReshape,     &kReshapeAs, &kViewAs, &kFlatten,
                                      &kSqueeze, &kUnsqueeze,   &kTranspose, &kT,      &kPermute,
                                      &kMovedim, &kBroadcastTo, &kExpandAs,  &kExpand, &kSlice,
                                      &kNarrow,  &kSelect,      &kDiagonal};
  return ops;
}

}  // namespace lunagrad
