// unique and unique_consecutive: elements (or slices of a dim) without repetitions, where each element went,
// and how often each occurs. Compositions of sort, comparison and nonzero; only the order of whole slices has
// a kernel of its own.
#include <algorithm>
#include <numeric>

#include "runtime/cpu/pieces.h"
#include "runtime/cpu/sort.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

// --- the order of the rows of a matrix ---

void row_order_shape(Call& call) { call.emit({call.input(0).size(0)}, DType::i64); }
void row_order_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const int64_t rows = x.size(0), columns = x.size(1);
  int64_t* const order = call.output().data<int64_t>();
  std::iota(order, order + rows, int64_t(0));
  visit_dtype(x.dtype(), [&]<class T>() {
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if constexpr (std::is_arithmetic_v<Element>) {
      const Element* const values = static_cast<const Element*>(x.raw());
      std::sort(order, order + rows, stoppable([=](int64_t a, int64_t b) {
                  for (int64_t c = 0; c < columns; ++c) {
                    const auto one = sort_key(values[a * columns + c]), other = sort_key(values[b * columns + c]);
                    if (one != other) return one < other;
                  }
                  return a < b;
                }));
    }
  });
}
double row_order_flops(const Call& call) {
  return elements(call.in[0]) * std::ceil(std::log2(std::max(2.0, double(call.input(0).size(0)))));
}
const Op kRowOrder{.name = "_row_order",
                   .doc = "The indices that sort the rows of a matrix, the first column first; stable.",
                   .inputs = {{"input"}},
                   .shape = row_order_shape,
                   .cpu = row_order_cpu,
                   .half_through_f32 = true,
                   .family = OpFamily::other,
                   .flops = {row_order_flops, "elements x log2 of the rows, for the comparisons"}};

// --- runs of equal elements ---

// What the calls ask for: the rows [n, …] of the result in their order, and where row i came from (undefined:
// they are in their place).
Operands without_repeats(const Tensor& rows, const Tensor& places, const Shape& inverse_shape, bool inverse,
                         bool counts) {
  const int64_t n = rows.size(0);
  Device& device = rows.device();
  Tensor changes = ones({std::min<int64_t>(n, 1)}, DType::boolean, device);  // whether row i begins a run
  if (n > 1) {
    Tensor differs = ne(narrow(rows, 0, 1, n - 1), narrow(rows, 0, 0, n - 1));
    if (rows.ndim() > 1) differs = any(reshape(differs, {n - 1, differs.numel() / (n - 1)}), {1});
    changes = cat({changes, differs}, 0);
  }
  const Tensor starts = flatten(nonzero(changes));
  Operands results{index_select(rows, 0, starts)};
  if (inverse) {
    const Tensor numbers = cumsum(changes, 0) - Tensor::number(int64_t(1));
    const Tensor back = places.defined() ? scatter(zeros({n}, DType::i64, device), 0, places, numbers) : numbers;
    results.push_back(reshape(back, inverse_shape));
  }
  if (counts) {
    const Tensor end = full({std::min<int64_t>(n, 1)}, n, DType::i64, device);
    const Tensor bounds = cat({starts, end}, 0);
    const int64_t runs = starts.size(0);
    results.push_back(runs == 0 ? starts : narrow(bounds, 0, 1, runs) - narrow(bounds, 0, 0, runs));
  }
  return results;
}

Operands unique_of(const char* op, const Tensor& given, const Value& dim_value, bool in_runs, bool inverse,
                   bool counts) {
  const NoGrad off;
  const Tensor x = given.detach();
  if (!dim_value.present()) {
    const Tensor line = reshape(x, {x.numel()});
    if (in_runs) return without_repeats(line, {}, x.shape(), inverse, counts);
    auto [values, places] = sort(line, 0);
    return without_repeats(values, places, x.shape(), inverse, counts);
  }
  const int dim = normalize_dim(op, dim_value.i, x.shape());
  if (x.ndim() == 0) fail(op, ": a scalar tensor has no dims");
  Tensor rows = contiguous(movedim(x, {dim}, {0}));
  const int64_t n = rows.size(0);
  Tensor places;
  if (!in_runs && n > 0) {
    places = apply1(kRowOrder, {reshape(rows, {n, rows.numel() / n})});
    rows = index_select(rows, 0, places);
  }
  Operands results = without_repeats(rows, places, {n}, inverse, counts);
  results[0] = movedim(results[0], {0}, {dim});
  return results;
}
Operands unique_compose(const Call& call) {
  return unique_of("unique", call.input(0), call.params[3], false, call.flag(1), call.flag(2));
}
Operands unique_consecutive_compose(const Call& call) {
  return unique_of("unique_consecutive", call.input(0), call.params[2], true, call.flag(0), call.flag(1));
}
const ParamSpec kInverse{"return_inverse", ParamKind::boolean, false};
const ParamSpec kCounts{"return_counts", ParamKind::boolean, false};
const ParamSpec kDim{.name = "dim", .kind = ParamKind::dim, .optional = true};
const OpExample::Types kNumbers = OpExample::Types::any;
ExampleOperand small_numbers(const Shape& shape) { return {shape, 0, 3, ExampleOperand::Kind::index}; }

const Op kUnique{
    .name = "unique",
    .doc = "The different elements of input, or slices of dim, in order; with return_inverse also which of them "
           "(from 0) each one is, with return_counts also how often each occurs.",
    .inputs = {{"input"}},
    .params = {{"sorted", ParamKind::boolean, true}, kInverse, kCounts, kDim},
    .compose = unique_compose,
    .family = OpFamily::other,
    .examples = {{.inputs = {small_numbers({3, 5})}, .types = kNumbers},
                 {.inputs = {small_numbers({3, 5})}, .params = {true, true, true}},
                 {.inputs = {{{7}, -2, 2}}, .params = {true, true, true}, .second_order = false},
                 {.inputs = {small_numbers({9, 2})}, .params = {true, true, true, Value(0)}},
                 {.inputs = {small_numbers({1, 6})}, .params = {true, false, true, Value(1)}},
                 {.inputs = {small_numbers({3})}, .params = {true, false, false, Value(1)},
                  .error = "out of range"}}};
const Op kUniqueConsecutive{
    .name = "unique_consecutive",
    .doc = "The first element of each run of equal elements of input, or of slices of dim; with return_inverse "
           "also the run (from 0) of each element, with return_counts also the lengths.",
    .inputs = {{"input"}},
    .params = {kInverse, kCounts, kDim},
    .compose = unique_consecutive_compose,
    .family = OpFamily::other,
    .examples = {{.inputs = {small_numbers({3, 5})}},
                 {.inputs = {small_numbers({3, 5})}, .params = {true, true}},
                 {.inputs = {small_numbers({9, 1})}, .params = {true, true, Value(0)}}}};

}  // namespace

std::span<const Op* const> unique_ops() {
  static const Op* const ops[] = {&kUnique, &kUniqueConsecutive, &kRowOrder};
  return ops;
}

}  // namespace lunagrad
