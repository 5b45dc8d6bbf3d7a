// Compositions that rearrange dims or join tensors: rot90, fliplr, flipud, diag_embed, diagflat,
// column_stack, dstack, block_diag, unflatten, ravel, cartesian_prod, combinations, atleast_1d to 3d, renorm.
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

Dims all_dims_but(const Tensor& x, int dim) {
  Dims others;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != dim) others.push_back(d);
  return others;
}

void need_dims(const char* op, const Tensor& x, int least) {
  if (x.ndim() < least)
    fail(op, ": at least ", least, least == 1 ? " dim" : " dims", " expected (got shape ", x.shape(), ")");
}

// --- turning and flipping ---

Operands rot90_compose(const Call& call) {
  const Tensor& x = call.input(0);
  need_dims("rot90", x, 2);
  const Dims& dims = call.list(1);
  if (dims.size() != 2) fail("rot90: two dims are needed (got ", dims.size(), ")");
  const int a = normalize_dim("rot90", dims[0], x.shape()), b = normalize_dim("rot90", dims[1], x.shape());
  if (a == b) fail("rot90: the two dims must differ (got ", a + 1, " twice)");
  switch (call.integer(0) & 3) {
    case 1:
      return {transpose(flip(x, {b}), a, b)};
    case 2:
      return {flip(x, {a, b})};
    case 3:
      return {transpose(flip(x, {a}), a, b)};
    default:
      return {clone(x)};
  }
}
const Op kRot90{
    .name = "rot90",
    .doc = "input turned by k quarter turns from the first to the second of dims.",
    .inputs = {{"input"}},
    .params = {{"k", ParamKind::integer, 1}, {"dims", ParamKind::dims, Value(Dims{0, 1})}},
    .compose = rot90_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{2, 3}}}},
                 {.inputs = {{{2, 3}}}, .params = {Value(2)}},
                 {.inputs = {{{2, 3, 4}}}, .params = {Value(-1), Value(Dims{1, 2})}},
                 {.inputs = {{{2, 3}}}, .params = {Value(4)}},
                 {.inputs = {{{3}}}, .error = "at least 2 dims"},
                 {.inputs = {{{2, 3}}}, .params = {Value(1), Value(Dims{0, 0})}, .error = "must differ"}}};

Operands fliplr_compose(const Call& call) {
  need_dims("fliplr", call.input(0), 2);
  return {flip(call.input(0), {1})};
}
const Op kFliplr{.name = "fliplr",
                 .doc = "The columns, dim 2, in reverse order.",
                 .inputs = {{"input"}},
                 .compose = fliplr_compose,
                 .family = OpFamily::view,
                 .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{3}}}, .error = "at least 2 dims"}}};
Operands flipud_compose(const Call& call) {
  need_dims("flipud", call.input(0), 1);
  return {flip(call.input(0), {0})};
}
const Op kFlipud{.name = "flipud",
                 .doc = "The rows, dim 1, in reverse order.",
                 .inputs = {{"input"}},
                 .compose = flipud_compose,
                 .family = OpFamily::view,
                 .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{}}}, .error = "at least 1 dim"}}};

// --- diagonals ---

// The matrix is written through its diagonal, a view.
Operands diag_embed_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t offset = call.integer(0);
  need_dims("diag_embed", x, 1);
  Shape whole = x.shape();  // only for its number of dims
  whole.push_back(1);
  const int a = normalize_dim("diag_embed", call.integer(1), whole);
  const int b = normalize_dim("diag_embed", call.integer(2), whole);
  if (a == b) fail("diag_embed: the two dims must differ (got ", a + 1, " twice)");
  constexpr int64_t kFarthest = int64_t(1) << 40;
  if (offset < -kFarthest || offset > kFarthest) fail("diag_embed: an offset of ", offset, " is too large");
  const int64_t n = x.size(-1), side = n + std::abs(offset);
  // Each element of x begins a row of zeros with side + 1 columns. Read as a matrix of `side` columns, x lies
  // on its diagonal.
  Tensor rows = unsqueeze(x, x.ndim());  // [..., n, 1]
  rows = pad(rows, {0, side});           // [..., n, side + 1]
  const int last = rows.ndim() - 1;
  Shape flat = x.shape();
  flat[x.ndim() - 1] = n * (side + 1);
  Tensor line = reshape(rows, flat);  // the diagonal of a matrix of side columns
  const int64_t before = offset < 0 ? std::abs(offset) * side : offset;
  line = pad(line, {before, side * side - before - n * (side + 1)});
  Shape square = x.shape();
  square[x.ndim() - 1] = side;
  square.push_back(side);
  const Tensor matrix = reshape(line, square);
  // The two new dims move from the end to their places: rows to dim1, columns to dim2.
  return {movedim(matrix, {last - 1, last}, {a, b})};
}
const Op kDiagEmbed{
    .name = "diag_embed",
    .doc = "Matrices in dims dim1 and dim2 with the last dim of input on a diagonal, else 0.",
    .inputs = {{"input"}},
    .params = {{"offset", ParamKind::integer, 0}, {"dim1", ParamKind::dim, -2}, {"dim2", ParamKind::dim, -1}},
    .compose = diag_embed_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{2, 3}}}},
                 {.inputs = {{{3}}}, .params = {Value(1)}},
                 {.inputs = {{{2, 3}}}, .params = {Value(-2), Value(0), Value(2)}},
                 {.inputs = {{{2, 3}}}, .params = {Value(1), Value(2), Value(0)}},
                 {.inputs = {{{}}}, .error = "at least 1 dim"},
                 {.inputs = {{{2}}}, .params = {Value(0), Value(1), Value(1)}, .error = "must differ"}}};

Operands diagflat_compose(const Call& call) {
  const Tensor& x = call.input(0);
  return {diag(reshape(x, {x.numel()}), call.integer(0))};
}
const Op kDiagflat{.name = "diagflat",
                   .doc = "A matrix with the elements of input on a diagonal.",
                   .inputs = {{"input"}},
                   .params = {{"offset", ParamKind::integer, 0}},
                   .compose = diagflat_compose,
                   .family = OpFamily::view,
                   .examples = {{.inputs = {{{2, 2}}}}, {.inputs = {{{3}}}, .params = {Value(-1)}}}};

// --- joining ---

Operands column_stack_compose(const Call& call) {
  TensorList columns;
  for (const Tensor& x : call.in) columns.push_back(x.ndim() < 2 ? reshape(x, {x.numel(), 1}) : x);
  return {cat(columns, 1)};
}
const InputSpec kTensors{"tensors", false, true};
const Op kColumnStack{.name = "column_stack",
                      .doc = "Joins along dim 2; vectors become columns.",
                      .inputs = {kTensors},
                      .compose = column_stack_compose,
                      .family = OpFamily::view,
                      .examples = {{.inputs = {{{3}}, {{3, 2}}}}, {.inputs = {{{3}}, {{3}}}}}};

Tensor at_least(Tensor x, int dims) {
  if (x.ndim() == 0 && dims > 0) x = reshape(x, {1});
  if (x.ndim() == 1 && dims > 1) x = unsqueeze(x, 0);
  if (x.ndim() == 2 && dims > 2) x = unsqueeze(x, 2);
  return x;
}
Operands dstack_compose(const Call& call) {
  TensorList deep;
  for (const Tensor& x : call.in) deep.push_back(at_least(x, 3));
  return {cat(deep, 2)};
}
const Op kDstack{.name = "dstack",
                 .doc = "Joins along dim 3, which is added where it is missing.",
                 .inputs = {kTensors},
                 .compose = dstack_compose,
                 .family = OpFamily::view,
                 .examples = {{.inputs = {{{2, 3}}, {{2, 3}}}}, {.inputs = {{{3}}, {{3}}}}}};

template <int dims>
Operands atleast_compose(const Call& call) {
  return {at_least(call.input(0), dims)};
}
Op atleast_op(const char* name, const char* doc, Operands (*compose)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .compose = compose,
          .family = OpFamily::view,
          .flops = kMovesNothing,
          .examples = {{.inputs = {{{}}}}, {.inputs = {{{3}}}}, {.inputs = {{{2, 3}}}}}};
}
const Op kAtleast1d = atleast_op("atleast_1d", "input with at least one dim; several tensors give several.",
                                 atleast_compose<1>);
const Op kAtleast2d = atleast_op("atleast_2d", "input with at least two dims; several tensors give several.",
                                 atleast_compose<2>);
const Op kAtleast3d = atleast_op(
    "atleast_3d", "input with at least three dims; several tensors give several.", atleast_compose<3>);

Operands block_diag_compose(const Call& call) {
  int64_t columns = 0, before = 0;
  TensorList blocks;
  DType type = DType::boolean;
  for (const Tensor& x : call.in) {
    if (x.ndim() > 2) fail("block_diag: tensors of at most 2 dims expected (got shape ", x.shape(), ")");
    blocks.push_back(at_least(x, 2));
    columns += blocks.back().size(1);
    type = promote(type, x.dtype());
  }
  if (blocks.empty()) fail("block_diag: at least one tensor is needed");
  TensorList rows;
  for (const Tensor& x : blocks) {
    rows.push_back(pad(to(x, type), {before, columns - before - x.size(1)}));
    before += x.size(1);
  }
  return {cat(rows, 0)};
}
const Op kBlockDiag{.name = "block_diag",
                    .doc = "A matrix with the tensors one after the other on its diagonal, else 0.",
                    .inputs = {kTensors},
                    .compose = block_diag_compose,
                    .family = OpFamily::view,
                    .examples = {{.inputs = {{{2, 3}}, {{1, 2}}, {{3}}}},
                                 {.inputs = {{{2, 3, 1}}}, .error = "at most 2 dims"}}};

Operands cartesian_prod_compose(const Call& call) {
  TensorList lines;
  for (const Tensor& x : call.in) {
    if (x.ndim() != 1) fail("cartesian_prod: tensors of one dim expected (got shape ", x.shape(), ")");
    lines.push_back(x);
  }
  if (lines.empty()) fail("cartesian_prod: at least one tensor is needed");
  if (lines.size() == 1) return {lines[0]};
  TensorList columns;
  for (const Tensor& grid : meshgrid(lines)) columns.push_back(flatten(grid));
  return {stack(columns, 1)};
}
const Op kCartesianProd{.name = "cartesian_prod",
                        .doc = "All combinations of one element of each of the vectors, one row for each.",
                        .inputs = {kTensors},
                        .compose = cartesian_prod_compose,
                        .family = OpFamily::view,
                        .examples = {{.inputs = {{{2}}, {{3}}}},
                                     {.inputs = {{{2}}, {{3}}, {{2}}}},
                                     {.inputs = {{{2, 3}}}, .error = "one dim"}}};

// The rows of the grid of positions in which the positions ascend (strictly, if without replacement).
Operands combinations_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t r = call.integer(0);
  const bool again = call.flag(1);
  if (x.ndim() != 1) fail("combinations: one dim is needed (got shape ", x.shape(), ")");
  if (r < 0 || r > kMaxDims) fail("combinations: r must lie in 0 to ", kMaxDims, " (got ", r, ")");
  if (r == 0) return {zeros({0}, x.dtype(), x.device())};
  Tensor places;
  {
    const NoGrad off;
    const Tensor line = arange(0, double(x.size(0)), 1, DType::i64, x.device());
    TensorList grids = r == 1 ? TensorList{line} : meshgrid(TensorList(size_t(r), line));
    Tensor held;
    for (size_t i = 0; i + 1 < grids.size(); ++i) {
      const Tensor ascends = again ? le(grids[i], grids[i + 1]) : lt(grids[i], grids[i + 1]);
      held = held.defined() ? logical_and(held, ascends) : ascends;
    }
    for (Tensor& grid : grids) grid = held.defined() ? masked_select(grid, held) : grid;
    places = stack(grids, 1);
  }
  const Tensor taken = index_select(x, 0, reshape(places, {places.numel()}));
  return {reshape(taken, places.shape())};
}
const Op kCombinations{
    .name = "combinations",
    .doc =
        "All choices of r elements of a vector in their order, one row for each; "
        "with_replacement an element may be chosen again.",
    .inputs = {{"input"}},
    .params = {{"r", ParamKind::integer, 2}, {"with_replacement", ParamKind::boolean, false}},
    .compose = combinations_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{4}}}},
                 {.inputs = {{{4}}}, .params = {Value(3)}},
                 {.inputs = {{{3}}}, .params = {Value(2), true}},
                 {.inputs = {{{2, 2}}}, .error = "one dim"}}};

// --- shapes ---

Operands unflatten_compose(const Call& call) {
  const Tensor& x = call.input(0);
  need_dims("unflatten", x, 1);
  const int dim = normalize_dim("unflatten", call.integer(0), x.shape());
  Dims sizes = call.list(1);
  int64_t known = 1, open = -1;
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0)
      open = i;
    else if (sizes[i] < 0 || __builtin_mul_overflow(known, sizes[i], &known))
      fail("unflatten: sizes ", sizes, " do not fit dim ", dim + 1, " of shape ", x.shape());
  }
  if (open >= 0 && known > 0) sizes[int(open)] = x.size(dim) / known;
  if (sizes.empty() || numel(sizes) != x.size(dim))
    fail("unflatten: sizes ", call.list(1), " do not multiply to ", x.size(dim), ", the size of dim ",
         dim + 1, " of shape ", x.shape());
  Shape shape;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d != dim) {
      shape.push_back(x.size(d));
      continue;
    }
    for (const int64_t size : sizes) shape.push_back(size);
  }
  return {reshape(x, shape)};
}
const Op kUnflatten{
    .name = "unflatten",
    .doc = "input with dim split into dims of the sizes; one of them may be -1.",
    .inputs = {{"input"}},
    .params = {{"dim", ParamKind::dim, {}}, {"sizes", ParamKind::integers, {}}},
    .compose = unflatten_compose,
    .family = OpFamily::view,
    .examples = {
        {.inputs = {{{2, 6}}}, .params = {Value(1), Value(Dims{2, -1})}},
        {.inputs = {{{6, 2}}}, .params = {Value(0), Value(Dims{3, 2})}},
        {.inputs = {{{6}}}, .params = {Value(0), Value(Dims{4, 2})}, .error = "do not multiply to 6"}}};

Operands ravel_compose(const Call& call) {
  return {contiguous(reshape(call.input(0), {call.input(0).numel()}))};
}
const Op kRavel{.name = "ravel",
                .doc = "The elements in one dim; a view where memory allows.",
                .inputs = {{"input"}},
                .compose = ravel_compose,
                .family = OpFamily::view,
                .examples = {{.inputs = {{{2, 3}}}}}};

Operands renorm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const double p = call.real(0), limit = call.real(2);
  const int dim = normalize_dim("renorm", call.integer(1), x.shape());
  if (x.ndim() < 2) fail("renorm: at least 2 dims expected (got shape ", x.shape(), ")");
  if (!is_floating(x.dtype())) fail("renorm: a floating-point tensor is needed (got ", x.dtype(), ")");
  if (!(p > 0)) fail("renorm: p must be positive (got ", p, ")");
  if (!(limit >= 0)) fail("renorm: maxnorm must not be negative (got ", limit, ")");
  const Tensor size = norm(x, p, all_dims_but(x, dim), true);
  const Tensor over = gt(size, Tensor::number(limit));
  const Tensor factor = where(over, limit / (size + 1e-7), Tensor::number(1.0));
  return {x * factor};
}
const Op kRenorm{
    .name = "renorm",
    .doc = "input with each slice of dim whose p-norm exceeds maxnorm scaled to it.",
    .inputs = {{"input"}},
    .params = {{"p", ParamKind::real, {}}, {"dim", ParamKind::dim, {}}, {"maxnorm", ParamKind::real, {}}},
    .compose = renorm_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::normalization,
    .examples = {
        {.inputs = {{{3, 4}}}, .params = {2.0, Value(0), 1.5}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 2}}}, .params = {1.0, Value(1), 2.0}, .types = OpExample::Types::floating},
        {.inputs = {{{3}}}, .params = {2.0, Value(0), 1.0}, .error = "at least 2 dims"}}};

}  // namespace

std::span<const Op* const> arrange_ops() {
  static const Op* const ops[] = {&kRot90,        &kFliplr,      &kFlipud,    &kDiagEmbed,
                                  &kDiagflat,     &kColumnStack, &kDstack,    &kAtleast1d,
                                  &kAtleast2d,    &kAtleast3d,   &kBlockDiag, &kCartesianProd,
                                  &kCombinations, &kUnflatten,   &kRavel,     &kRenorm};
  return ops;
}

}  // namespace lunagrad
