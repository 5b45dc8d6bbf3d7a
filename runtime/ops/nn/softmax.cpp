// softmax, log_softmax and log-sum-exp along one dim, and their fused gradients.
#include "runtime/ops/nn/cpu/softmax.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

const ParamSpec kDim{"dim", ParamKind::dim, {}};

int softmax_dim(const Call& call) {
  return normalize_dim(call.op->name, call.integer(0), call.input(0).shape());
}

void softmax_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype()))
    fail(call.op->name, ": a floating-point tensor is needed (got ", x.dtype(),
         "); convert it with :float() first");
  softmax_dim(call);
  call.emit(x.shape(), x.dtype());
}

// Runs along the dim: row_kernel(row of each input, n, row of the output) if it is the last one, else
// column_kernel(inputs, n, stride of the rows, columns, output) on blocks of columns.
template <size_t inputs, class Rows, class Columns>
void run_along(const Call& call, Rows&& row_kernel, Columns&& column_kernel) {
  constexpr int64_t kFewColumns = 16;  // fewer columns are transposed instead
  const Split split(call.output().shape(), softmax_dim(call));
  const auto run = [&]<class T>() {
    std::array<Tensor, inputs> operands;
    std::array<const T*, inputs> in;
    for (size_t i = 0; i < inputs; ++i) {
      operands[i] = in_order(call.in[i]);
      in[i] = operands[i].template data<T>();
    }
    T* const out = call.output().data<T>();
    if (split.inner < kFewColumns)
      return for_rows(split, in, out, [&](int64_t, const auto& row, T* to) {
        if constexpr (inputs == 1)
          row_kernel(row[0], split.size, to);
        else
          row_kernel(row[0], row[1], split.size, to);
      });
    const int64_t tiles = (split.inner + kSoftmaxColumns - 1) / kSoftmaxColumns;
    const int64_t work = std::max<int64_t>(1, split.size * std::min(split.inner, kSoftmaxColumns));
    parallel_for(split.outer * tiles, std::max<int64_t>(1, (1 << 14) / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t tile = begin; tile < end; ++tile) {
                     const int64_t column = tile % tiles * kSoftmaxColumns;
                     const int64_t columns = std::min(kSoftmaxColumns, split.inner - column);
                     const int64_t at = tile / tiles * split.size * split.inner + column;
                     if constexpr (inputs == 1)
                       column_kernel(in[0] + at, split.size, split.inner, columns, out + at);
                     else
                       column_kernel(in[0] + at, in[1] + at, split.size, split.inner, columns, out + at);
                   }
                 });
  };
  call.output().dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
// An overloaded function as an argument.
#define LUNAGRAD_KERNEL(name) [](auto... arguments) { name(arguments...); }

// --- softmax: y = exp(x - max) / sum exp(x - max), dx = y (g - sum(g y)) ---

void softmax_cpu(const Call& call) {
  run_along<1>(call, LUNAGRAD_KERNEL(softmax_row), LUNAGRAD_KERNEL(softmax_columns));
}
void softmax_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
void softmax_grad_cpu(const Call& call) {
  run_along<2>(call, LUNAGRAD_KERNEL(softmax_grad_row), LUNAGRAD_KERNEL(softmax_grad_columns));
}
const Op kSoftmaxGrad{
    .name = "_softmax_grad",
    .doc = "The gradient of softmax from its result and the result's gradient.",
    .inputs = {{"grad"}, {"output"}},
    .params = {kDim},
    .shape = softmax_grad_shape,
    .cpu = softmax_grad_cpu,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .flops = {for_results<4>,
              "4 for each element of the result: a product and its sum, a difference, a product"}};
// y, with `otherwise` in place of each NaN whose gradient g is 0: that element was not used. The kernels of
// the gradient leave it out, too.
Tensor used(const Tensor& y, const Tensor& g, double otherwise) {
  return where(logical_and(isnan(y), eq(g, Tensor::number(0.0))), Tensor::number(otherwise), y);
}
void softmax_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (!b.create_graph()) return b.set(0, apply1(kSoftmaxGrad, {g, b.output()}, {b.integer(0)}));
  const Tensor y = used(b.output(), g, 0);
  b.set(0, y * (g - sum(g * y, {b.integer(0)}, true)));
}
const Op kSoftmax{
    .name = "softmax",
    .doc = "exp(input) / sum(exp(input)) along dim.",
    .inputs = {{"input"}},
    .params = {kDim},
    .shape = softmax_shape,
    .cpu = softmax_cpu,
    .vjp = softmax_vjp,
    .reads = {{.outputs = 1}},
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32,
    .flops = {for_results<5>, "5 for each element of the result: maximum, difference, exp, sum, quotient"}};

// --- log_softmax: y = x - max - log sum exp(x - max), dx = g - exp(y) sum(g) ---

void log_softmax_cpu(const Call& call) {
  run_along<1>(call, LUNAGRAD_KERNEL(log_softmax_row), LUNAGRAD_KERNEL(log_softmax_columns));
}
void log_softmax_grad_cpu(const Call& call) {
  run_along<2>(call, LUNAGRAD_KERNEL(log_softmax_grad_row), LUNAGRAD_KERNEL(log_softmax_grad_columns));
}
#undef LUNAGRAD_KERNEL
const Op kLogSoftmaxGrad{
    .name = "_log_softmax_grad",
    .doc = "The gradient of log_softmax from its result and the result's gradient.",
    .inputs = {{"grad"}, {"output"}},
    .params = {kDim},
    .shape = softmax_grad_shape,
    .cpu = log_softmax_grad_cpu,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .flops = {for_results<4>, "4 for each element of the result: exp, sum, product, difference"}};
void log_softmax_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (!b.create_graph()) return b.set(0, apply1(kLogSoftmaxGrad, {g, b.output()}, {b.integer(0)}));
  b.set(0, g - exp(used(b.output(), g, -INFINITY)) * sum(g, {b.integer(0)}, true));
}
const Op kLogSoftmax{
    .name = "log_softmax",
    .doc = "log(softmax(input)) along dim, without overflow.",
    .inputs = {{"input"}},
    .params = {kDim},
    .shape = softmax_shape,
    .cpu = log_softmax_cpu,
    .vjp = log_softmax_vjp,
    .reads = {{.outputs = 1}},
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32,
    .flops = {for_results<5>, "5 for each element of the result: maximum, difference, exp, sum, difference"}};

// --- both in another type ---

Operands softmax_in_type(const Call& call, const Op& op) {
  const Tensor& x = call.input(0);
  return apply(op, {call.params[1].present() ? to(x, DType(call.integer(1))) : x}, {call.params[0]});
}
Operands softmax_dtype_compose(const Call& call) { return softmax_in_type(call, kSoftmax); }
Operands log_softmax_dtype_compose(const Call& call) { return softmax_in_type(call, kLogSoftmax); }
const ParamSpec kDType{.name = "dtype", .kind = ParamKind::dtype, .optional = true};
const Op kSoftmaxDtype{.name = "_softmax_dtype",
                       .doc = "exp(input) / sum(exp(input)) along dim, computed in dtype.",
                       .inputs = {{"input"}},
                       .params = {kDim, kDType},
                       .compose = softmax_dtype_compose,
                       .family = OpFamily::normalization,
                       .short_form = "softmax"};
const Op kLogSoftmaxDtype{.name = "_log_softmax_dtype",
                          .doc = "log(softmax(input)) along dim, without overflow, computed in dtype.",
                          .inputs = {{"input"}},
                          .params = {kDim, kDType},
                          .compose = log_softmax_dtype_compose,
                          .family = OpFamily::normalization,
                          .short_form = "log_softmax"};

// --- log-sum-exp along one dim: y = log sum exp(x), dx = g exp(x - y), 0 where all x are -inf ---

void lse_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype()))
    fail("logsumexp: a floating-point tensor is needed (got ", x.dtype(),
         "); convert it with :float() first");
  Shape shape = x.shape();
  shape.erase(softmax_dim(call));
  call.emit(shape, x.dtype());
}
// The row kernel gives NaN for infinities, where the result is the largest element.
template <class T>
T lse_of_row(const T* x, int64_t n) {
  const double total = logsumexp_row(x, n);
  if (!std::isnan(total)) return T(total);
  const bool any_nan = std::any_of(x, x + n, [](T v) { return std::isnan(v); });
  return any_nan ? T(total) : *std::max_element(x, x + n);
}
void lse_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), &out = call.output();
  const Split split(x.shape(), softmax_dim(call));
  const auto run = [&]<class T>() {
    for_rows(split, std::array{static_cast<const T*>(x.data<T>())}, static_cast<T*>(nullptr),
             [&](int64_t row, const auto& in, T*) { out.data<T>()[row] = lse_of_row(in[0], split.size); });
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
void lse_vjp(Backward& b) {
  const int dim = normalize_dim("logsumexp", b.integer(0), b.shape(0));
  const Tensor y = b.output(), none = Tensor::number(-INFINITY);
  const Tensor from = where(eq(y, none), Tensor::number(0.0), y);
  b.set(0, unsqueeze(b.grad(), dim) * exp(b.input(0) - unsqueeze(from, dim)));
}
// m + log sum exp(x - m) with the largest element m: m cancels, so it gets no gradient.
Operands lse_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = softmax_dim(call);
  Tensor largest = amax(x.detach(), {dim}, true);
  const Tensor zero = Tensor::number(0.0), one = Tensor::number(1.0), none = Tensor::number(-INFINITY);
  largest = where(isfinite(largest), largest, zero);
  const Tensor total = sum(exp(x - largest), {dim});
  // The logarithm of 0 would have an infinite gradient.
  const Tensor empty = eq(total, zero);
  return {where(empty, none, log(where(empty, one, total)) + squeeze(largest, dim))};
}
const Op kLogSumExp{
    .name = "_logsumexp",
    .doc = "log(sum(exp(input))) along dim, without overflow.",
    .inputs = {{"input"}},
    .params = {kDim},
    .shape = lse_shape,
    .cpu = lse_cpu,
    .vjp = lse_vjp,
    .reads = {{.inputs = 1, .outputs = 1}},
    .compose = lse_compose,
    .half_through_f32 = true,
    .family = OpFamily::reduction,
    .flops = {for_input<4>, "4 for each element of the operand: maximum, difference, exp, sum"}};

}  // namespace

namespace {

// The row kernel of a function f(first row, second row, columns, row or value of the result).
template <class T, auto f>
class OfRow final : public RowKernel {
 public:
  explicit OfRow(const RowReduction& reduction) : RowKernel(reduction.rows, reduction.columns) {}
  void run(int64_t, const void* const* in, void* out) const override {
    f(static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), columns(), static_cast<T*>(out));
  }
};
template <class T, auto f>
std::unique_ptr<RowKernel> make_of_row(const Call& call) {
  return std::make_unique<OfRow<T, f>>(row_reduction(call));
}
template <auto f>
RowKernelMaker of_row(const Op& op) {
  return {&op, make_of_row<float, f>, make_of_row<double, f>};
}

}  // namespace

std::span<const RowKernelMaker> softmax_row_kernels() {
  static const RowKernelMaker all[] = {
      of_row<[](auto x, auto, int64_t n, auto y) { softmax_row(x, n, y); }>(kSoftmax),
      of_row<[](auto g, auto y, int64_t n, auto dx) { softmax_grad_row(g, y, n, dx); }>(kSoftmaxGrad),
      of_row<[](auto x, auto, int64_t n, auto y) { log_softmax_row(x, n, y); }>(kLogSoftmax),
      of_row<[](auto g, auto y, int64_t n, auto dx) { log_softmax_grad_row(g, y, n, dx); }>(kLogSoftmaxGrad),
      of_row<[](auto x, auto, int64_t n, auto y) { *y = lse_of_row(x, n); }>(kLogSumExp)};
  return all;
}

Tensor softmax(const Tensor& x, int dim) { return apply1(kSoftmax, {x}, {dim}); }
Tensor log_softmax(const Tensor& x, int dim) { return apply1(kLogSoftmax, {x}, {dim}); }

Tensor logsumexp_along(const Tensor& x, int dim) { return apply1(kLogSumExp, {x}, {dim}); }

std::span<const Op* const> softmax_ops() {
  static const Op* const ops[] = {&kSoftmax,      &kSoftmaxGrad,     &kLogSoftmax, &kLogSoftmaxGrad,
                                  &kSoftmaxDtype, &kLogSoftmaxDtype, &kLogSumExp};
  return ops;
}

}  // namespace lunagrad
