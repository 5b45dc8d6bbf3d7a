// Statistics that are compositions of sorting and sums: quantile, mode, msort, the reductions that leave out
// NaN, several results at once (var_mean, std_mean, aminmax), and differences.
#include <cmath>

#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad {
namespace {

const ParamSpec kLastDim{"dim", ParamKind::dim, -1};

Tensor number(double x) { return Tensor::number(x); }
Tensor number(int64_t x) { return Tensor::number(x); }

Tensor as_line(const Tensor& x) { return x.ndim() == 0 ? reshape(x, {1}) : x; }

void need_float(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    fail(op, ": a floating-point tensor is needed (got ", x.dtype(), "); convert it with :float() first");
}

// --- without NaN ---

Tensor without_nan(const Tensor& x) { return where(isnan(x), number(int64_t(0)), x); }

void float_nansum_shape(Call& call) { emit_reduced(call, call.input(0).dtype()); }
Operands float_nansum_compose(const Call& call) {
  return apply(*find_op("sum"), {without_nan(call.input(0))}, call.params);
}
void float_nansum_cpu(const Call& call) {
  reduce_into(call, ReduceKind::sum_numbers, 0, kDimsAt, first_state);
}
void float_nansum_vjp(Backward& b) {
  b.set(0, where(isnan(b.input(0)), number(0.0), spread(b.grad(), b.shape(0), mask_of(b))));
}
const Op kFloatNansum{.name = "_nansum",
                      .doc = "The sum of the floats that are not NaN.",
                      .inputs = {{"input"}},
                      .params = {kDims, kKeepdim},
                      .shape = float_nansum_shape,
                      .cpu = float_nansum_cpu,
                      .vjp = float_nansum_vjp,
                      .reads = {{.inputs = 1}},
                      .compose = float_nansum_compose,
                      .family = OpFamily::reduction,
                      .autocast = AutocastPolicy::f32,
                      .flops = kOnePerOperand};
Operands nansum_compose(const Call& call) {
  const Tensor& given = call.input(0);
  const Tensor x = call.params[2].present() ? to(given, DType(call.integer(2))) : given;
  static const Op& op = *find_op("sum");
  return apply(is_floating(x.dtype()) ? kFloatNansum : op, {x}, {call.params[0], call.params[1]});
}
Operands nanmean_compose(const Call& call) {
  need_float("nanmean", call.input(0));
  const Tensor& given = call.input(0);
  const Tensor x = call.params[2].present() ? to(given, DType(call.integer(2))) : given;
  static const Op& op = *find_op("sum");
  const Tensor average = apply1(*find_op("mean"), {without_nan(x)}, {call.params[0], call.params[1]});
  const Tensor count = apply1(op, {logical_not(isnan(x.detach()))}, {call.params[0], call.params[1]});
  // The sum of all numbers may overflow where their mean does not.
  const double all = double(reduced_count(x.shape(), mask_of(call)));
  return {average * (all / to(count, average.dtype()))};
}
const std::vector<ParamSpec> kReduceParams = {kDims, kKeepdim, kDType};
const Op kNansum{
    .name = "nansum",
    .doc = "The sum over dim, or over all elements, that are not NaN.",
    .inputs = {{"input"}},
    .params = kReduceParams,
    .compose = nansum_compose,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{2, 3}}}, .params = {Value(Dims{1}), true}}}};
const Op kNanmean{.name = "nanmean",
                  .doc = "The mean over dim, or of all elements, that are not NaN.",
                  .inputs = {{"input"}},
                  .params = kReduceParams,
                  .compose = nanmean_compose,
                  .family = OpFamily::reduction,
                  .examples = {{.inputs = {{{2, 3}}}, .types = kFloating},
                               {.inputs = {{{2, 3}}}, .params = {Value(Dims{1})}, .types = kFloating}}};

Operands count_nonzero_compose(const Call& call) {
  static const Op& op = *find_op("sum");
  return apply(op, {ne(call.input(0), number(int64_t(0)))}, {call.params[0], false});
}
const Op kCountNonzero{
    .name = "count_nonzero",
    .doc = "The number of elements over dim, or of all, that are not zero.",
    .inputs = {{"input"}},
    .params = {kDims},
    .compose = count_nonzero_compose,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{2, 3}}}, .params = {Value(Dims{0})}}}};

// --- several results ---

void moments_shape(Call& call) {
  for (int i = 0; i < 2; ++i) emit_reduced(call, call.input(0).dtype(), kDimsAt, kVarKeepdimAt);
}
template <bool root>
Operands moments_compose(const Call& call) {
  return {apply1(*find_op(root ? "std" : "var"), {call.input(0)}, call.params),
          apply1(*find_op("mean"), {call.input(0)}, {call.params[0], call.params[kVarKeepdimAt]})};
}
// d var / d x = 2 (x - mean) / (n - correction), d std / d x = d var / d x / (2 std), 0 where std is 0.
template <bool root>
void moments_vjp(Backward& b) {
  const uint32_t mask = mask_of(b);
  const auto kept = [&](const Tensor& y) { return with_kept_dims(y, b.shape(0), mask); };
  const double count = double(reduced_count(b.shape(0), mask));
  Tensor sum;
  if (b.has_grad(0)) {
    const Value& unbiased = param(b, kUnbiasedAt);
    const double correction = unbiased.present() ? double(unbiased.b) : double(param(b, kCorrectionAt).i);
    Tensor apart = b.input(0) - kept(b.output(1));
    if (root) {  // a gradient over a large deviation could be subnormal
      const Tensor y = kept(b.output(0));
      apart = apart / where(eq(y, number(0.0)), number(1.0), y);
    }
    sum = kept(b.grad(0)) * ((root ? 1 : 2) / std::max(0.0, count - correction)) * apart;
  }
  if (b.has_grad(1)) {
    const Tensor part = spread(b.grad(1) / count, b.shape(0), mask);
    sum = sum.defined() ? sum + part : part;
  }
  b.set(0, sum);
}
template <bool root>
Op moments_op(const char* name, const char* doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = kVarParams,
          .shape = moments_shape,
          .vjp = moments_vjp<root>,
          .reads = {{.inputs = 1, .outputs = 3}},
          .compose = moments_compose<root>,
          .family = OpFamily::reduction,
          .flops = {for_input<5>, "5 for each element of the operand: its sum and its squared deviation"}};
}
const Op kFusedVarMean = moments_op<false>("_var_mean", "The variance and the mean in one pass.");
const Op kFusedStdMean = moments_op<true>("_std_mean", "The standard deviation and the mean in one pass.");
Operands with_mean(const Op& fused, const Call& call) {
  need_float(call.op->name, call.input(0));
  return apply(fused, call.in, call.params);
}
Operands var_mean_compose(const Call& call) { return with_mean(kFusedVarMean, call); }
Operands std_mean_compose(const Call& call) { return with_mean(kFusedStdMean, call); }
const std::vector<OpExample> kVarExamples = {
    {.inputs = {{{2, 3}}}, .params = {Value(Dims{1}), true}, .types = kFloating},
    {.inputs = {{{4, 3}}}, .params = {Value(Dims{0}), false, true}, .types = kFloating}};
const Op kVarMean{.name = "var_mean",
                  .doc = "The variance and the mean over dim, or of all elements.",
                  .inputs = {{"input"}},
                  .params = kVarParams,
                  .compose = var_mean_compose,
                  .family = OpFamily::reduction,
                  .examples = kVarExamples};
const Op kStdMean{.name = "std_mean",
                  .doc = "The standard deviation and the mean over dim, or of all elements.",
                  .inputs = {{"input"}},
                  .params = kVarParams,
                  .compose = std_mean_compose,
                  .family = OpFamily::reduction,
                  .examples = kVarExamples};

void range_shape(Call& call) {
  for (int i = 0; i < 2; ++i) emit_reduced(call, call.input(0).dtype());
}
Operands range_compose(const Call& call) {
  const Value dims = call.params[0].present() ? Value(Dims{call.integer(0)}) : Value();
  return {apply1(*find_op("amin"), {call.input(0)}, {dims, call.params[1]}),
          apply1(*find_op("amax"), {call.input(0)}, {dims, call.params[1]})};
}
const Op kRange{.name = "_aminmax",
                .doc = "The smallest and the largest float in one pass.",
                .inputs = {{"input"}},
                .params = {kOneDim, kKeepdim},
                .shape = range_shape,
                .vjp = differentiate_composition,
                .reads = {{.inputs = 1}},
                .compose = range_compose,
                .family = OpFamily::reduction,
                .flops = {for_input<2>, "2 for each element of the operand: two comparisons"}};
Operands aminmax_compose(const Call& call) {
  const Tensor& x = call.input(0);
  return is_floating(x.dtype()) && x.numel() > 0 ? apply(kRange, call.in, call.params) : range_compose(call);
}
const Op kAminmax{.name = "aminmax",
                  .doc = "The smallest and the largest element over dim, or of all.",
                  .inputs = {{"input"}},
                  .params = {kOneDim, kKeepdim},
                  .compose = aminmax_compose,
                  .family = OpFamily::reduction,
                  .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{2, 3}}}, .params = {Value(1), true}}}};

// --- by order ---

// The elements at `places` along dim, with their indices in the unsorted x. `places` has the
// shape of x with size 1 along dim.
Operands taken(const Operands& ordered, const Tensor& places, int dim, bool drop) {
  Operands results;
  for (const Tensor& y : ordered) {
    const Tensor part = gather(y, dim, places);
    results.push_back(drop ? squeeze(part, dim) : part);
  }
  return results;
}
Operands sorted(const Tensor& x, int dim) {
  auto [values, indices] = sort(x, dim);
  return {values, indices};
}

// The longest run of equal elements in each sorted row; among equal lengths the first. The length of a run is
// known at its end, as the distance from its start. The start is the last position so far where the element
// changed: a running maximum of positions.
Operands mode_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor line = as_line(x);
  const int dim = normalize_dim("mode", call.integer(0), x.shape());
  const int64_t n = line.size(dim);
  if (n == 0) fail("mode: dim ", dim + 1, " of shape ", x.shape(), " is empty");
  const Operands ordered = sorted(line, dim);
  Tensor best;
  {
    const NoGrad off;
    const Tensor values = ordered[0].detach();
    Shape row;
    for (int d = 0; d < line.ndim(); ++d) row.push_back(d == dim ? n : 1);
    const Tensor places = reshape(arange(0, double(n), 1, DType::i64, line.device()), row);
    Tensor starts = expand(places, line.shape());
    if (n > 1) {
      const Tensor changes = ne(narrow(values, dim, 1, n - 1), narrow(values, dim, 0, n - 1));
      const Tensor marks = where(changes, narrow(places, dim, 1, n - 1), number(int64_t(0)));
      const Tensor first = zeros(narrow(values, dim, 0, 1).shape(), DType::i64, line.device());
      starts = apply1(*find_op("cummax"), {cat({first, marks}, dim)}, {Value(dim)});
    }
    best = argmax(places - starts, dim, true);
  }
  return taken(ordered, best, dim, x.ndim() == 0 || !call.flag(1));
}
const Op kMode{
    .name = "mode",
    .doc =
        "The most frequent element along dim, the smallest of equally frequent ones, and the index "
        "(from 0) of its last occurrence.",
    .inputs = {{"input"}},
    .params = {kLastDim, kKeepdim},
    .compose = mode_compose,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{3, 7}, 0, 3, ExampleOperand::Kind::index}}, .params = {Value(1)}},
                 {.inputs = {{{6, 2}, 0, 3, ExampleOperand::Kind::index}}, .params = {Value(0), true}}}};

Operands msort_compose(const Call& call) {
  const Tensor& x = call.input(0);
  return {x.ndim() == 0 ? clone(x) : sorted(x, 0)[0]};
}
const Op kMsort{.name = "msort",
                .doc = "The elements in order along the first dim.",
                .inputs = {{"input"}},
                .compose = msort_compose,
                .family = OpFamily::other,
                .examples = {{.inputs = {{{4, 3}}}}}};

enum class Between : int64_t { linear, lower, higher, midpoint, nearest };

// Error unless all probabilities lie in 0 … 1.
void check_probabilities(const char* op, const Tensor& q) {
  const NoGrad off;
  for (const double p : to(to(q, DType::f64), cpu_device()).to_vector<double>())
    if (!(p >= 0 && p <= 1)) fail(op, ": q must lie in [0, 1] (got ", p, ")");
}

// The element at position q (n - 1) of each sorted row, where n elements are not NaN. `Between` says how to
// compute a value between two elements. Without ignore_nan a row with a NaN gives NaN, which is sorted last.
Operands quantile_of(const Call& call, bool ignore_nan) {
  const char* op = call.op->name;
  const Tensor &x = call.input(0), &given = call.input(1);
  need_float(op, x);
  if (given.ndim() > 1) fail(op, ": q must be a number or have one dim (got shape ", given.shape(), ")");
  if (!given.is_number() && given.dtype() != x.dtype())
    fail(op, ": q is ", given.dtype(), ", the tensor ", x.dtype());
  check_probabilities(op, given);
  const bool whole = !call.params[0].present(), keep = call.flag(1);
  const int dim = whole ? 0 : normalize_dim(op, call.integer(0), x.shape());
  const Tensor line = whole ? reshape(x, {x.numel()}) : as_line(x);
  const int64_t n = line.size(dim);
  if (n == 0) fail(op, ": shape ", x.shape(), " has no elements along the dim");
  // Rows last: [..., n], and q as [Q].
  const Tensor rows = movedim(line, {dim}, {-1});
  const Tensor values = sorted(rows, rows.ndim() - 1)[0];
  const int last = rows.ndim() - 1;
  const int64_t count = given.ndim() == 0 ? 1 : given.size(0);
  // f32 does not hold every position of a longer row.
  const DType exact = n > (int64_t(1) << 24) ? DType::f64 : x.dtype();
  const Tensor q =
      given.is_number() ? full({1}, given.item(), exact, x.device()) : to(reshape(given, {count}), exact);
  Shape kept = rows.shape();
  kept[last] = count;
  Tensor places;  // q (n - 1) for each row
  {
    Tensor filled = sum(logical_not(isnan(rows.detach())), {last}, true);
    if (!ignore_nan) filled = where(lt(filled, number(n)), number(int64_t(-1)), filled);
    const Tensor length = to(filled - number(int64_t(1)), exact);
    const Tensor poisoned = where(lt(length, number(-1.0)), number(double(n - 1)), q * length);
    places = expand(clamp(poisoned, 0.0), kept);
  }
  const Between between = Between(call.integer(2));
  if (between == Between::lower) places = floor(places);
  if (between == Between::higher) places = ceil(places);
  if (between == Between::nearest) places = round(places);
  const Tensor below = floor(places.detach());
  Tensor result = gather(values, last, to(below, DType::i64));
  if (between == Between::linear || between == Between::midpoint) {
    const Tensor above = gather(values, last, to(ceil(places.detach()), DType::i64));
    Tensor weight = to(places - below, x.dtype());
    if (between == Between::midpoint) weight = to(gt(weight, number(0.0)), x.dtype()) * 0.5;
    // lerp's difference of the two may be infinite.
    const Tensor near = isfinite(above.detach() - result.detach());
    const Tensor part = where(near, lerp(result, where(near, above, result), weight),
                              result * (1.0 - weight) + above * weight);
    result = where(eq(above, result), result, part);
  }
  // dim returns to its place, behind the dim of the probabilities.
  if (whole || x.ndim() == 0) {
    Shape ones_shape;
    if (given.ndim() == 1) ones_shape.push_back(count);
    if (keep)
      for (int d = 0; d < x.ndim(); ++d) ones_shape.push_back(1);
    return {reshape(result, ones_shape)};
  }
  result = movedim(result, {last}, {0});
  if (keep) result = unsqueeze(result, dim + 1);
  return {given.ndim() == 1 ? result : squeeze(result, 0)};
}
// 16-bit floats are computed in f32.
Operands quantile_in_f32(const Call& call, bool ignore_nan) {
  const DType type = call.input(0).dtype();
  if (!is_16bit_float(type)) return quantile_of(call, ignore_nan);
  Call upcast = call;
  upcast.in[0] = to(call.input(0), DType::f32);
  if (call.input(1).dtype() == type) upcast.in[1] = to(call.input(1), DType::f32);
  return {to(quantile_of(upcast, ignore_nan)[0], type)};
}
Operands quantile_compose(const Call& call) { return quantile_in_f32(call, false); }
Operands nanquantile_compose(const Call& call) { return quantile_in_f32(call, true); }
Op quantile_op(const char* name, const char* doc, Operands (*compose)(const Call&)) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {{"input"}, {"q"}},
      .params =
          {kOneDim,
           kKeepdim,
           {"interpolation", ParamKind::choice, 0, {"linear", "lower", "higher", "midpoint", "nearest"}}},
      .compose = compose,
      .family = OpFamily::reduction,
      .order = {"input", "q", "dim", "keepdim", "interpolation"},
      .number_inputs = 0b10,
      .examples = {
          {.inputs = {{{2, 5}}, {{3}, 0.1, 0.9}}, .types = kFloating},
          {.inputs = {{{2, 5}}, {{3}, 0.1, 0.9}}, .params = {Value(1)}, .types = kFloating},
          {.inputs = {{{4, 3}}, {{}, 0.1, 0.9}}, .params = {Value(0), true, Value(3)}, .types = kFloating},
          {.inputs = {{{2, 5}}, {{2}, 0.1, 0.9}}, .params = {Value(1), false, Value(1)}, .types = kFloating},
          {.inputs = {{{2, 5}}, {{2}, 2, 3}}, .error = "q must lie in [0, 1]"}}};
}
const Op kQuantile = quantile_op(
    "quantile",
    "The elements of dim, or of all, at the parts q of the way through their order, with q as the first dim.",
    quantile_compose);
const Op kNanquantile =
    quantile_op("nanquantile", "quantile of the elements that are not NaN.", nanquantile_compose);

// --- differences ---

Operands diff_compose(const Call& call) {
  Tensor x = call.input(0);
  const int64_t n = call.integer(0);
  if (n < 0) fail("diff: n must not be negative (got ", n, ")");
  if (x.ndim() == 0) fail("diff: a tensor of at least one dim is needed");
  const int dim = normalize_dim("diff", call.integer(1), x.shape());
  TensorList parts;
  if (call.has(1)) parts.push_back(call.input(1));
  parts.push_back(x);
  if (call.has(2)) parts.push_back(call.input(2));
  if (parts.size() > 1) x = cat(parts, dim);
  for (int64_t i = 0; i < n && x.size(dim) > 0; ++i) {
    const int64_t left = x.size(dim) - 1;
    const Tensor after = narrow(x, dim, 1, left), before = narrow(x, dim, 0, left);
    x = x.dtype() == DType::boolean ? logical_xor(after, before) : after - before;
  }
  return {x.same(call.input(0)) ? clone(x) : x};
}
const Op kDiff{
    .name = "diff",
    .doc = "The differences of neighbours along dim, n times, with prepend and append at the ends.",
    .inputs = {{"input"}, {"prepend", true}, {"append", true}},
    .params = {{"n", ParamKind::integer, 1}, kLastDim},
    .compose = diff_compose,
    .family = OpFamily::elementwise,
    .order = {"input", "n", "dim", "prepend", "append"},
    .examples = {{.inputs = {{{2, 4}}}},
                 {.inputs = {{{4, 3}}}, .params = {Value(2), Value(0)}},
                 {.inputs = {{{2, 4}}, {{2, 1}}, {{2, 2}}}},
                 {.inputs = {{{2, 4}}}, .params = {Value(-1)}, .error = "not be negative"}}};

}  // namespace

std::span<const Op* const> quantile_ops() {
  static const Op* const ops[] = {&kNansum,       &kFloatNansum, &kNanmean,      &kCountNonzero, &kVarMean,
                                  &kFusedVarMean, &kStdMean,     &kFusedStdMean, &kAminmax,      &kRange,
                                  &kMode,         &kMsort,       &kQuantile,     &kNanquantile,  &kDiff};
  return ops;
}

}  // namespace lunagrad
