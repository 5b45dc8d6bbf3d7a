// Reading and writing at index tensors beyond scatter and index_add: scatter_reduce, index_reduce,
// segment_reduce, masked_scatter, and index and index_put at the positions that several index tensors name
// together. Indices count from 0.
#include <cmath>
#include <cstring>

#include "runtime/batching/batched.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/gather_with.h"
#include "runtime/ops/index/indices.h"
#include "runtime/ops/index/positions.h"
#include "runtime/ops/reductions/large_means.h"

namespace lunagrad {
namespace {

constexpr auto kBoolean = ExampleOperand::Kind::boolean;

Tensor number(int64_t x) { return Tensor::number(x); }
Tensor number(double x) { return Tensor::number(x); }

// --- scatter_reduce ---

enum class ScatterKind : int64_t { product, largest, smallest };

void meet_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  need_index_type("scatter_reduce", index);
  if (source.dtype() != x.dtype())
    fail("scatter_reduce: the source is ", source.dtype(), ", the tensor ", x.dtype());
  check_scattered(call, "scatter_reduce");
  call.emit(x.shape(), x.dtype());
}
void meet_cpu(const Call& call) {
  const Tensor& out = call.output();
  const Tensor x = in_order(call.input(0));
  const Tensor& index = call.input(1);
  const Tensor source = in_order(corner_of(call.input(2), index.shape()));
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const ScatterKind kind = ScatterKind(call.integer(1));
  const Tensor rows = index_of_rows(index, whole, dim);
  const Split into(whole, dim);
  const Indices indices("scatter_reduce", rows.defined() ? rows : index, dim, into.size, false,
                        rows.defined() ? into.inner : 1);
  const int64_t stride = contiguous_strides(whole)[dim];
  std::memcpy(out.raw(), x.raw(), out.nbytes());
  visit_dtype(out.dtype(), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) {
      const T* const from = source.data<T>();
      T* const to = out.data<T>();
      const auto walk = [&](auto&& combine) {
        if (rows.defined()) {
          for_indexed_rows(into, indices, from, into.inner * int64_t(sizeof(T)),
                           [&](int64_t row, int64_t k, int64_t first, int64_t n) {
                             T* const target = to + row * into.inner + first;
                             const T* const part = from + k * into.inner + first;
                             for (int64_t i = 0; i < n; ++i) target[i] = combine(target[i], part[i]);
                           });
          return;
        }
        for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim, [&](int64_t i, int64_t lane) {
          T& target = to[lane + indices[i] * stride];
          target = combine(target, from[i]);
        });
      };
      if (kind == ScatterKind::product)
        walk([](T a, T b) { return T(a * b); });
      else if (kind == ScatterKind::largest)
        walk([](T a, T b) {
          const T larger = b > a ? b : a;  // one instruction; a branch would often be mispredicted
          return b != b ? b : larger;
        });
      else
        walk([](T a, T b) {
          const T smaller = b < a ? b : a;
          return b != b ? b : smaller;
        });
    }
  });
}
// Sums at equal targets, in the shape of the tensor.
Tensor summed(const Tensor& x, int dim, const Tensor& index, const Tensor& source) {
  return scatter_add(x, dim, index, source);
}
void meet_vjp(Backward& b);
const Op kMeet{
    .name = "_scatter_reduce",
    .doc = "input with each element of src multiplied or compared with it where index says.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params = {{"dim", ParamKind::dim, {}}, {"reduce", ParamKind::choice, {}, {"prod", "amax", "amin"}}},
    .shape = meet_shape,
    .cpu = meet_cpu,
    .vjp = meet_vjp,
    .reads = {{.inputs = 7, .outputs = 1}, {}, {.inputs = 7, .outputs = 1}},
    .half_through_f32 = true,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .flops = {for_input<1, 2>, "1 for each element of the source"},
    .order = {"input", "dim", "index", "src", "reduce"}};
// For amax and amin, all elements that equal the result share its gradient. For a product, each factor gets
// the product of the other factors: with one zero among them only the zero gets a gradient, with two no
// factor does.
void meet_vjp(Backward& b) {
  const Tensor g = b.grad(), x = b.input(0), index = b.input(1), y = b.output();
  const Tensor source = b.input(2);
  Shape part_shape = index.shape();
  Tensor part = source;
  if (!(part_shape == source.shape()))
    for (int d = 0; d < part_shape.size(); ++d) part = narrow(part, d, 0, part_shape[d]);
  const int dim = normalize_dim("scatter_reduce", b.integer(0), x.shape());
  const Tensor zero = number(0.0), one = number(1.0);
  Tensor of_x, of_part;
  if (ScatterKind(b.integer(1)) == ScatterKind::product) {
    const Tensor x_zero = eq(x, zero), part_zero = eq(part, zero);
    const Tensor zeros_at = summed(to(x_zero, g.dtype()), dim, index, to(part_zero, g.dtype()));
    const Tensor rest = apply1(kMeet, {where(x_zero, one, x), index, where(part_zero, one, part)},
                               {dim, int64_t(ScatterKind::product)});
    const auto share = [&](const Tensor& value, const Tensor& is_zero, const Tensor& zeros_here,
                           const Tensor& rest_here, const Tensor& g_here) {
      const Tensor others = where(is_zero, rest_here, rest_here / where(is_zero, one, value));
      return where(eq(zeros_here, to(is_zero, g.dtype())), g_here * others, zero);
    };
    if (b.needs(0)) of_x = share(x, x_zero, zeros_at, rest, g);
    if (b.needs(2))
      of_part = share(part, part_zero, gather(zeros_at, dim, index), gather(rest, dim, index),
                      gather(g, dim, index));
  } else {
    const Tensor x_wins = to(eq(x, y), g.dtype()), part_wins = equals_gathered(y, dim, index, part);
    const Tensor winners = summed(x_wins, dim, index, part_wins);
    const Tensor each = g / clamp(winners, 1.0);
    if (b.needs(0)) of_x = x_wins * each;
    if (b.needs(2)) of_part = times_gathered(each, dim, index, part_wins);
  }
  if (b.needs(0)) b.set(0, of_x);
  if (b.needs(2)) b.set(2, in_corner(of_part, source.shape()));
}

// The neutral element: it leaves every other number as it is.
Tensor neutral(ScatterKind kind, DType type) {
  if (kind == ScatterKind::product) return number(int64_t(1));
  if (is_floating(type)) return number(kind == ScatterKind::largest ? -INFINITY : INFINITY);
  if (type == DType::u8) return number(int64_t(kind == ScatterKind::largest ? 0 : 255));
  if (type == DType::i32) return number(int64_t(kind == ScatterKind::largest ? INT32_MIN : INT32_MAX));
  return number(kind == ScatterKind::largest ? INT64_MIN : INT64_MAX);
}

enum Word : int64_t { kSum, kProd, kMean, kAmax, kAmin };

// --- means by index ---

// The number of rows of each mean: where the index repeats along another dim, so does the count.
Tensor counts_at(const Tensor& x, int dim, const Tensor& index, bool include_self) {
  Tensor once = index;
  Shape counted = x.shape();
  for (int d = 0; d < x.ndim() && !is_batched(index); ++d)
    if (d != dim && index.strides()[d] == 0 && index.size(d) == x.size(d) && x.size(d) > 1) {
      once = narrow(once, d, 0, 1);
      counted[d] = 1;
    }
  Tensor count = ones(counted, DType::i64, x.device());
  if (!include_self) count = scatter(count, dim, once, number(int64_t(0)));
  return clamp(summed(count, dim, once, ones(once.shape(), DType::i64, x.device())), 1.0);
}

// Operands: a tensor whose named elements are 0 unless they take part, an index and a source. Results: the
// tensor with the means, and of how many elements each one is the mean.
void mean_shape(Call& call) {
  meet_shape(call);
  call.emit(call.input(0).shape(), call.input(0).dtype());
}
Operands mean_compose(const Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &source = call.input(2);
  const int dim = dim_of(call);
  const auto total = [&](const Scaling& scaling) { return summed(scaling(x), dim, index, scaling(source)); };
  const Tensor count = counts_at(x, dim, index, call.flag(1));
  return {mean_of_sums(total, count), expand(to(count, x.dtype()), x.shape())};
}
void mean_vjp(Backward& b) {
  const Tensor index = b.input(1), each = b.grad() / b.output(1);
  if (b.needs(0)) b.set(0, each);
  if (b.needs(2)) b.set(2, in_corner(gather(each, dim_of(b), index), b.shape(2)));
}
const Op kMeans{
    .name = "_scatter_mean",
    .doc =
        "input with each element that index names replaced by the mean of the elements of src that "
        "go there, and of itself with include_self, else it must be 0; and their numbers.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params = {{"dim", ParamKind::dim, {}}, {"include_self", ParamKind::boolean, {}}},
    .shape = mean_shape,
    .vjp = mean_vjp,
    .reads = {{.outputs = 2}, {}, {.inputs = 2, .outputs = 2}},
    .compose = mean_compose,
    .half_through_f32 = true,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .flops = {for_input<1, 2>, "1 for each element of the source"},
    .order = {"input", "dim", "index", "src", "include_self"}};

Tensor scatter_reduced(const char* op, const Tensor& x, int dim, const Tensor& index, const Tensor& source,
                       int64_t word, bool include_self) {
  need_index_type(op, index);
  if (is_complex(x.dtype()) || x.dtype() == DType::boolean)
    fail(op, ": tensors of ", x.dtype(), " are not supported");
  if (source.dtype() != x.dtype()) fail(op, ": the source is ", source.dtype(), ", the tensor ", x.dtype());
  if (word == kSum || word == kMean) {
    const Tensor base = include_self ? x : scatter(x, dim, index, number(int64_t(0)));
    if (word == kMean && is_floating(x.dtype()))
      return apply1(kMeans, {base, index, source}, {dim, include_self});
    const Tensor total = summed(base, dim, index, source);
    return word == kSum ? total : to(floor_divide(total, counts_at(x, dim, index, include_self)), x.dtype());
  }
  const ScatterKind kind = word == kProd   ? ScatterKind::product
                           : word == kAmax ? ScatterKind::largest
                                           : ScatterKind::smallest;
  const Tensor base = include_self ? x : scatter(x, dim, index, neutral(kind, x.dtype()));
  return apply1(kMeet, {base, index, source}, {dim, int64_t(kind)});
}
Operands scatter_reduce_compose(const Call& call) {
  const int dim = normalize_dim("scatter_reduce", call.integer(0), call.input(0).shape());
  return {scatter_reduced("scatter_reduce", call.input(0), dim, call.input(1), call.input(2), call.integer(1),
                          call.flag(2))};
}
const ParamSpec kDim{"dim", ParamKind::dim, {}};
const ParamSpec kReduce{"reduce", ParamKind::choice, {}, {"sum", "prod", "mean", "amax", "amin"}};
const ParamSpec kIncludeSelf{"include_self", ParamKind::boolean, true};
OpExample scatter_example(int64_t dim, int64_t word, bool include_self) {
  return {.inputs = {{{4, 3}}, {{2, 3}, 0, 4, kIndex}, {{2, 3}}},
          .params = {Value(dim), Value(word), include_self},
          .types = OpExample::Types::number};
}
const Op kScatterReduce{
    .name = "scatter_reduce",
    .doc =
        "input with the elements of src combined along dim where index (from 0) says; without include_self "
        "the elements of input that are named there do not take part.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params = {kDim, kReduce, kIncludeSelf},
    .compose = scatter_reduce_compose,
    .integer_inputs = 2,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .order = {"input", "dim", "index", "src", "reduce", "include_self"},
    .examples = {scatter_example(0, kSum, true),
                 scatter_example(0, kSum, false),
                 scatter_example(0, kProd, true),
                 scatter_example(0, kMean, true),
                 scatter_example(0, kMean, false),
                 scatter_example(0, kAmax, true),
                 scatter_example(0, kAmin, true),
                 scatter_example(0, kAmax, false),
                 {.inputs = {{{4}}, {{2}, 7, 8, kIndex}, {{2}}},
                  .params = {Value(0), Value(3)},
                  .error = "out of range"}}};

// scatter with reduce: "add" or "multiply".
Operands scatter_form_compose(const Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1);
  Tensor source = call.input(2);
  const int dim = normalize_dim("scatter", call.integer(0), x.shape());
  if (!call.params[1].present()) return {scatter(x, dim, index, source)};
  if (source.is_number()) {
    check_converts("scatter", x.dtype(), value_of(source));
    source = full(index.shape(), value_of(source), x.dtype(), x.device());
  }
  return {scatter_reduced("scatter", x, dim, index, source, call.integer(1) == 0 ? kSum : kProd, true)};
}
const Op kScatterForm{
    .name = "_scatter_with",
    .doc =
        "input with the elements of src, or one number, written along dim where index (from 0) says; with "
        "reduce added or multiplied there.",
    .inputs = {{"input"}, {"index"}, {"src"}},
    .params =
        {kDim,
         {.name = "reduce", .kind = ParamKind::choice, .choices = {"add", "multiply"}, .optional = true}},
    .compose = scatter_form_compose,
    .integer_inputs = 2,
    .family = OpFamily::view,
    .order = {"input", "dim", "index", "src", "reduce"},
    .number_inputs = 0b100,
    .short_form = "scatter"};

// Expands an index of one dim to the shape of the source: its entries repeat along all other dims.
Tensor spread_index(const char* op, const Tensor& index, const Tensor& source, int dim) {
  need_index_type(op, index);
  if (index.ndim() > 1) fail(op, ": the index must have one dim (got shape ", index.shape(), ")");
  Shape shape;
  for (int d = 0; d < source.ndim(); ++d) shape.push_back(d == dim ? index.numel() : 1);
  if (dim >= source.ndim() || source.size(dim) != index.numel())
    fail(op, ": a source of shape ", source.shape(), " does not fit ", index.numel(), " indices");
  return expand(reshape(index, shape), source.shape());
}
Operands index_reduce_compose(const Call& call) {
  const Tensor &x = call.input(0), &source = call.input(2);
  const int dim = normalize_dim("index_reduce", call.integer(0), x.shape());
  constexpr int64_t kOfWord[] = {kProd, kMean, kAmax, kAmin};
  return {scatter_reduced("index_reduce", x, dim, spread_index("index_reduce", call.input(1), source, dim),
                          source, kOfWord[call.integer(1)], call.flag(2))};
}
const Op kIndexReduce{
    .name = "index_reduce",
    .doc = "input with the slices of source combined with the positions of dim that index (from 0) names.",
    .inputs = {{"input"}, {"index"}, {"source"}},
    .params = {kDim, {"reduce", ParamKind::choice, {}, {"prod", "mean", "amax", "amin"}}, kIncludeSelf},
    .compose = index_reduce_compose,
    .integer_inputs = 2,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .order = {"input", "dim", "index", "source", "reduce", "include_self"},
    .examples = {{.inputs = {{{4, 3}}, {{5}, 0, 4, kIndex}, {{5, 3}}},
                  .params = {Value(0), Value(2)},
                  .types = OpExample::Types::number},
                 {.inputs = {{{2, 3}}, {{4}, 0, 3, kIndex}, {{2, 4}}},
                  .params = {Value(1), Value(1), false},
                  .types = OpExample::Types::number},
                 {.inputs = {{{2, 3}}, {{4}, 0, 3, kIndex}, {{4}}},
                  .params = {Value(1), Value(1), false},
                  .error = "index_reduce: a source of shape [4] does not fit 4 indices"}}};

// --- segment_reduce ---

Operands segment_reduce_compose(const Call& call) {
  const Tensor &data = call.input(0), &lengths = call.input(1);
  const int64_t word = call.integer(0);
  const int axis = normalize_dim("segment_reduce", call.integer(1), data.shape());
  if (!is_floating(data.dtype()))
    fail("segment_reduce: a floating-point tensor is needed (got ", data.dtype(), ")");
  if (data.ndim() == 0) fail("segment_reduce: data needs at least one dim");
  need_index_type("segment_reduce", lengths);
  if (lengths.ndim() != 1)
    fail("segment_reduce: lengths must have one dim (got shape ", lengths.shape(), ")");
  const int64_t segments = lengths.size(0);
  const int64_t length = data.size(axis);
  // The kernel that reads the lengths checks them, so that nothing waits, unless it has nothing to read or
  // to write.
  if (segments == 0 || length == 0) {
    const NoGrad off;
    const int64_t least = segments > 0 ? min(lengths).item_integer() : 0;
    if (least < 0) fail("segment_reduce: a length must not be negative (got ", least, ")");
    if (const int64_t total = segments > 0 ? sum(lengths).item_integer() : 0; total != length)
      fail("segment_reduce: the lengths add up to ", total, " where dim ", axis + 1, " has ", length);
  }
  constexpr int64_t kOfWord[] = {kSum, kMean, kAmax, kAmin, kProd};  // sum, mean, max, min, prod
  constexpr double kEmpty[] = {0, 0, -INFINITY, INFINITY, 1};
  const double initial = call.params[2].present() ? call.real(2) : kEmpty[word];
  Shape shape = data.shape();
  shape[axis] = segments;
  const Tensor numbers = repeated_positions(to(lengths, data.device()), length, axis);
  const Tensor start = full(shape, initial, data.dtype(), data.device());
  const Tensor index = spread_index("segment_reduce", numbers, data, axis);
  if (kOfWord[word] != kMean)
    return {scatter_reduced("segment_reduce", start, axis, index, data, kOfWord[word], true)};
  Shape column;
  for (int d = 0; d < data.ndim(); ++d) column.push_back(d == axis ? segments : 1);
  if (initial == 0 && !data.device().is_cpu()) {
    const double empty = call.params[2].present() ? 0 : NAN;
    const Tensor has_none = eq(reshape(to(lengths, data.device()), column), number(int64_t(0)));
    const Tensor base = to(where(has_none, number(empty), number(0.0)), data.dtype());
    return {apply1(kMeans, {expand(base, shape), index, data}, {axis, false})};
  }
  // An empty part has no mean: NaN, or initial.
  const Tensor counts = call.params[2].present() ? clamp(lengths, 1.0) : lengths;
  const auto added = [&](const Scaling& scaling) {
    return summed(scaling(start), axis, index, scaling(data));
  };
  return {mean_of_sums(added, reshape(counts, column))};
}
const Op kSegmentReduce{
    .name = "segment_reduce",
    .doc =
        "The sums, means or other reductions of consecutive parts of axis, which have these lengths; "
        "initial is the result of an empty part.",
    .inputs = {{"data"}, {"lengths"}},
    .params = {{"reduce", ParamKind::choice, {}, {"sum", "mean", "max", "min", "prod"}},
               {"axis", ParamKind::dim, 0},
               {.name = "initial", .kind = ParamKind::real, .optional = true}},
    .compose = segment_reduce_compose,
    .integer_inputs = 2,
    .family = OpFamily::reduction,
    .order = {"data", "reduce", "lengths", "axis", "initial"},
    .examples = {{.inputs = {{{2, 3}}, {{2}, 1, 1.5, kIndex}}, .params = {Value(0)}, .types = kFloating},
                 {.inputs = {{{2}}, {{2}, 1, 1.5, kIndex}}, .params = {Value(2)}, .types = kFloating},
                 {.inputs = {{{3}}, {{2}, 1, 1.5, kIndex}}, .params = {Value(0)}, .error = "add up to"}}};

// --- masks ---

Operands masked_scatter_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1), &source = call.input(2);
  if (mask.dtype() != DType::boolean) fail("masked_scatter: the mask must be bool (got ", mask.dtype(), ")");
  if (source.dtype() != x.dtype())
    fail("masked_scatter: the source is ", source.dtype(), ", the tensor ", x.dtype());
  const Shape shape = broadcast_shapes("masked_scatter", x.shape(), mask.shape());
  const Tensor holds = expand(mask, shape), target = expand(x, shape);
  const int64_t count = numel(shape);
  if (count == 0) return {clone(target)};
  Tensor places;
  {
    const NoGrad off;
    const Tensor before = cumsum(reshape(holds, {count}), 0);
    const int64_t needed = narrow(before, 0, count - 1, 1).item_integer();
    if (needed > source.numel())
      fail("masked_scatter: the mask holds for ", needed, " elements, the source has ", source.numel());
    if (needed == 0) return {clone(target)};
    places = clamp(before - number(int64_t(1)), 0.0);
  }
  const Tensor taken = index_select(reshape(source, {source.numel()}), 0, places);
  return {where(holds, reshape(taken, shape), target)};
}
const Op kMaskedScatter{
    .name = "masked_scatter",
    .doc = "input with the elements of source, one after the other, where mask holds.",
    .inputs = {{"input"}, {"mask"}, {"source"}},
    .compose = masked_scatter_compose,
    .integer_inputs = 2,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{2, 3}}, {{2, 3}, 0, 1, kBoolean}, {{6}}}},
                 {.inputs = {{{2, 3}}, {{3}, 0, 1, kBoolean}, {{2, 4}}}},
                 {.inputs = {{{2, 3}}, {{2, 3}, 0, 1, kBoolean}, {{0}}}, .error = "the source has 0"}}};

Operands masked_fill_value_compose(const Call& call) {
  const Tensor &x = call.input(0), &mask = call.input(1), &value = call.input(2);
  if (value.is_number()) return {masked_fill(x, mask, value_of(value))};
  if (mask.dtype() != DType::boolean) fail("masked_fill: the mask must be bool (got ", mask.dtype(), ")");
  if (value.ndim() != 0)
    fail("masked_fill: value must be a number or have no dims (got shape ", value.shape(), ")");
  if (!broadcasts_to(mask.shape(), x.shape()))
    fail("masked_fill: a mask of shape ", mask.shape(), " does not broadcast to ", x.shape());
  if (is_differentiable(value.dtype()) && !is_differentiable(x.dtype()))
    fail("masked_fill: a value of type ", value.dtype(), " cannot be written into a tensor of type ",
         x.dtype());
  return {where(mask, to(value, x.dtype()), x)};
}
const Op kMaskedFillValue{.name = "_masked_fill_value",
                          .doc = "input with value, a number or a 0-d tensor, where mask holds.",
                          .inputs = {{"input"}, {"mask"}, {"value"}},
                          .compose = masked_fill_value_compose,
                          .integer_inputs = 2,
                          .family = OpFamily::view,
                          .number_inputs = 0b100,
                          .short_form = "masked_fill"};

// --- index, index_put ---

// The elements that several index tensors together name in the first dims of x.
struct Points {
  Shape shape;    // of the index tensors, broadcast
  int dims = 0;   // how many dims of x they name
  Tensor places;  // [n]: positions in the flattened first dims
  Shape rest;     // the other sizes of x
  int64_t rows = 1, row = 1;
};

Points points_of(const Tensor& x, std::span<const Tensor> given, bool puts) {
  const char* const op = puts ? "index_put" : "index";
  const NoGrad off;
  TensorList indices;
  for (const Tensor& index : given) {
    if (index.dtype() != DType::boolean) {
      need_index_type(op, index);
      indices.push_back(index);
      continue;
    }
    if (index.ndim() == 0) fail(op, ": a mask without dims names no dim of a tensor; unsqueeze both");
    const int at = int(indices.size());
    for (int d = 0; d < index.ndim(); ++d)
      if (at + d >= x.ndim() || index.size(d) != x.size(at + d))
        fail(op, ": a mask of shape ", index.shape(), " does not fit dim ", at + d + 1, " of shape ",
             x.shape());
    const Tensor found = nonzero(index);
    for (int d = 0; d < index.ndim(); ++d) indices.push_back(select(found, 1, d));
  }
  Points points;
  points.dims = int(indices.size());
  if (points.dims == 0) fail(op, ": at least one index tensor is needed");
  if (points.dims > x.ndim()) fail(op, ": ", points.dims, " index tensors for a tensor of shape ", x.shape());
  for (const Tensor& index : indices) points.shape = broadcast_shapes(op, points.shape, index.shape());
  for (int d = 0; d < x.ndim(); ++d) {
    if (d >= points.dims) points.rest.push_back(x.size(d));
    (d < points.dims ? points.rows : points.row) *= x.size(d);
  }
  Shape sizes;
  for (int d = 0; d < points.dims; ++d) {
    sizes.push_back(x.size(d));
    // A kernel would have nothing to note the fault for: the tensor has no rows.
    if (const Tensor& index = indices[size_t(d)]; x.size(d) == 0 && index.numel() > 0)
      fail(op, ": index ", max(index).item_integer(), " is out of range for dim ", d + 1,
           " of size 0 (indices count from 0)");
  }
  points.places = flat_positions(indices, sizes, puts);
  return points;
}
Shape concat(Shape a, const Shape& b) {
  for (const int64_t size : b) a.push_back(size);
  return a;
}

Operands index_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Points points = points_of(x, std::span(call.in.begin() + 1, call.in.size() - 1), false);
  const Tensor rows = index_select(reshape(x, {points.rows, points.row}), 0, points.places);
  return {reshape(rows, concat(points.shape, points.rest))};
}
const Op kIndexPoints{
    .name = "index",
    .doc =
        "The elements of the first dims of input that the index tensors (from 0) name together, one tensor "
        "for each dim; they broadcast. A bool tensor names what it holds for.",
    .inputs = {{"input"}, {"indices", false, true}},
    .compose = index_compose,
    .family = OpFamily::view,
    .examples = {{.inputs = {{{3, 4, 2}}, {{5}, 0, 3, kIndex}, {{5}, 0, 4, kIndex}}},
                 {.inputs = {{{3, 4}}, {{2, 1}, 0, 3, kIndex}, {{3}, -4, 4, kIndex}}},
                 {.inputs = {{{3, 4}}, {{3}, 0, 1, kBoolean}}},
                 {.inputs = {{{3}}, {{2}, 3, 5, kIndex}}, .error = "out of range"},
                 {.inputs = {{{3}}, {{2}, 0, 3, kIndex}, {{2}, 0, 3, kIndex}}, .error = "2 index tensors"}}};

Operands index_put_compose(const Call& call) {
  const Tensor& x = call.input(0);
  Tensor values = call.input(1);
  const Points points = points_of(x, std::span(call.in.begin() + 2, call.in.size() - 2), true);
  const Shape shape = concat(points.shape, points.rest);
  if (values.is_number()) {
    if (is_floating(values.dtype()) && !is_differentiable(x.dtype()))
      fail("index_put: ", values.item(), " cannot be written into a tensor of type ", x.dtype());
    check_converts("index_put", x.dtype(), value_of(values));
    values = full({}, value_of(values), x.dtype(), x.device());
  }
  if (values.dtype() != x.dtype())
    fail("index_put: the values are ", values.dtype(), ", the tensor ", x.dtype());
  if (!broadcasts_to(values.shape(), shape))
    fail("index_put: values of shape ", values.shape(), " do not broadcast to ", shape);
  const Tensor source = reshape(expand(values, shape), {numel(points.shape), points.row});
  const Tensor rows = reshape(x, {points.rows, points.row});
  const Tensor y =
      call.flag(0) ? index_add(rows, 0, points.places, source) : index_copy(rows, 0, points.places, source);
  return {reshape(y, x.shape())};
}
const Op kIndexPut{
    .name = "index_put",
    .doc =
        "input with values, which broadcast, at the positions that the index tensors (from 0) name together; "
        "with accumulate added there.",
    .inputs = {{"input"}, {"values"}, {"indices", false, true}},
    .params = {{"accumulate", ParamKind::boolean, false}},
    .compose = index_put_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::view,
    .order = {"input", "indices", "values", "accumulate"},
    .number_inputs = 0b10,
    .examples = {{.inputs = {{{3, 4}}, {{5}}, {{5}, 0, 3, kIndex}, {{5}, 0, 4, kIndex}}, .params = {true}},
                 {.inputs = {{{3, 4}}, {{4}}, {{2}, 0, 3, kIndex}}},
                 {.inputs = {{{3, 4}}, {{2}}, {{5}, 0, 3, kIndex}, {{5}, 0, 4, kIndex}},
                  .error = "do not broadcast"}}};

}  // namespace

std::span<const Op* const> place_ops() {
  static const Op* const ops[] = {&kScatterReduce, &kMeet,          &kMeans,         &kScatterForm,
                                  &kIndexReduce,   &kSegmentReduce, &kMaskedScatter, &kMaskedFillValue,
                                  &kIndexPoints,   &kIndexPut};
  return ops;
}

}  // namespace lunagrad
