// Copies of elements in another order or repeated: roll, flip, tile, repeat_interleave, diag; and meshgrid,
// which makes views. Elements are copied in runs as long as the strides allow.
#include <algorithm>

#include "runtime/ops/blank.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

// A repeated tensor has memory of its own, even if it is repeated once.
Tensor own_copy(const Tensor& made, const Tensor& x) {
  return made.storage_ref() == x.storage_ref() ? clone(made) : made;
}

// --- roll ---

void roll_dims_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }
// Along each rolled dim the last `shift` positions swap places with the positions before them. The parts of
// all dims are combined: one copy for each combination.
void roll_dims_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  const Dims& shifts = call.list(0);
  const int64_t item = int64_t(item_size(out.dtype()));
  Dims rolled;
  for (int d = 0; d < x.ndim(); ++d)
    if (shifts[d] != 0) rolled.push_back(d);
  for (int part = 0; part < 1 << rolled.size(); ++part) {
    Shape shape = x.shape();
    int64_t from = 0, to = 0;
    for (int i = 0; i < rolled.size(); ++i) {
      const int d = int(rolled[i]);
      const bool last = part >> i & 1;
      shape[d] = last ? shifts[d] : x.size(d) - shifts[d];
      (last ? from : to) +=
          (last ? x.size(d) - shifts[d] : shifts[d]) * (last ? x.strides() : out.strides())[d];
    }
    copy_strided(static_cast<char*>(out.raw()) + to * item, out.dtype(), out.strides(),
                 static_cast<char*>(x.raw()) + from * item, x.dtype(), x.strides(), shape);
  }
}
void roll_dims_vjp(Backward& b) {
  Dims back = b.list(0);
  for (int d = 0; d < back.size(); ++d) back[d] = back[d] == 0 ? 0 : b.shape(0)[d] - back[d];
  b.set(0, apply1(*b.node().op, {b.grad()}, {Value(back)}));
}
const Op kRollDims{.name = "_roll",
                   .doc = "Rolls each dim by a shift from 0 to its size - 1.",
                   .inputs = {{"input"}},
                   .params = {{"shifts", ParamKind::integers, {}}},
                   .shape = roll_dims_shape,
                   .cpu = roll_dims_cpu,
                   .vjp = roll_dims_vjp,
                   .complex = true,
                   .family = OpFamily::view,
                   .flops = kMovesData};

Operands roll_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Dims& shifts = call.list(0);
  if (!call.params[1].present() || call.list(1).empty()) {
    if (shifts.size() != 1) fail("roll: ", shifts.size(), " shifts need a dim each; without dims give one");
    return {reshape(roll(reshape(x, {x.numel()}), shifts, {0}), x.shape())};
  }
  const Dims& dims = call.list(1);
  if (dims.size() != shifts.size())
    fail("roll: ", shifts.size(), " shifts do not fit ", dims.size(), " dims");
  Dims all(x.ndim(), 0);
  for (int i = 0; i < dims.size(); ++i) {
    const int d = normalize_dim("roll", dims[i], x.shape());
    if (x.ndim() == 0 || x.size(d) == 0) continue;
    const int64_t shift = shifts[i] % x.size(d);
    all[d] = (all[d] + (shift < 0 ? shift + x.size(d) : shift)) % x.size(d);
  }
  return {apply1(kRollDims, {x}, {Value(all)})};
}
const Op kRoll{
    .name = "roll",
    .doc = "Shifts the elements of input along dims; elements that leave at the end enter at the start.",
    .inputs = {{"input"}},
    .params = {{"shifts", ParamKind::integers, {}},
               {.name = "dims", .kind = ParamKind::dims, .optional = true}},
    .compose = roll_compose,
    .family = OpFamily::view};

// --- flip ---

void flip_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!call.list(0).empty()) dim_mask("flip", call.list(0), x.shape());
  call.emit(x.shape(), x.dtype());
}
void flip_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  Strides strides = x.strides();
  int64_t first = 0;
  const uint32_t mask = call.list(0).empty() ? 0 : dim_mask("flip", call.list(0), x.shape());
  for (int d = 0; d < x.ndim(); ++d)
    if (mask >> d & 1) {
      first += (x.size(d) - 1) * strides[d];
      strides[d] = -strides[d];
    }
  copy_strided(out.raw(), out.dtype(), out.strides(),
               static_cast<char*>(x.raw()) + first * int64_t(item_size(x.dtype())), x.dtype(), strides,
               x.shape());
}
void flip_vjp(Backward& b) { b.set(0, flip(b.grad(), b.list(0))); }
const Op kFlip{.name = "flip",
               .doc = "Reverses the order of the elements along dims.",
               .inputs = {{"input"}},
               .params = {{"dims", ParamKind::dims, {}}},
               .shape = flip_shape,
               .cpu = flip_cpu,
               .vjp = flip_vjp,
               .complex = true,
               .family = OpFamily::view,
               .flops = kMovesData};

// --- tile, repeat_interleave ---

// x with each dim d repeated counts[d] times; blocks have the size of the dims after d.
Tensor repeat_blocks(const Tensor& x, const Dims& counts) {
  Tensor spread = x;
  Shape expanded, shape;
  for (int d = 0, at = 0; d < x.ndim(); ++d, ++at) {
    shape.push_back(0);
    if (__builtin_mul_overflow(x.size(d), counts[d], &shape[d]))
      fail("tile: dim ", d + 1, " of shape ", x.shape(), " cannot be repeated ", counts[d], " times");
    if (counts[d] != 1) {
      spread = unsqueeze(spread, at++);
      expanded.push_back(counts[d]);
    }
    expanded.push_back(x.size(d));
  }
  return reshape(expand(spread, expanded), shape);
}

Operands tile_compose(const Call& call) {
  Tensor x = call.input(0);
  Dims counts = call.list(0);
  for (const int64_t count : counts)
    if (count < 0) fail("tile: a count must not be negative (got ", counts, ")");
  while (counts.size() < x.ndim()) counts.insert(0, 1);
  while (x.ndim() < counts.size()) x = unsqueeze(x, 0);
  int repeated = 0;
  for (const int64_t count : counts) repeated += count != 1;
  if (x.ndim() + repeated <= kMaxDims) return {own_copy(repeat_blocks(x, counts), call.input(0))};
  for (int d = x.ndim() - 1; d >= 0; --d) {  // in several rounds if there are too many dims
    if (counts[d] == 1) continue;
    const int64_t below = contiguous_strides(x.shape())[d] * x.size(d);
    const int64_t rows = below == 0 ? 0 : x.numel() / below;
    Shape shape = x.shape();
    shape[d] *= counts[d];
    x = reshape(repeat_blocks(reshape(x, {rows, below}), {1, counts[d]}), shape);
  }
  return {own_copy(x, call.input(0))};
}
const Op kTile{.name = "tile",
               .doc =
                   "Repeats input along each dim; if dims has fewer counts than input has dims, they belong "
                   "to the last ones.",
               .inputs = {{"input"}},
               .params = {{"dims", ParamKind::integers, {}}},
               .compose = tile_compose,
               .family = OpFamily::view};

// The position of each element of the result: i, counts[i] times.
Tensor repeated_positions(const Tensor& counts, Device& device) {
  const NoGrad off;
  const std::vector<int64_t> times = to(counts, cpu_device()).to_vector<int64_t>();
  int64_t total = 0;
  for (const int64_t n : times) {
    if (n < 0) fail("repeat_interleave: a count must not be negative (got ", n, ")");
    if (__builtin_add_overflow(total, n, &total)) fail("repeat_interleave: too many elements");
  }
  if (!device.is_cpu()) return apply1(*find_op("_repeated_positions"), {to(counts, device)}, {total, 0});
  const Tensor index = Tensor::empty({total}, DType::i64);
  int64_t* at = index.data<int64_t>();
  for (size_t i = 0; i < times.size(); ++i) at = std::fill_n(at, times[i], int64_t(i));
  return index;
}

Operands repeat_interleave_compose(const Call& call) {
  Tensor x = call.input(0);
  const Tensor& repeats = call.input(1);
  if (is_floating(repeats.dtype()) || repeats.dtype() == DType::boolean)
    fail("repeat_interleave: counts must be integers (got ", repeats.dtype(), ")");
  if (repeats.ndim() > 1)
    fail("repeat_interleave: the counts must have one dim (got shape ", repeats.shape(), ")");
  if (!call.params[0].present() || x.ndim() == 0) x = reshape(x, {x.numel()});
  const int dim =
      call.params[0].present() ? normalize_dim("repeat_interleave", call.integer(0), x.shape()) : 0;
  if (repeats.numel() != 1) {
    if (repeats.numel() != x.size(dim))
      fail("repeat_interleave: ", repeats.numel(), " counts do not fit dim ", dim + 1, " of shape ",
           x.shape());
    return {index_select(x, dim, repeated_positions(repeats, x.device()))};
  }
  const int64_t count = repeats.item_integer();
  if (count < 0) fail("repeat_interleave: a count must not be negative (got ", count, ")");
  Shape shape = x.shape();
  if (__builtin_mul_overflow(shape[dim], count, &shape[dim]))
    fail("repeat_interleave: dim ", dim + 1, " of shape ", x.shape(), " cannot be repeated ", count,
         " times");
  const int64_t behind = contiguous_strides(x.shape())[dim];
  const int64_t rows = x.numel() == 0 ? 0 : x.numel() / behind;
  const Tensor spread = expand(unsqueeze(reshape(x, {rows, behind}), 1), {rows, count, behind});
  return {own_copy(reshape(spread, shape), call.input(0))};
}
const Op kRepeatInterleave{
    .name = "repeat_interleave",
    .doc = "Repeats each position of dim several times in a row; without dim, each element.",
    .inputs = {{"input"}, {"repeats"}},
    .params = {{.name = "dim", .kind = ParamKind::dim, .optional = true}},
    .compose = repeat_interleave_compose,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .number_inputs = 0b10};

// --- diag, meshgrid ---

Operands diag_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t k = call.integer(0);
  if (x.ndim() == 2) return {clone(diagonal(x, k))};
  if (x.ndim() != 1) fail("diag: 1 or 2 dims expected (got shape ", x.shape(), ")");
  constexpr int64_t kLongest = int64_t(1) << 31;  // its square fits i64
  if (k >= kLongest || k <= -kLongest || x.size(0) >= kLongest)
    fail("diag: a matrix with ", x.size(0), " elements on diagonal ", k, " is too large");
  const int64_t n = x.size(0) + std::abs(k);
  return {as_strided_scatter(blank({n, n}, x.dtype(), x.device()), x, {n + 1}, k >= 0 ? k : -k * n)};
}
const Op kDiag{
    .name = "diag",
    .doc = "The matrix with the vector input on its diagonal, or the diagonal of the matrix input.",
    .inputs = {{"input"}},
    .params = {{"diagonal", ParamKind::integer, 0}},
    .compose = diag_compose,
    .family = OpFamily::view};

Operands meshgrid_compose(const Call& call) {
  if (call.in.empty()) fail("meshgrid: a non-empty list of tensors expected");
  Shape shape;
  for (const Tensor& x : call.in) {
    if (x.ndim() > 1) fail("meshgrid: tensors of at most one dim expected (got shape ", x.shape(), ")");
    if (x.dtype() != call.input(0).dtype())
      fail("meshgrid: tensors have types ", call.input(0).dtype(), " and ", x.dtype());
    shape.push_back(x.numel());
  }
  const bool swapped = call.integer(0) == 1 && call.in.size() > 1;
  Operands grids;
  for (size_t i = 0; i < call.in.size(); ++i) {
    Shape own(shape.size(), 1);
    own[int(i)] = shape[int(i)];
    const Tensor grid = expand(view(call.in[i], own), shape);
    grids.push_back(swapped ? transpose(grid, 0, 1) : grid);
  }
  return grids;
}
const Op kMeshgrid{.name = "meshgrid",
                   .doc =
                       "The coordinates of all points of a grid, one tensor for each axis, as views; "
                       "indexing \"xy\" swaps the first two dims.",
                   .inputs = {{.name = "tensors", .list = true}},
                   .params = {{"indexing", ParamKind::choice, 0, {"ij", "xy"}}},
                   .compose = meshgrid_compose,
                   .family = OpFamily::view,
                   .flops = kMovesNothing};

}  // namespace

Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims) {
  return apply1(kRoll, {x}, {Value(shifts), dims.empty() ? Value() : Value(dims)});
}
Tensor flip(const Tensor& x, const Dims& dims) { return apply1(kFlip, {x}, {Value(dims)}); }
Tensor tile(const Tensor& x, const Dims& counts) { return apply1(kTile, {x}, {Value(counts)}); }
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int> dim) {
  return apply1(kRepeatInterleave, {x, repeats}, {dim ? Value(*dim) : Value()});
}
Tensor repeat_interleave(const Tensor& x, int64_t repeats, std::optional<int> dim) {
  return repeat_interleave(x, Tensor::number(repeats), dim);
}
Tensor diag(const Tensor& x, int64_t diagonal) { return apply1(kDiag, {x}, {diagonal}); }
TensorList meshgrid(const TensorList& tensors, bool xy) {
  const Operands grids = apply(kMeshgrid, tensors, {int(xy)});
  return TensorList(grids.begin(), grids.end());
}

std::span<const Op* const> rearrange_ops() {
  static const Op* const ops[] = {&kRoll, &kRollDims, &kFlip, &kTile, &kRepeatInterleave, &kDiag, &kMeshgrid};
  return ops;
}

}  // namespace lunagrad
