// The mean or sum of an elementwise loss of two tensors, in one pass where the device has the kernel: no
// tensor of the operands' size is made.
#include <algorithm>
#include <cmath>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/loss/loss.h"
#include "runtime/ops/reductions/cpu/reduce.h"
#include "runtime/ops/reductions/large_means.h"

namespace lunagrad {
namespace {

constexpr int kTermAt = 0, kParameterAt = 1, kMeanAt = 2;
constexpr int64_t kTile = 2048;  // elements: what a tile needs fits the first-level cache

Tensor term_of(LossTerm term, const Tensor& x, const Tensor& target, double parameter) {
  const Tensor zero = Tensor::number(0.0);
  switch (term) {
    case LossTerm::huber:
      return _huber(x - target, parameter);
    case LossTerm::cross_entropy:
      return _bce(x, target);
    case LossTerm::divergence:
      return where(eq(target, zero), zero, target * (log(target) - x));
    case LossTerm::log_divergence: {
      const Tensor y = exp(target) * (target - x);
      if (!is_floating(target.dtype()) || surely_finite(y)) return y;
      const Tensor absent = eq(target, Tensor::number(-INFINITY)), present = where(absent, zero, target);
      return where(absent, zero, exp(present) * (present - x));
    }
  }
  return {};
}

void reduced_shape(Call& call) { call.emit(Shape{}, call.input(0).dtype()); }
Operands reduced_compose(const Call& call) {
  return {
      reduced(term_of(LossTerm(call.integer(kTermAt)), call.input(0), call.input(1), call.real(kParameterAt)),
              call.flag(kMeanAt) ? Reduction::mean : Reduction::sum)};
}
// The sum of the loss of n pairs. The terms are computed into `room`, by the kernels of the same rows that
// term_of() uses.
template <class T>
double sum_of_terms(LossTerm term, double parameter, const T* x, const T* t, int64_t n, T* room) {
  const T zero = 0;
  const auto run = [&](Row row, std::initializer_list<const T*> operands, const double* params = nullptr) {
    Stretch stretch{.in = {}, .step = {}, .out = room, .count = n, .params = params};
    size_t i = 0;
    for (const T* const operand : operands) {
      stretch.in[i] = operand;
      stretch.step[i++] = operand != &zero;
    }
    row_kernels(int(row)).value[sizeof(T) == 8](stretch);
  };
  switch (term) {
    case LossTerm::huber:
      run(Row::sub, {x, t});
      run(Row::_huber, {room}, &parameter);
      break;
    case LossTerm::cross_entropy:
      run(Row::_bce, {x, t});
      break;
    case LossTerm::divergence:
      run(Row::log, {t});
      run(Row::sub, {room, x});
      run(Row::mul, {t, room});
      run(Row::where, {t, room, &zero});
      break;
    case LossTerm::log_divergence: {
      T exponential[kTile];
      run(Row::exp, {t});
      std::copy_n(room, n, exponential);
      run(Row::sub, {t, x});
      run(Row::mul, {exponential, room});
    }
  }
  double sum = 0;
  reduce_row(ReduceKind::sum, 0, room, n, &sum);
  if (term != LossTerm::log_divergence || !std::isnan(sum)) return sum;
  for (int64_t i = 0; i < n; ++i)
    if (t[i] == -INFINITY) room[i] = 0;
  sum = 0;
  reduce_row(ReduceKind::sum, 0, room, n, &sum);
  return sum;
}
template <class T>
class ReducedKernel final : public PairLossKernel<T> {
 public:
  explicit ReducedKernel(const Call& call)
      : PairLossKernel<T>(call, call.flag(kMeanAt)),
        term_(LossTerm(call.integer(kTermAt))),
        parameter_(call.real(kParameterAt)) {}

 protected:
  double sum_of(const T* x, const T* t, int64_t n) const override {
    double sum = 0;
    T room[kTile];
    for (int64_t at = 0; at < n; at += kTile)
      sum += sum_of_terms(term_, parameter_, x + at, t + at, std::min(kTile, n - at), room);
    return sum;
  }

 private:
  LossTerm term_;
  double parameter_;
};
void reduced_cpu(const Call& call) {
  // 16-bit numbers are computed in f32.
  const DType type = call.input(0).dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor input = in_order(to(call.input(0), type)), target = in_order(to(call.input(1), type));
  const auto run = [&]<class T>() { ReducedKernel<T>(call).run_all(input.data<T>(), target.data<T>()); };
  type == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
void reduced_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  static const Op &huber = *find_op("__huber_grad"), &of_input = *find_op("__bce_grad_a"),
                  &of_target = *find_op("__bce_grad_b");
  const Tensor x = b.input(0), t = b.input(1), zero = Tensor::number(0.0);
  const Tensor g = b.flag(kMeanAt) ? b.grad() / double(numel(b.shape(0))) : b.grad();
  switch (LossTerm(b.integer(kTermAt))) {
    case LossTerm::huber: {
      const Tensor slope = apply1(huber, {g, x - t, {}}, {b.real(kParameterAt)});
      if (b.needs(0)) b.set(0, slope);
      if (b.needs(1)) b.set(1, -slope);
      return;
    }
    case LossTerm::cross_entropy:
      if (b.needs(0)) b.set(0, apply1(of_input, {g, x, t, {}}));
      if (b.needs(1)) b.set(1, apply1(of_target, {g, x, t, {}}));
      return;
    case LossTerm::divergence:
      if (b.needs(0)) b.set(0, t * -g);
      // NaN where t is 0, as in the composition.
      if (b.needs(1)) b.set(1, (log(t) - x + 1.0) * where(eq(t, zero), zero, g));
      return;
    case LossTerm::log_divergence:
      if (b.needs(0)) b.set(0, exp(t) * -g);
      if (b.needs(1)) b.set(1, where(eq(t, Tensor::number(-INFINITY)), zero, exp(t) * (t - x + 1.0) * g));
  }
}
const Op kReducedLoss{.name = "_reduced_loss",
                      .doc = "The mean or sum of a loss of each two elements.",
                      .inputs = {{"input"}, {"target"}},
                      .params = {{"term", ParamKind::integer, 0},
                                 {"parameter", ParamKind::real, 1.0},
                                 {"mean", ParamKind::boolean, true}},
                      .shape = reduced_shape,
                      .cpu = reduced_cpu,
                      .vjp = reduced_vjp,
                      .reads = {{.inputs = 3}},
                      .compose = reduced_compose,
                      .family = OpFamily::loss,
                      .flops = {for_input<4>, "4 for each element of the input"}};

}  // namespace

Tensor reduced_loss(LossTerm term, const Tensor& x, const Tensor& target, double parameter,
                    Reduction reduction) {
  if (reduction == Reduction::none || x.dtype() != target.dtype() || !is_floating(x.dtype()))
    return reduced(term_of(term, x, target, parameter), reduction);
  return apply1(kReducedLoss, {x, target}, {int64_t(term), parameter, reduction == Reduction::mean});
}

std::span<const RowKernelMaker> reduced_loss_row_kernels() {
  static const RowKernelMaker all[] = {row_kernel_maker<ReducedKernel>(kReducedLoss)};
  return all;
}

const Op& reduced_loss_op() { return kReducedLoss; }

}  // namespace lunagrad
