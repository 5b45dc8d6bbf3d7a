// The order along one dim: sort, argsort, topk, kthvalue, median, nanmedian. NaN counts as larger than
// everything; equal elements keep their order. Indices are data and count from 0; the gradient goes to the
// positions that they name.
#include "runtime/ops/index/cpu/sort.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "runtime/core/memory_limit.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/cpu/select.h"

namespace lunagrad {
namespace {

const ParamSpec kLastDim{"dim", ParamKind::dim, -1};
const ParamSpec kStable{"stable", ParamKind::boolean, false};  // no effect: every sort is stable

int dim_at(const Call& call, int at) {
  return normalize_dim(call.op->name, call.integer(at), call.input(0).shape());
}

// Calls f.operator()<Entry>() with the type of the sort entries for n elements of type T.
template <class T, class F>
auto with_entry(int64_t n, F&& f) {
  if constexpr (sizeof(T) < 8)
    if (n <= std::numeric_limits<uint32_t>::max()) return f.template operator()<Packed>();
  return f.template operator()<Keyed>();
}

template <class T>
auto keys_of(const T* x, bool descending) {
  using Key = decltype(sort_key(*x));
  return [x, flip = descending ? ~Key(0) : Key(0)](int64_t i) { return Key(sort_key(x[i]) ^ flip); };
}

// Calls use(i, place) for the positions of the first `count` of n elements in sorted order.
template <class T, class F>
void order_row(const T* x, int64_t n, bool descending, int64_t count, F&& use) {
  if (count == 0) return;
  with_entry<T>(n, [&]<class Entry>() {
    const auto key_at = keys_of(x, descending);
    const bool all = count > n / 2;  // then all are sorted, without a selection first
    const int64_t sorted = all ? n : count;
    EntryRoom<Entry> memory(2 * sorted);
    Entry* const entries = memory.data();
    if (all) {
      in_pieces(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) entries[i] = Entry::of(key_at(i), i);
      });
      sort_entries(entries, entries + n, n);
    } else {
      select_first(n, count, key_at, entries, entries + count);
    }
    in_pieces(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) use(i, entries[i].place());
    });
  });
}

// Writes the first `count` elements of each row in sorted order, and their positions.
template <class T>
void order_rows(const Tensor& x, int dim, bool descending, int64_t count, T* values, int64_t* indices) {
  const Split split(with_one_dim(x.shape()), dim);
  check_room(size_t(split.size), 2 * sizeof(Keyed));
  for_rows(split, std::array{static_cast<const T*>(x.raw())}, static_cast<T*>(nullptr),
           [&](int64_t row, const auto& in, T*) {
             const int64_t base = row / split.inner * count * split.inner + row % split.inner;
             order_row(in[0], split.size, descending, count, [&](int64_t i, int64_t place) {
               values[base + i * split.inner] = in[0][place];
               indices[base + i * split.inner] = place;
             });
           });
}

// Calls f.operator()<T>() with the type as which the elements of x are compared.
template <class F>
void visit_ordered(const Tensor& x, F&& f) {
  visit_dtype(x.dtype(), [&]<class T>() {
    // bool is sorted as a byte; 16-bit floats were converted to f32 before.
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if constexpr (std::is_arithmetic_v<Element>) f.template operator()<Element>();
  });
}

void order_into(const Call& call, int dim, bool descending, int64_t count) {
  const Tensor x = in_order(call.input(0));
  visit_ordered(x, [&]<class T>() {
    order_rows(x, dim, descending, count, static_cast<T*>(call.output(0).raw()),
               call.output(1).data<int64_t>());
  });
}

// Zeros, with a given size along dim and the elements of input at the positions that index names. No position
// occurs twice in a lane, so that devices may write in any order.
void spread_shape(Call& call) {
  Shape shape = call.input(0).shape();
  shape[dim_at(call, 0)] = call.integer(1);
  call.emit(shape, call.input(0).dtype());
}
Operands spread_compose(const Call& call) {
  const Tensor& x = call.input(0);
  Shape shape = x.shape();
  const int dim = dim_at(call, 0);
  shape[dim] = call.integer(1);
  return {scatter_add(blank(shape, x.dtype(), x.device()), dim, call.input(1), x)};
}
void spread_vjp(Backward& b) { b.set(0, gather(b.grad(), int(b.integer(0)), b.input(1))); }
const Op kSpread{
    .name = "_spread",
    .doc = "Zeros with the elements of input at the positions index, each of which occurs once in a lane.",
    .inputs = {{"input"}, {"index"}},
    .params = {{"dim", ParamKind::dim, {}}, {"size", ParamKind::integer, {}}},
    .shape = spread_shape,
    .vjp = spread_vjp,
    .reads = {{.inputs = 2}},
    .compose = spread_compose,
    .integer_inputs = 2,
    .family = OpFamily::other,
    .flops = kMovesData};

// Sets the gradient of values taken along dim at the indices in output 1.
void set_taken_gradient(Backward& b, int64_t dim) {
  const Tensor g = b.grad();
  if (b.shape(0).empty()) return b.set(0, g);
  const int at = normalize_dim(b.node().op->name, dim, b.shape(0));
  b.set(0, apply1(kSpread, {contiguous(g), contiguous(b.output(1))}, {at, b.shape(0)[at]}));
}

double comparisons(const Call& call, double kept) {
  return elements(call.in[0]) * std::ceil(std::log2(std::max(2.0, kept)));
}
double sort_flops(const Call& call) {
  return comparisons(call, double(with_one_dim(call.input(0).shape())[dim_at(call, 0)]));
}
double topk_flops(const Call& call) { return comparisons(call, double(call.integer(0))); }

void sort_shape(Call& call) {
  dim_at(call, 0);
  call.emit(call.input(0).shape(), call.input(0).dtype());
  call.emit(call.input(0).shape(), DType::i64);
}
void sort_cpu(const Call& call) {
  const int dim = dim_at(call, 0);
  order_into(call, dim, call.flag(1), with_one_dim(call.input(0).shape())[dim]);
}
void sort_vjp(Backward& b) { set_taken_gradient(b, b.integer(0)); }
const Op kSort{.name = "sort",
               .doc = "The elements in order along dim, and the indices (from 0) where they were; stable.",
               .inputs = {{"input"}},
               .params = {kLastDim, {"descending", ParamKind::boolean, false}, kStable},
               .shape = sort_shape,
               .cpu = sort_cpu,
               .vjp = sort_vjp,
               .reads = {{.outputs = 2}},
               .half_through_f32 = true,
               .family = OpFamily::other,
               .flops = {sort_flops, "elements x log2 of the size of the dim, for the comparisons"}};

// The first result of sort, for unique.
void sorted_shape(Call& call) {
  dim_at(call, 0);
  call.emit(call.input(0).shape(), call.input(0).dtype());
}
Operands sorted_compose(const Call& call) {
  return {apply(kSort, {call.input(0).detach()}, {call.params[0], false, false})[0]};
}
const Op kSorted{.name = "_sorted",
                 .doc = "The elements in order along dim, without their indices.",
                 .inputs = {{"input"}},
                 .params = {kLastDim},
                 .shape = sorted_shape,
                 .compose = sorted_compose,
                 .family = OpFamily::other,
                 .flops = {sort_flops, "elements x log2 of the size of the dim, for the comparisons"}};

Operands argsort_compose(const Call& call) {
  return {apply(kSort, {call.input(0).detach()}, call.params)[1]};
}
const Op kArgsort{.name = "argsort",
                  .doc = "The indices (from 0) that sort input along dim; stable.",
                  .inputs = {{"input"}},
                  .params = {kLastDim, {"descending", ParamKind::boolean, false}, kStable},
                  .compose = argsort_compose,
                  .family = OpFamily::other};

void topk_shape(Call& call) {
  Shape shape = with_one_dim(call.input(0).shape());
  const int dim = dim_at(call, 1);
  const int64_t k = call.integer(0);
  if (k < 0 || k > shape[dim])
    fail("topk: k must lie in 0 to ", shape[dim], ", the size of dim ", dim + 1, " (got ", k, ")");
  if (!call.input(0).shape().empty()) shape[dim] = k;
  if (call.input(0).shape().empty()) shape = {};
  call.emit(shape, call.input(0).dtype());
  call.emit(shape, DType::i64);
}
void topk_cpu(const Call& call) { order_into(call, dim_at(call, 1), call.flag(2), call.integer(0)); }
void topk_vjp(Backward& b) { set_taken_gradient(b, b.integer(1)); }
const Op kTopk{.name = "topk",
               .doc = "The k largest (or smallest) elements along dim in order, and their indices (from 0).",
               .inputs = {{"input"}},
               .params = {{"k", ParamKind::integer, {}},
                          kLastDim,
                          {"largest", ParamKind::boolean, true},
                          {"sorted", ParamKind::boolean, true}},
               .shape = topk_shape,
               .cpu = topk_cpu,
               .vjp = topk_vjp,
               .reads = {{.outputs = 2}},
               .half_through_f32 = true,
               .family = OpFamily::other,
               .flops = {topk_flops, "elements x log2 of k, for the comparisons"}};

// --- one element of the order: kthvalue, median, nanmedian ---

enum class Which : int64_t {
  kth,       // the k-th, from 0
  median,    // the lower of the two middle elements, or NaN if there is one
  nanmedian  // the median of the elements that are not NaN; NaN if there are none
};
constexpr int kPlaceAt = 0, kPlaceDimAt = 1, kWhichAt = 2;

template <class T>
int64_t nans_in(const T* x, int64_t n) {
  if constexpr (!std::is_floating_point_v<T>) return 0;
  std::atomic<int64_t> total{0};
  parallel_for(n, 1 << 15, [&](int64_t begin, int64_t end) {
    int64_t found = 0;
    for (int64_t i = begin; i < end; ++i) found += x[i] != x[i];
    total += found;
  });
  return total;
}

// The position of the wanted element in the sorted order of n elements; NaN comes last.
int64_t place_of(Which which, int64_t k, int64_t n, int64_t nans) {
  if (which == Which::kth) return k;
  if (which == Which::nanmedian) return std::max<int64_t>(n - nans - 1, 0) / 2;
  return nans > 0 ? n - 1 : (n - 1) / 2;
}

void place_shape(Call& call) {
  Shape shape = with_one_dim(call.input(0).shape());
  shape[dim_at(call, kPlaceDimAt)] = 1;
  call.emit(shape, call.input(0).dtype());
  call.emit(shape, DType::i64);
}
void place_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Split split(with_one_dim(x.shape()), dim_at(call, kPlaceDimAt));
  const Which which = Which(call.integer(kWhichAt));
  const int64_t n = split.size;
  check_room(size_t(n), 2 * sizeof(Keyed));
  int64_t* const indices = call.output(1).data<int64_t>();
  visit_ordered(x, [&]<class T>() {
    T* const values = static_cast<T*>(call.output(0).raw());
    for_rows(split, std::array{static_cast<const T*>(x.raw())}, static_cast<T*>(nullptr),
             [&](int64_t row, const auto& in, T*) {
               const int64_t nans = which == Which::kth ? 0 : nans_in(in[0], n);
               const int64_t place = place_of(which, call.integer(kPlaceAt), n, nans);
               with_entry<T>(n, [&]<class Entry>() {
                 indices[row] = select_place<Entry>(n, place, keys_of(in[0], false)).place();
               });
               values[row] = in[0][indices[row]];
             });
  });
}
// For devices that sort whole rows.
Operands place_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = dim_at(call, kPlaceDimAt);
  const int64_t n = x.size(dim), k = call.integer(kPlaceAt);
  const Which which = Which(call.integer(kWhichAt));
  constexpr int64_t kFew = 32;  // up to this k, topk finds the smallest elements without sorting all
  const Operands ordered = which == Which::kth && k < kFew ? apply(kTopk, {x}, {k + 1, dim, false, true})
                                                           : apply(kSort, {x}, {dim, false, false});
  Operands results;
  if (which == Which::nanmedian) {
    Tensor places;
    {
      const NoGrad off;
      const Tensor one = Tensor::number(int64_t(1)), two = Tensor::number(int64_t(2));
      const Tensor numbers = sum(logical_not(isnan(x.detach())), {dim}, true);
      places = floor_divide(clamp(numbers - one, 0.0), two);
    }
    for (const Tensor& y : ordered) results.push_back(gather(y, dim, places));
    return results;
  }
  const Tensor poisoned = which == Which::median ? isnan(narrow(ordered[0], dim, n - 1, 1)) : Tensor();
  for (const Tensor& y : ordered) {
    const Tensor wanted = narrow(y, dim, which == Which::median ? (n - 1) / 2 : k, 1);
    results.push_back(poisoned.defined() ? where(poisoned, narrow(y, dim, n - 1, 1), wanted) : wanted);
  }
  return results;
}
void place_vjp(Backward& b) { set_taken_gradient(b, b.integer(kPlaceDimAt)); }
double place_flops(const Call& call) { return 4 * elements(call.in[0]); }
const Op kPlace{
    .name = "_kthvalue",
    .doc = "One element of the sorted order along dim, and its index (from 0).",
    .inputs = {{"input"}},
    .params = {{"k", ParamKind::integer, {}},
               {"dim", ParamKind::dim, {}},
               {.name = "which", .kind = ParamKind::choice, .choices = {"kth", "median", "nanmedian"}}},
    .shape = place_shape,
    .cpu = place_cpu,
    .vjp = place_vjp,
    .reads = {{.outputs = 2}},
    .compose = place_compose,
    .half_through_f32 = true,
    .family = OpFamily::reduction,
    .flops = {place_flops, "4 for each element, for the comparisons"}};

Operands one_of_order(const Tensor& x, Which which, int64_t k, int dim, bool keepdim) {
  const Tensor line = x.ndim() == 0 ? reshape(x, {1}) : x;
  Operands results = apply(kPlace, {line}, {k, dim, int64_t(which)});
  if (x.ndim() == 0 || !keepdim)
    for (Tensor& y : results) y = squeeze(y, dim);
  return results;
}

Operands kthvalue_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = dim_at(call, 1);
  const int64_t k = call.integer(0), n = with_one_dim(x.shape())[dim];
  if (k < 1 || k > n)
    fail("kthvalue: k must lie in 1 to ", n, ", the size of dim ", dim + 1, " (got ", k, ")");
  return one_of_order(x, Which::kth, k - 1, dim, call.flag(2));
}
const Op kKthvalue{
    .name = "kthvalue",
    .doc = "The k-th smallest element along dim, and its index (from 0).",
    .inputs = {{"input"}},
    .params = {{"k", ParamKind::integer, {}}, kLastDim, {"keepdim", ParamKind::boolean, false}},
    .compose = kthvalue_compose,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{{2, 5}}}, .params = {Value(2)}},
                 {.inputs = {{{4, 3}}}, .params = {Value(3), Value(0), true}},
                 {.inputs = {{{2, 5}}}, .params = {Value(6)}, .error = "1 to 5"}}};

Operands middle_compose(const Call& call, Which which) {
  const Tensor& x = call.input(0);
  if (is_complex(x.dtype())) fail(call.op->name, ": complex numbers are not supported (got ", x.dtype(), ")");
  const bool whole = !call.params[0].present();
  const Tensor line = whole ? reshape(x, {x.numel()}) : x;
  const int dim = whole ? 0 : dim_at(call, 0);
  if (with_one_dim(line.shape())[dim] == 0)
    fail(call.op->name, ": cannot reduce an empty tensor without an identity (shape ", x.shape(), ")");
  Operands results = one_of_order(line, which, 0, dim, !whole && call.flag(1));
  if (whole) return {results[0]};
  return results;
}
const std::vector<ParamSpec> kMiddleParams = {{.name = "dim", .kind = ParamKind::dim, .optional = true},
                                              {"keepdim", ParamKind::boolean, false}};
Operands median_compose(const Call& call) { return middle_compose(call, Which::median); }
const Op kMedian{.name = "median",
                 .doc = "The middle element, the lower of two; with dim also its index (from 0).",
                 .inputs = {{"input"}},
                 .params = kMiddleParams,
                 .compose = median_compose,
                 .family = OpFamily::reduction};
Operands nanmedian_compose(const Call& call) { return middle_compose(call, Which::nanmedian); }
const Op kNanmedian{.name = "nanmedian",
                    .doc = "median of the elements that are not NaN.",
                    .inputs = {{"input"}},
                    .params = kMiddleParams,
                    .compose = nanmedian_compose,
                    .family = OpFamily::reduction,
                    .examples = {{.inputs = {{{2, 3}}}},
                                 {.inputs = {{{2, 5}}}, .params = {Value(1)}},
                                 {.inputs = {{{4, 3}}}, .params = {Value(0), true}}}};

}  // namespace

std::pair<Tensor, Tensor> sort(const Tensor& x, int dim, bool descending) {
  Operands both = apply(kSort, {x}, {dim, descending, false});
  return {both[0], both[1]};
}
Tensor argsort(const Tensor& x, int dim, bool descending) {
  return apply1(kArgsort, {x}, {dim, descending, false});
}
std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int dim, bool largest) {
  Operands both = apply(kTopk, {x}, {k, dim, largest, true});
  return {both[0], both[1]};
}
Tensor median(const Tensor& x) { return apply1(kMedian, {x}, {Value(), false}); }

std::span<const Op* const> sort_ops() {
  static const Op* const ops[] = {&kSort,  &kSorted,   &kArgsort, &kTopk,     &kSpread,
                                  &kPlace, &kKthvalue, &kMedian,  &kNanmedian};
  return ops;
}

}  // namespace lunagrad
