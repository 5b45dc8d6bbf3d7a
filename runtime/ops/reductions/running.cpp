// Running extremes and running log-sum-exp along one dim: cummax, cummin, logcumsumexp.
#include <cmath>

#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

const ParamSpec kDim{"dim", ParamKind::dim, {}};

int dim_of(const Call& call) { return normalize_dim(call.op->name, call.integer(0), call.input(0).shape()); }

// Calls walk(index of the row's first element, distance between its elements) for each row along the dim of
// contiguous memory. The rows are divided among the thread pool.
template <class F>
void for_lines(const Split& split, F&& walk) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, split.size));
  parallel_for(split.outer * split.inner, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line)
      walk(line / split.inner * split.size * split.inner + line % split.inner, split.inner);
  });
}

// --- cummax, cummin ---

void running_extreme_shape(Call& call) {
  dim_of(call);
  call.emit(call.input(0).shape(), call.input(0).dtype());
  call.emit(call.input(0).shape(), DType::i64);
}
// Among equal elements the last counts. A NaN stays, until a later NaN replaces it.
template <bool largest>
void running_extreme_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Split split(with_one_dim(x.shape()), dim_of(call));
  int64_t* const places = call.output(1).data<int64_t>();
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) {
      const T* const from = x.data<T>();
      T* const to = call.output(0).data<T>();
      for_lines(split, [&](int64_t first, int64_t step) {
        T best = from[first];
        int64_t place = 0;
        in_pieces(split.size, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T value = from[first + i * step];
            const bool stays = best != best ? value == value : largest ? value < best : value > best;
            if (!stays) best = value, place = i;
            to[first + i * step] = best;
            places[first + i * step] = place;
          }
        });
      });
    }
  });
}
void running_extreme_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.shape(0).empty()) return b.set(0, g);
  const int dim = normalize_dim(b.node().op->name, b.integer(0), b.shape(0));
  b.set(0, scatter_add(blank(b.shape(0), g.dtype(), g.device()), dim, b.output(1), g));
}
Op running_extreme_op(const char* name, const char* doc, void (*cpu)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kDim},
          .shape = running_extreme_shape,
          .cpu = cpu,
          .vjp = running_extreme_vjp,
          .reads = {{.outputs = 2}},
          .half_through_f32 = true,
          .family = OpFamily::reduction,
          .flops = {for_results<1>, "1 for each element of the result, for the comparison"},
          .examples = {{.inputs = {{{3, 4}}}, .params = {Value(1)}},
                       {.inputs = {{{3, 2, 4}}}, .params = {Value(0)}},
                       {.inputs = {{{}}}, .params = {Value(0)}},
                       {.inputs = {{{3, 4}}}, .params = {Value(2)}, .error = "out of range"}}};
}
const Op kCummax =
    running_extreme_op("cummax", "The largest element up to each position of dim, and where (from 0) it was.",
                       running_extreme_cpu<true>);
const Op kCummin = running_extreme_op(
    "cummin", "The smallest element up to each position of dim, and where (from 0) it was.",
    running_extreme_cpu<false>);

// --- logcumsumexp: y_i = log(exp(x_0) + … + exp(x_i)), or from the end ---

void log_sums_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype()))
    fail("logcumsumexp: a floating-point tensor is needed (got ", x.dtype(),
         "); convert it with :float() first");
  normalize_dim("logcumsumexp", call.integer(0), x.shape());
  call.emit(x.shape(), x.dtype());
}
void log_sums_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Split split(with_one_dim(x.shape()), normalize_dim("logcumsumexp", call.integer(0), x.shape()));
  const bool reverse = call.flag(1);
  const auto run = [&]<class T>() {
    const T* const from = x.data<T>();
    T* const to = call.output().data<T>();
    for_lines(split, [&](int64_t first, int64_t step) {
      if (reverse) first += (split.size - 1) * step, step = -step;
      // exp(top) * sum is the sum so far; top is its largest exponent.
      double top = -INFINITY, sum = 0;
      in_pieces(split.size, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double value = double(from[first + i * step]);
          if (value > top) {
            sum = (sum == 0 ? 0 : sum * std::exp(top - value)) + 1;
            top = value;
          } else if (value != -INFINITY) {
            sum += std::isinf(value) ? 1 : std::exp(value - top);
          }
          to[first + i * step] = T(std::isinf(top) && !std::isnan(sum) ? top : top + std::log(sum));
        }
      });
    });
  };
  x.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
void log_sums_vjp(Backward& b);
const Op kLogSums{.name = "_logcumsumexp",
                  .doc = "The running log-sum-exp along a dim, from either end.",
                  .inputs = {{"input"}},
                  .params = {kDim, {"reverse", ParamKind::boolean, false}},
                  .shape = log_sums_shape,
                  .cpu = log_sums_cpu,
                  .vjp = log_sums_vjp,
                  .reads = {{.inputs = 1, .outputs = 1}},
                  .half_through_f32 = true,
                  .family = OpFamily::reduction,
                  .flops = {for_results<4>, "4 for each element of the result: difference, exp, sum, log"}};
// dx_j = the sum over i >= j of g_i exp(x_j - y_i): a log-sum-exp from the other end for each sign of g.
void log_sums_vjp(Backward& b) {
  const Tensor g = b.grad(), x = b.input(0), y = b.output();
  const Tensor none = Tensor::number(-INFINITY), zero = Tensor::number(0.0), one = Tensor::number(1.0);
  const auto part = [&](const Tensor& wanted, const Tensor& size) {
    const Tensor weight = where(wanted, log(where(wanted, size, one)) - y, none);
    const Tensor sums = apply1(kLogSums, {weight}, {b.integer(0), !b.flag(1)});
    return where(eq(sums, none), zero, exp(where(eq(sums, none), zero, sums) + x));
  };
  b.set(0, part(gt(g, zero), g) - part(lt(g, zero), -g));
}
Operands logcumsumexp_compose(const Call& call) {
  return apply(kLogSums, {call.input(0)}, {call.params[0], false});
}
const Op kLogcumsumexp{
    .name = "logcumsumexp",
    .doc = "The logarithm of the running sums of exp(input) along dim, without overflow.",
    .inputs = {{"input"}},
    .params = {kDim},
    .compose = logcumsumexp_compose,
    .family = OpFamily::reduction,
    .autocast = AutocastPolicy::promote,
    .examples = {{.inputs = {{{3, 4}}}, .params = {Value(1)}, .types = OpExample::Types::floating},
                 {.inputs = {{{3, 2}}}, .params = {Value(0)}, .types = OpExample::Types::floating}}};

}  // namespace

std::span<const Op* const> running_ops() {
  static const Op* const ops[] = {&kCummax, &kCummin, &kLogcumsumexp, &kLogSums};
  return ops;
}

}  // namespace lunagrad
