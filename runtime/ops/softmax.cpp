// softmax and log_softmax along one dim, and their fused gradients.
#include "runtime/cpu/softmax.h"

#include "runtime/cpu/rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

const ParamSpec kDim{"dim", ParamKind::dim, {}};

int dim_of(const Call& call) { return normalize_dim(call.op->name, call.integer(0), call.input(0).shape()); }

void softmax_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype()))
    fail(call.op->name, ": a floating-point tensor is needed (got ", x.dtype(),
         "); convert it with :float() first");
  dim_of(call);
  call.emit(x.shape(), x.dtype());
}

// Runs kernel(row of each input, n, row of the output) along the dim.
template <size_t inputs, class Kernel>
void run_rows(const Call& call, Kernel&& kernel) {
  const Split split(call.output().shape(), dim_of(call));
  const auto run = [&]<class T>() {
    std::array<Tensor, inputs> operands;
    std::array<const T*, inputs> in;
    for (size_t i = 0; i < inputs; ++i) {
      operands[i] = in_order(call.in[i]);
      in[i] = operands[i].template data<T>();
    }
    for_rows(split, in, call.output().data<T>(), [&](int64_t, const auto& row, T* out) {
      if constexpr (inputs == 1)
        kernel(row[0], split.size, out);
      else
        kernel(row[0], row[1], split.size, out);
    });
  };
  call.output().dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

// --- softmax: y = exp(x - max) / sum exp(x - max), dx = y (g - sum(g y)) ---

void softmax_cpu(const Call& call) {
  run_rows<1>(call, [](const auto* x, int64_t n, auto* out) { softmax_row(x, n, out); });
}
void softmax_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
void softmax_grad_cpu(const Call& call) {
  run_rows<2>(call,
              [](const auto* g, const auto* y, int64_t n, auto* out) { softmax_grad_row(g, y, n, out); });
}
const Op kSoftmaxGrad{.name = "_softmax_grad",
                      .doc = "The gradient of softmax from that of its result and the result.",
                      .inputs = {{"grad"}, {"output"}},
                      .params = {kDim},
                      .shape = softmax_grad_shape,
                      .cpu = softmax_grad_cpu,
                      .half_through_f32 = true};
void softmax_vjp(Backward& b) {
  const Tensor g = b.grad(), y = b.output();
  if (!b.create_graph()) return b.set(0, apply1(kSoftmaxGrad, {g, y}, {b.integer(0)}));
  b.set(0, y * (g - sum(g * y, {b.integer(0)}, true)));
}
const Op kSoftmax{.name = "softmax",
                  .doc = "exp(x) / sum(exp(x)) along a dim.",
                  .inputs = {{"input"}},
                  .params = {kDim},
                  .shape = softmax_shape,
                  .cpu = softmax_cpu,
                  .vjp = softmax_vjp,
                  .reads = {{.outputs = 1}},
                  .half_through_f32 = true};

// --- log_softmax: y = x - max - log sum exp(x - max), dx = g - exp(y) sum(g) ---

void log_softmax_cpu(const Call& call) {
  run_rows<1>(call, [](const auto* x, int64_t n, auto* out) { log_softmax_row(x, n, out); });
}
void log_softmax_grad_cpu(const Call& call) {
  run_rows<2>(call,
              [](const auto* g, const auto* y, int64_t n, auto* out) { log_softmax_grad_row(g, y, n, out); });
}
const Op kLogSoftmaxGrad{.name = "_log_softmax_grad",
                         .doc = "The gradient of log_softmax from that of its result and the result.",
                         .inputs = {{"grad"}, {"output"}},
                         .params = {kDim},
                         .shape = softmax_grad_shape,
                         .cpu = log_softmax_grad_cpu,
                         .half_through_f32 = true};
void log_softmax_vjp(Backward& b) {
  const Tensor g = b.grad(), y = b.output();
  if (!b.create_graph()) return b.set(0, apply1(kLogSoftmaxGrad, {g, y}, {b.integer(0)}));
  b.set(0, g - exp(y) * sum(g, {b.integer(0)}, true));
}
const Op kLogSoftmax{.name = "log_softmax",
                     .doc = "log(softmax(x)) along a dim, without overflow.",
                     .inputs = {{"input"}},
                     .params = {kDim},
                     .shape = softmax_shape,
                     .cpu = log_softmax_cpu,
                     .vjp = log_softmax_vjp,
                     .reads = {{.outputs = 1}},
                     .half_through_f32 = true};

}  // namespace

Tensor softmax(const Tensor& x, int dim) { return apply1(kSoftmax, {x}, {dim}); }
Tensor log_softmax(const Tensor& x, int dim) { return apply1(kLogSoftmax, {x}, {dim}); }

std::span<const Op* const> softmax_ops() {
  static const Op* const ops[] = {&kSoftmax, &kSoftmaxGrad, &kLogSoftmax, &kLogSoftmaxGrad};
  return ops;
}

}  // namespace lunagrad
