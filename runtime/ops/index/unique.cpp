// unique and unique_consecutive: elements (or slices of a dim) without repetitions, where each element went,
// and how often each occurs. Compositions of sort, comparison and nonzero; the order of whole slices and the
// marks of integers that lie close together have kernels of their own.
#include <algorithm>
#include <atomic>
#include <concepts>
#include <numeric>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/pieces.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/cpu/sort.h"
#include "runtime/ops/index/listed.h"

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
                    const auto one = sort_key(values[a * columns + c]),
                               other = sort_key(values[b * columns + c]);
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

// --- integers of a small range ---

// The smallest and the largest element, in one pass.
void range_shape(Call& call) { call.emit({2}, DType::i64); }
void range_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  int64_t* const to = call.output().data<int64_t>();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const values = x.data<T>();
      std::atomic<int64_t> low = int64_t(values[0]), high = int64_t(values[0]);
      parallel_for(x.numel(), 1 << 15, [&](int64_t begin, int64_t end) {
        T least = values[begin], most = values[begin];
        for (int64_t i = begin; i < end; ++i) {
          least = std::min(least, values[i]);
          most = std::max(most, values[i]);
        }
        for (int64_t seen = low; int64_t(least) < seen && !low.compare_exchange_weak(seen, int64_t(least));) {
        }
        for (int64_t seen = high; int64_t(most) > seen && !high.compare_exchange_weak(seen, int64_t(most));) {
        }
      });
      to[0] = low;
      to[1] = high;
    }
  });
}
Operands range_compose(const Call& call) {
  return {to(stack({min(call.input(0)), max(call.input(0))}), DType::i64)};
}
const Op kRange{.name = "_range",
                .doc = "The smallest and the largest of integers.",
                .inputs = {{"input"}},
                .shape = range_shape,
                .cpu = range_cpu,
                .compose = range_compose,
                .integer_inputs = 1,
                .family = OpFamily::reduction,
                .flops = {for_input<2>, "2 for each element, for the comparisons"}};

// Which of low, low + 1, … occur.
void present_shape(Call& call) { call.emit({call.integer(1)}, DType::boolean); }
void present_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  bool* const marks = call.output().data<bool>();
  const int64_t low = call.integer(0);
  std::fill_n(marks, call.integer(1), false);
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* const values = x.data<T>();
      in_pieces(x.numel(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) marks[int64_t(values[i]) - low] = true;
      });
    }
  });
}
Operands present_compose(const Call& call) {
  const Tensor places = to(call.input(0), DType::i64) - Tensor::number(call.integer(0));
  const Tensor none = zeros({call.integer(1)}, DType::u8, call.input(0).device());
  return {to(scatter(none, 0, places, Tensor::number(int64_t(1))), DType::boolean)};
}
const Op kPresent{.name = "_present",
                  .doc = "Which of count numbers from low occur among integers.",
                  .inputs = {{"input"}},
                  .params = {{"low", ParamKind::integer, {}}, {"count", ParamKind::integer, {}}},
                  .shape = present_shape,
                  .cpu = present_cpu,
                  .compose = present_compose,
                  .integer_inputs = 1,
                  .family = OpFamily::other,
                  .flops = kMovesData};

// unique of integers whose range is hardly larger than their number. Returns no results if the range is
// larger.
Operands unique_in_range(const Tensor& line, const Shape& inverse_shape, bool inverse, bool counts) {
  const int64_t n = line.numel();
  if (n == 0 || is_differentiable(line.dtype()) || line.dtype() == DType::boolean) return {};
  const std::vector<int64_t> range = apply1(kRange, {line}).to_vector<int64_t>();
  const uint64_t span = uint64_t(range[1]) - uint64_t(range[0]);
  if (span >= uint64_t(std::max<int64_t>(n, 1024))) return {};
  const int64_t count = int64_t(span) + 1;
  const Tensor low = Tensor::number(range[0]);
  Tensor places, sums;
  if (inverse || counts) places = to(line, DType::i64) - low;
  if (counts) {
    static const Op& bincount_op = *find_op("_bincount");
    sums = apply1(bincount_op, {places, {}}, {count});
  }
  const Tensor present =
      counts ? gt(sums, Tensor::number(int64_t(0))) : apply1(kPresent, {line}, {range[0], count});
  const Tensor found = flatten(nonzero(present));
  Operands results{to(found + low, line.dtype())};
  if (inverse) {
    const Tensor numbers = cumsum(present, 0) - Tensor::number(int64_t(1));
    results.push_back(reshape(index_select(numbers, 0, places), inverse_shape));
  }
  if (counts) results.push_back(index_select(sums, 0, found));
  return results;
}

// --- runs of equal elements ---

// Calls f(piece, begin, end) for the elements of each piece, on all threads.
template <class F>
void for_run_pieces(int64_t n, F&& f) {
  parallel_for((n + kListedPiece - 1) / kListedPiece, 1, [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece)
      f(piece, piece * kListedPiece, std::min(n, (piece + 1) * kListedPiece));
  });
}

// Calls f(elements) for the elements of a contiguous line. 16-bit floats were converted to f32 before.
template <class F>
void visit_line(const Tensor& line, F&& f) {
  visit_any_dtype(line.dtype(), [&]<class T>() {
    if constexpr (std::equality_comparable<T>) f(static_cast<const T*>(line.raw()));
  });
}

// The number of runs that begin before each piece of a line, and in all of it.
void runs_before_shape(Call& call) { call.emit({listed_pieces(call.input(0)) + 1}, DType::i64); }
void runs_before_cpu(const Call& call) {
  const Tensor line = in_order(call.input(0)), &out = call.output();
  const int64_t n = line.numel();
  int64_t* const before = out.data<int64_t>();
  before[0] = 0;
  visit_line(line, [&](const auto* x) {
    for_run_pieces(n, [&](int64_t piece, int64_t begin, int64_t end) {
      int64_t runs = begin == 0;
      for (int64_t i = std::max<int64_t>(begin, 1); i < end; ++i) runs += x[i] != x[i - 1];
      before[piece + 1] = runs;
    });
  });
  std::partial_sum(before, before + out.numel(), before);
}
const Op kRunsBefore{
    .name = "_runs_before",
    .doc = "The number of runs of equal elements that begin before each piece of a line, and in all of it.",
    .inputs = {{"input"}},
    .shape = runs_before_shape,
    .cpu = runs_before_cpu,
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::other,
    .flops = kOnePerOperand};

// Operands: a line, and its _runs_before.
void runs_shape(Call& call) {
  const int64_t runs = listed_count(call.op->name, call.input(0), call.input(1));
  call.emit({runs}, call.input(0).dtype());
  if (call.flag(0)) call.emit({runs}, DType::i64);
}
void runs_cpu(const Call& call) {
  const Tensor line = in_order(call.input(0));
  const int64_t* const before = call.input(1).data<int64_t>();
  int64_t* const starts = call.flag(0) ? call.output(1).data<int64_t>() : nullptr;
  visit_line(line, [&]<class T>(const T* x) {
    T* const values = static_cast<T*>(call.output().raw());
    for_run_pieces(line.numel(), [&](int64_t piece, int64_t begin, int64_t end) {
      int64_t at = before[piece];
      const int64_t stop = before[piece + 1];
      // Without branches: the place of the next run is written over and over until that run begins.
      for (int64_t i = begin; i < end && at < stop; ++i) {
        values[at] = x[i];
        if (starts) starts[at] = i;
        at += i == 0 || x[i] != x[i - 1];
      }
    });
  });
}
const Op kRuns{.name = "_runs",
               .doc = "The element of each run of equal elements of a line, and where it begins (from 0).",
               .inputs = {{"input"}, {"before"}},
               .params = {{"starts", ParamKind::boolean, {}}},
               .shape = runs_shape,
               .cpu = runs_cpu,
               .half_through_f32 = true,
               .complex = true,
               .family = OpFamily::view,
               .flops = kOnePerOperand};

// Whether each of the rows [n, …] begins a run.
Tensor changes_of(const Tensor& rows) {
  const int64_t n = rows.size(0);
  const Tensor first = ones({std::min<int64_t>(n, 1)}, DType::boolean, rows.device());
  if (n <= 1) return first;
  Tensor differs = ne(narrow(rows, 0, 1, n - 1), narrow(rows, 0, 0, n - 1));
  if (rows.ndim() > 1) differs = any(reshape(differs, {n - 1, differs.numel() / (n - 1)}), {1});
  return cat({first, differs}, 0);
}

// The results that the calls ask for. `rows` [n, …] are the rows in sorted order with their repetitions.
// `places` says where row i came from (undefined: the rows were not moved).
Operands without_repeats(const Tensor& rows, const Tensor& places, const Shape& inverse_shape, bool inverse,
                         bool counts) {
  const int64_t n = rows.size(0);
  Device& device = rows.device();
  Operands results;
  Tensor changes, starts;
  if (!inverse && rows.ndim() == 1 && (device.is_cpu() || n > 0)) {
    const Tensor line = contiguous(rows);
    const Operands runs = apply(kRuns, {line, apply1(kRunsBefore, {line})}, {counts});
    results.push_back(runs[0]);
    if (counts) starts = runs[1];
  } else {
    changes = changes_of(rows);
    starts = flatten(nonzero(changes));
    results.push_back(index_select(rows, 0, starts));
  }
  if (inverse) {
    const Tensor numbers = cumsum(changes, 0) - Tensor::number(int64_t(1));
    const Tensor back =
        places.defined() ? scatter(blank({n}, DType::i64, device), 0, places, numbers) : numbers;
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
    Operands quick = unique_in_range(line, x.shape(), inverse, counts);
    if (!quick.empty()) return quick;
    if (!inverse)
      return without_repeats(apply1(*find_op("_sorted"), {line}, {0}), {}, x.shape(), false, counts);
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
const ParamSpec kOptionalDim{.name = "dim", .kind = ParamKind::dim, .optional = true};
const OpExample::Types kNumbers = OpExample::Types::any;
ExampleOperand small_numbers(const Shape& shape) { return {shape, 0, 3, ExampleOperand::Kind::index}; }

const Op kUnique{
    .name = "unique",
    .doc =
        "The different elements of input, or slices of dim, in order; with return_inverse also which of them "
        "(from 0) each one is, with return_counts also how often each occurs.",
    .inputs = {{"input"}},
    .params = {{"sorted", ParamKind::boolean, true}, kInverse, kCounts, kOptionalDim},
    .compose = unique_compose,
    .family = OpFamily::other,
    .examples = {
        {.inputs = {small_numbers({3, 5})}, .types = kNumbers},
        {.inputs = {small_numbers({3, 5})}, .params = {true, true, true}},
        {.inputs = {{{7}, -2, 2}}, .params = {true, true, true}, .second_order = false},
        {.inputs = {small_numbers({9, 2})}, .params = {true, true, true, Value(0)}},
        {.inputs = {small_numbers({1, 6})}, .params = {true, false, true, Value(1)}},
        {.inputs = {small_numbers({3})}, .params = {true, false, false, Value(1)}, .error = "out of range"}}};
const Op kUniqueConsecutive{
    .name = "unique_consecutive",
    .doc =
        "The first element of each run of equal elements of input, or of slices of dim; with return_inverse "
        "also the run (from 0) of each element, with return_counts also the lengths.",
    .inputs = {{"input"}},
    .params = {kInverse, kCounts, kOptionalDim},
    .compose = unique_consecutive_compose,
    .family = OpFamily::other,
    .examples = {{.inputs = {small_numbers({3, 5})}},
                 {.inputs = {small_numbers({3, 5})}, .params = {true, true}},
                 {.inputs = {small_numbers({9, 1})}, .params = {true, true, Value(0)}}}};

}  // namespace

std::span<const Op* const> unique_ops() {
  static const Op* const ops[] = {&kUnique,  &kUniqueConsecutive, &kRowOrder, &kRange,
                                  &kPresent, &kRunsBefore,        &kRuns};
  return ops;
}

}  // namespace lunagrad
