// Sorting along one dim: sort, argsort, topk, median. NaN counts as larger than everything; equal elements
// keep their order. Indices are data and count from 0; the gradient goes to the positions that they name.
#include "runtime/cpu/sort.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/memory_limit.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

const ParamSpec kLastDim{"dim", ParamKind::dim, -1};

int dim_of(const Call& call, int at) {
  return normalize_dim(call.op->name, call.integer(at), call.input(0).shape());
}

// Calls use(i, place) for the positions of the first `count` of n elements in sorted order.
template <class T, class F>
void order_row(const T* x, int64_t n, bool descending, int64_t count, F&& use) {
  if (sizeof(T) < 8 && n <= std::numeric_limits<uint32_t>::max()) {
    // Not initialized: that alone would take longer than a stop may.
    const std::unique_ptr<uint64_t[]> memory(new uint64_t[size_t(n) * (count == n ? 2 : 1)]);
    uint64_t* const keys = memory.get();
    in_pieces(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint32_t key = uint32_t(sort_key(x[i]));
        keys[i] = uint64_t(descending ? ~key : key) << 32 | uint64_t(i);
      }
    });
    if (count == n)
      sort_upper_halves(keys, keys + n, n);
    else
      std::partial_sort(keys, keys + count, keys + n, stoppable(std::less<>()));
    in_pieces(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) use(i, int64_t(keys[i] & 0xffffffff));
    });
    return;
  }
  struct Keyed {
    uint64_t key;
    int64_t place;
  };
  const auto before = stoppable(
      [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; });
  const std::unique_ptr<Keyed[]> memory(new Keyed[size_t(n)]);
  Keyed* const keys = memory.get();
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      keys[i] = {descending ? ~uint64_t(sort_key(x[i])) : sort_key(x[i]), i};
  });
  if (count == n)
    std::sort(keys, keys + n, before);
  else
    std::partial_sort(keys, keys + count, keys + n, before);
  in_pieces(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) use(i, keys[i].place);
  });
}

// Writes the first `count` elements of each row in sorted order, and their positions.
template <class T>
void order_rows(const Tensor& x, int dim, bool descending, int64_t count, T* values, int64_t* indices) {
  const Split split(with_one_dim(x.shape()), dim);
  check_room(size_t(split.size), 2 * sizeof(uint64_t));
  for_rows(split, std::array{static_cast<const T*>(x.raw())}, static_cast<T*>(nullptr),
           [&](int64_t row, const auto& in, T*) {
             const int64_t base = row / split.inner * count * split.inner + row % split.inner;
             order_row(in[0], split.size, descending, count, [&](int64_t i, int64_t place) {
               values[base + i * split.inner] = in[0][place];
               indices[base + i * split.inner] = place;
             });
           });
}

void order_into(const Call& call, int dim, bool descending, int64_t count) {
  const Tensor x = in_order(call.input(0));
  visit_dtype(x.dtype(), [&]<class T>() {
    // bool is sorted as a byte; 16-bit floats have been widened.
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if constexpr (std::is_arithmetic_v<Element>)
      order_rows(x, dim, descending, count, static_cast<Element*>(call.output(0).raw()),
                 call.output(1).data<int64_t>());
  });
}

// Sets the gradient of values taken along dim at the indices in output 1.
void set_taken_gradient(Backward& b, int64_t dim) {
  const Tensor g = b.grad();
  if (b.shape(0).empty()) return b.set(0, g);
  b.set(0, scatter_add(zeros(b.shape(0), g.dtype(), g.device()),
                       normalize_dim(b.node().op->name, dim, b.shape(0)), b.output(1), g));
}

double comparisons(const Call& call, double kept) {
  return elements(call.in[0]) * std::ceil(std::log2(std::max(2.0, kept)));
}
double sort_flops(const Call& call) {
  return comparisons(call, double(with_one_dim(call.input(0).shape())[dim_of(call, 0)]));
}
double topk_flops(const Call& call) { return comparisons(call, double(call.integer(0))); }

void sort_shape(Call& call) {
  dim_of(call, 0);
  call.emit(call.input(0).shape(), call.input(0).dtype());
  call.emit(call.input(0).shape(), DType::i64);
}
void sort_cpu(const Call& call) {
  const int dim = dim_of(call, 0);
  order_into(call, dim, call.flag(1), with_one_dim(call.input(0).shape())[dim]);
}
void sort_vjp(Backward& b) { set_taken_gradient(b, b.integer(0)); }
const Op kSort{.name = "sort",
               .doc = "The elements in order along dim, and the indices (from 0) where they were; stable.",
               .inputs = {{"input"}},
               .params = {kLastDim, {"descending", ParamKind::boolean, false}},
               .shape = sort_shape,
               .cpu = sort_cpu,
               .vjp = sort_vjp,
               .reads = {{.outputs = 2}},
               .half_through_f32 = true,
               .family = OpFamily::other,
               .flops = {sort_flops, "elements x log2 of the size of the dim, for the comparisons"}};

Operands argsort_compose(const Call& call) {
  return {apply(kSort, {call.input(0).detach()}, call.params)[1]};
}
const Op kArgsort{.name = "argsort",
                  .doc = "The indices (from 0) that sort input along dim; stable.",
                  .inputs = {{"input"}},
                  .params = {kLastDim, {"descending", ParamKind::boolean, false}},
                  .compose = argsort_compose,
                  .family = OpFamily::other};

void topk_shape(Call& call) {
  Shape shape = with_one_dim(call.input(0).shape());
  const int dim = dim_of(call, 1);
  const int64_t k = call.integer(0);
  if (k < 0 || k > shape[dim])
    fail("topk: k must lie in 0 to ", shape[dim], ", the size of dim ", dim + 1, " (got ", k, ")");
  if (!call.input(0).shape().empty()) shape[dim] = k;
  if (call.input(0).shape().empty()) shape = {};
  call.emit(shape, call.input(0).dtype());
  call.emit(shape, DType::i64);
}
void topk_cpu(const Call& call) { order_into(call, dim_of(call, 1), call.flag(2), call.integer(0)); }
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

// The lower of the two middle elements, or NaN if there is one: NaN sorts last.
Operands median_along(const Tensor& x, int dim, bool keepdim) {
  const int64_t n = x.ndim() == 0 ? 1 : x.size(dim);
  if (n == 0) fail("median: cannot reduce an empty tensor without an identity (shape ", x.shape(), ")");
  const Tensor line = x.ndim() == 0 ? reshape(x, {1}) : x;
  const Operands ordered = apply(kSort, {line}, {dim, false});
  const Tensor last = narrow(ordered[0], dim, n - 1, 1), poisoned = isnan(last);
  Operands results;
  for (const Tensor& y : ordered) {
    Tensor middle = where(poisoned, narrow(y, dim, n - 1, 1), narrow(y, dim, (n - 1) / 2, 1));
    results.push_back(keepdim && x.ndim() > 0 ? middle : squeeze(middle, dim));
  }
  return results;
}
Operands median_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (call.params[0].present()) return median_along(x, dim_of(call, 0), call.flag(1));
  return {median_along(reshape(x, {x.numel()}), 0, false)[0]};
}
const Op kMedian{.name = "median",
                 .doc = "The middle element, the lower of two; with dim also its index (from 0).",
                 .inputs = {{"input"}},
                 .params = {{.name = "dim", .kind = ParamKind::dim, .optional = true},
                            {"keepdim", ParamKind::boolean, false}},
                 .compose = median_compose,
                 .family = OpFamily::reduction};

}  // namespace

std::pair<Tensor, Tensor> sort(const Tensor& x, int dim, bool descending) {
  Operands both = apply(kSort, {x}, {dim, descending});
  return {both[0], both[1]};
}
Tensor argsort(const Tensor& x, int dim, bool descending) { return apply1(kArgsort, {x}, {dim, descending}); }
std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int dim, bool largest) {
  Operands both = apply(kTopk, {x}, {k, dim, largest, true});
  return {both[0], both[1]};
}
Tensor median(const Tensor& x) { return apply1(kMedian, {x}, {Value(), false}); }

std::span<const Op* const> sort_ops() {
  static const Op* const ops[] = {&kSort, &kArgsort, &kTopk, &kMedian};
  return ops;
}

}  // namespace lunagrad
