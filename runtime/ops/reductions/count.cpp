// Counting and searching: bincount, histc, searchsorted, bucketize, isin.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "runtime/core/default_dtype.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

// --- bincount ---

// Operands: integers in [0, count), and their weights of the result's type; without weights each counts 1.
void bins_shape(Call& call) {
  call.emit({call.integer(0)}, call.has(1) ? call.input(1).dtype() : DType::i64);
}
template <class T>
void add_counts(const T* x, int64_t n, int64_t* to, int64_t count) {
  constexpr int64_t kOwn = 1 << 12;  // up to this many bins, each range counts into bins of its own
  if (count > kOwn || n < 8 * count) {
    in_pieces(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++to[x[i]];
    });
    return;
  }
  std::mutex mutex;
  parallel_for(n, std::max<int64_t>(1 << 15, 8 * count), [&](int64_t begin, int64_t end) {
    std::array<int64_t, kOwn> own;
    std::fill_n(own.data(), count, int64_t(0));
    for (int64_t i = begin; i < end; ++i) ++own[size_t(x[i])];
    const std::lock_guard lock(mutex);
    for (int64_t bin = 0; bin < count; ++bin) to[bin] += own[size_t(bin)];
  });
}
void bins_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), &out = call.output();
  const int64_t n = x.numel();
  std::memset(out.raw(), 0, size_t(out.numel()) * item_size(out.dtype()));
  const auto visit_integers = [&](auto&& f) {
    visit_dtype(x.dtype(), [&]<class T>() {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) f(x.data<T>());
    });
  };
  if (!call.has(1)) {
    visit_integers([&](const auto* places) { add_counts(places, n, out.data<int64_t>(), out.numel()); });
    return;
  }
  const Tensor weights = in_order(call.input(1));
  visit_dtype(out.dtype(), [&]<class W>() {
    if constexpr (std::is_floating_point_v<W>)
      visit_integers([&](const auto* places) {
        const W* const from = weights.data<W>();
        W* const to = out.data<W>();
        in_pieces(n, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) to[places[i]] += from[i];
        });
      });
  });
}
Operands bins_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const DType type = call.has(1) ? call.input(1).dtype() : DType::i64;
  const Tensor source = call.has(1) ? call.input(1) : ones(x.shape(), type, x.device());
  return {index_add(zeros({call.integer(0)}, type, x.device()), 0, x, source)};
}
const Op kBins{.name = "_bincount",
               .doc = "How often each of 0 to count - 1 occurs, or the sums of their weights.",
               .inputs = {{"input"}, {"weights", true}},
               .params = {{"count", ParamKind::integer, {}}},
               .shape = bins_shape,
               .cpu = bins_cpu,
               .compose = bins_compose,
               .half_through_f32 = true,
               .integer_inputs = 1,
               .family = OpFamily::reduction,
               .flops = kOnePerOperand};

Operands bincount_compose(const Call& call) {
  const NoGrad off;
  const Tensor& x = call.input(0);
  const int64_t least = call.integer(0);
  if (is_differentiable(x.dtype()) || x.dtype() == DType::boolean)
    fail("bincount: integers are needed (got ", x.dtype(), "); x:long() converts them");
  if (x.ndim() != 1) fail("bincount: one dim is needed (got shape ", x.shape(), ")");
  if (least < 0) fail("bincount: minlength must not be negative (got ", least, ")");
  const Tensor weights = call.has(1) ? call.input(1).detach() : Tensor();
  if (weights.defined() && !(weights.shape() == x.shape()))
    fail("bincount: weights of shape ", weights.shape(), " do not fit input of shape ", x.shape());
  int64_t count = least;
  if (x.numel() > 0) {
    static const Op& range_op = *find_op("_range");
    const std::vector<int64_t> range = apply1(range_op, {x}).to_vector<int64_t>();
    if (range[0] < 0) fail("bincount: input must not be negative (got ", range[0], ")");
    if (range[1] == INT64_MAX) fail("bincount: input is too large (got ", range[1], ")");
    count = std::max(count, range[1] + 1);
  }
  if (!weights.defined()) return {apply1(kBins, {x, {}}, {count})};
  const DType type = is_floating(weights.dtype()) ? weights.dtype() : DType::f64;
  return {apply1(kBins, {x, to(weights, type)}, {count})};
}
const Op kBincount{
    .name = "bincount",
    .doc =
        "How often each of 0, 1, … occurs in input, or the sums of their weights; minlength results or more.",
    .inputs = {{"input"}, {"weights", true}},
    .params = {{"minlength", ParamKind::integer, 0}},
    .compose = bincount_compose,
    .integer_inputs = 1,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{12}, 0, 5, kIndex}}},
                 {.inputs = {{{12}, 0, 5, kIndex}}, .params = {Value(9)}},
                 {.inputs = {{{12}, 0, 5, kIndex}, {{12}}}, .second_order = false},
                 {.inputs = {{{3, 2}, 0, 5, kIndex}}, .error = "one dim"},
                 {.inputs = {{{5}, -5, -1, kIndex}}, .error = "must not be negative"}}};

// --- histc ---

// Operands: a vector of floats. How many of them lie in each of `bins` intervals of equal width.
void intervals_shape(Call& call) { call.emit({call.integer(0)}, DType::i64); }
Operands intervals_compose(const Call& call) {
  const Tensor x = to(call.input(0), accumulate_type(call.input(0).dtype()));
  const int64_t bins = call.integer(0);
  const double low = call.real(1), high = call.real(2);
  const Tensor within = logical_and(ge(x, Tensor::number(low)), le(x, Tensor::number(high)));
  const Tensor place = (where(within, x, Tensor::number(low)) - low) * (double(bins) / (high - low));
  const Tensor bin = clamp(to(floor(place), DType::i64), 0.0, double(bins - 1));
  return {index_add(zeros({bins}, DType::i64, x.device()), 0, bin, to(within, DType::i64))};
}
const Op kIntervals{
    .name = "_histc",
    .doc = "How many elements lie in each of some intervals of equal width from min to max.",
    .inputs = {{"input"}},
    .params = {{"bins", ParamKind::integer, {}}, {"min", ParamKind::real, {}}, {"max", ParamKind::real, {}}},
    .shape = intervals_shape,
    .compose = intervals_compose,
    .family = OpFamily::reduction,
    .flops = {for_input<5>, "5 for each element, for its interval"}};

Operands histc_compose(const Call& call) {
  const NoGrad off;
  const DType type = call.input(0).dtype();
  const Tensor x = flatten(call.input(0).detach());
  const int64_t bins = call.integer(0);
  double low = call.real(1), high = call.real(2);
  if (!is_floating(x.dtype()))
    fail("histc: a floating-point tensor is needed (got ", x.dtype(), "); convert it with :float() first");
  if (bins < 1) fail("histc: bins must be at least 1 (got ", bins, ")");
  if (low == high && x.numel() > 0) {
    const Tensor ends = stack({min(x), max(x)});  // read together
    const std::vector<double> range = to(to(ends, cpu_device()), DType::f64).to_vector<double>();
    low = range[0];
    high = range[1];
  }
  if (low == high) low -= 1, high += 1;
  if (!(std::isfinite(low) && std::isfinite(high)))
    fail("histc: a range of finite numbers is needed (got ", low, " to ", high, ")");
  if (!(low < high)) fail("histc: max must be larger than min (got ", low, " and ", high, ")");
  return {to(apply1(kIntervals, {x}, {bins, low, high}), type)};
}
const Op kHistc{
    .name = "histc",
    .doc =
        "The numbers of elements in bins of equal width from min to max; the least and largest "
        "element if these are equal.",
    .inputs = {{"input"}},
    .params = {{"bins", ParamKind::integer, 100},
               {"min", ParamKind::real, 0.0},
               {"max", ParamKind::real, 0.0}},
    .compose = histc_compose,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{4, 5}}}, .params = {Value(4), -1.0, 1.5}, .types = kFloating},
                 {.inputs = {{{4}}}, .params = {Value(0)}, .error = "at least 1"},
                 {.inputs = {{{4}}}, .params = {Value(3), 2.0, 1.0}, .error = "larger than min"}}};

// --- searchsorted ---

// Operands: the sorted rows and the values, both contiguous and of one type. Either each row of values has a
// sorted row of its own, or one sorted row serves all values.
void search_shape(Call& call) {
  const Tensor &rows = call.input(0), &values = call.input(1);
  if (rows.ndim() == 0) fail("searchsorted: the sorted sequence needs at least one dim");
  bool same = rows.ndim() == 1 || rows.ndim() == values.ndim();
  for (int d = 0; same && rows.ndim() > 1 && d + 1 < rows.ndim(); ++d) same = rows.size(d) == values.size(d);
  if (!same)
    fail("searchsorted: a sorted sequence of shape ", rows.shape(), " does not fit values of shape ",
         values.shape(), ": all dims but the last must be equal");
  call.emit(values.shape(), DType::i64);
}
void search_cpu(const Call& call) {
  const Tensor rows = in_order(call.input(0)), values = in_order(call.input(1));
  const int64_t n = rows.size(-1);
  const bool right = call.flag(0), shared = rows.ndim() == 1;
  const int64_t each = shared || values.numel() == 0 ? values.numel() : values.size(-1);
  int64_t* const to = call.output().data<int64_t>();
  visit_dtype(rows.dtype(), [&]<class T>() {
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if constexpr (std::is_arithmetic_v<Element>) {
      const auto* const sequence = static_cast<const Element*>(rows.raw());
      const auto* const wanted = static_cast<const Element*>(values.raw());
      // NaN is larger than all numbers.
      const auto less = [](Element a, Element b) { return a < b || (b != b && a == a); };
      parallel_for(values.numel(), 512, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Element* const first = sequence + (shared ? 0 : i / each * n);
          const Element* const found = right ? std::upper_bound(first, first + n, wanted[i], less)
                                             : std::lower_bound(first, first + n, wanted[i], less);
          to[i] = found - first;
        }
      });
    }
  });
}
double search_flops(const Call& call) {
  return elements(call.in[1]) * std::ceil(std::log2(double(call.input(0).size(-1)) + 1));
}
const Op kSearch{.name = "_searchsorted",
                 .doc = "The places of values in sorted rows.",
                 .inputs = {{"sorted_sequence"}, {"input"}},
                 .params = {{"right", ParamKind::boolean, false}},
                 .shape = search_shape,
                 .cpu = search_cpu,
                 .half_through_f32 = true,
                 .family = OpFamily::other,
                 .flops = {search_flops, "values x log2 of the row, for the comparisons"}};

Tensor places_in(const Tensor& sequence, const Tensor& given, bool right, bool narrow_result) {
  const NoGrad off;
  const Tensor rows = sequence.detach();
  Tensor values = given;
  DType type = rows.dtype();
  if (values.is_number()) {
    if (is_floating(values.dtype()) && !is_floating(type)) type = DType::f64;
    values = full({}, values.item(), type, rows.device());
  } else {
    type = promote(type, values.dtype());
  }
  const Tensor found = apply1(kSearch, {to(rows, type), to(values.detach(), type)}, {right});
  return narrow_result ? to(found, DType::i32) : found;
}
Operands searchsorted_compose(const Call& call) {
  const bool given = call.params[2].present();
  if (given && call.integer(2) == 0 && call.flag(1))
    fail("searchsorted: side 'left' contradicts right = true");
  const bool right = given ? call.integer(2) == 1 : call.flag(1);
  Tensor rows = call.input(0);
  if (call.has(2)) rows = gather(rows, rows.ndim() - 1, call.input(2));
  return {places_in(rows, call.input(1), right, call.flag(0))};
}
const ParamSpec kInt32{"out_int32", ParamKind::boolean, false};
const ParamSpec kRight{"right", ParamKind::boolean, false};
const Op kSearchsorted{
    .name = "searchsorted",
    .doc =
        "The place (from 0) before which each element of input keeps the last dim of sorted_sequence sorted: "
        "the first such place or, with right, the last. sorter holds the indices that sort the sequence.",
    .inputs = {{"sorted_sequence"}, {"input"}, {"sorter", true}},
    .params = {kInt32,
               kRight,
               {.name = "side", .kind = ParamKind::choice, .choices = {"left", "right"}, .optional = true}},
    .compose = searchsorted_compose,
    .integer_inputs = 0b100,
    .family = OpFamily::other,
    .order = {"sorted_sequence", "input", "out_int32", "right", "side", "sorter"},
    .number_inputs = 0b10,
    .examples = {{.inputs = {{{1}, -1, 1}, {{2, 3}}}},
                 {.inputs = {{{2, 1}, -1, 1}, {{2, 3}}}, .params = {true, true}},
                 {.inputs = {{{2, 1}}, {{3, 3}}}, .error = "all dims but the last"},
                 {.inputs = {{{}}, {{3}}}, .error = "at least one dim"}}};

Operands bucketize_compose(const Call& call) {
  const Tensor& boundaries = call.input(1);
  if (boundaries.ndim() != 1)
    fail("bucketize: boundaries must have one dim (got shape ", boundaries.shape(), ")");
  return {places_in(boundaries, call.input(0), call.flag(1), call.flag(0))};
}
const Op kBucketize{
    .name = "bucketize",
    .doc =
        "The number (from 0) of the interval between the sorted boundaries that holds each "
        "element of input; with right a boundary belongs to the interval after it.",
    .inputs = {{"input"}, {"boundaries"}},
    .params = {kInt32, kRight},
    .compose = bucketize_compose,
    .family = OpFamily::other,
    .number_inputs = 0b01,
    .examples = {{.inputs = {{{2, 3}}, {{1}, -1, 1}}}, {.inputs = {{{2, 3}}, {{2, 2}}}, .error = "one dim"}}};

// --- isin ---

Operands isin_compose(const Call& call) {
  const NoGrad off;
  const bool inverted = call.flag(1);
  Device& device = call.device();
  // A fractional number takes the type of the other operand, or the default type if the other operand is of
  // integers.
  const auto tensor_of = [&](const Tensor& x, const Tensor& other) {
    if (!x.is_number()) return x.detach();
    const DType type = is_differentiable(other.dtype()) ? other.dtype() : default_dtype();
    return is_floating(x.dtype()) ? full({}, x.item(), type, device)
                                  : full({}, x.item_integer(), DType::i64, device);
  };
  const Tensor elements = tensor_of(call.input(0), call.input(1));
  const Tensor given = tensor_of(call.input(1), call.input(0));
  const DType type = promote(elements.dtype(), given.dtype());
  const Tensor x = to(elements, type), tests = to(reshape(given, {given.numel()}), type);
  if (tests.numel() == 0) return {full(x.shape(), inverted, DType::boolean, device)};
  const Tensor ordered = sort(tests, 0).first;
  const Tensor places = clamp(apply1(kSearch, {ordered, x}, {false}), 0.0, double(tests.numel() - 1));
  const Tensor found = index_select(ordered, 0, reshape(places, {places.numel()}));
  const Tensor held = eq(reshape(found, x.shape()), x);
  return {inverted ? logical_not(held) : held};
}
const Op kIsin{
    .name = "isin",
    .doc = "Whether each element of elements is one of test_elements, or with invert is not.",
    .inputs = {{"elements"}, {"test_elements"}},
    .params = {{"assume_unique", ParamKind::boolean, false}, {"invert", ParamKind::boolean, false}},
    .compose = isin_compose,
    .family = OpFamily::other,
    .number_inputs = 0b11,
    .examples = {{.inputs = {{{3, 4}, 0, 6, kIndex}, {{3}, 0, 6, kIndex}}},
                 {.inputs = {{{3, 4}, 0, 6, kIndex}, {{2, 2}, 0, 6, kIndex}}, .params = {false, true}}}};

}  // namespace

std::span<const Op* const> count_ops() {
  static const Op* const ops[] = {&kBincount,     &kBins,   &kHistc,     &kIntervals,
                                  &kSearchsorted, &kSearch, &kBucketize, &kIsin};
  return ops;
}

}  // namespace lunagrad
