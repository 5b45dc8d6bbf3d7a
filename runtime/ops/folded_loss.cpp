// The mean or sum of a loss of each two elements, in one pass where the device has the kernel: no tensor of
// the operands' size is made.
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/loss.h"

namespace lunagrad {
namespace {

constexpr int kTermAt = 0, kParameterAt = 1, kMeanAt = 2;

Tensor term_of(LossTerm term, const Tensor& x, const Tensor& target, double parameter) {
  const Tensor zero = Tensor::number(0.0);
  switch (term) {
    case LossTerm::huber:
      return _huber(x - target, parameter);
    case LossTerm::cross_entropy:
      return _bce(x, target);
    case LossTerm::divergence:
      return where(eq(target, zero), zero, target * (log(target) - x));
    case LossTerm::log_divergence:
      return exp(target) * (target - x);
  }
  return {};
}

void folded_shape(Call& call) { call.emit(Shape{}, call.input(0).dtype()); }
Operands folded_compose(const Call& call) {
  return {
      reduced(term_of(LossTerm(call.integer(kTermAt)), call.input(0), call.input(1), call.real(kParameterAt)),
              call.flag(kMeanAt) ? Reduction::mean : Reduction::sum)};
}
void folded_vjp(Backward& b) {
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
      // NaN where t is 0, as that of the composition.
      if (b.needs(1)) b.set(1, (log(t) - x + 1.0) * where(eq(t, zero), zero, g));
      return;
    case LossTerm::log_divergence:
      if (b.needs(0)) b.set(0, exp(t) * -g);
      if (b.needs(1)) b.set(1, exp(t) * (t - x + 1.0) * g);
  }
}
const Op kFoldedLoss{.name = "_folded_loss",
                     .doc = "The mean or sum of a loss of each two elements.",
                     .inputs = {{"input"}, {"target"}},
                     .params = {{"term", ParamKind::integer, 0},
                                {"parameter", ParamKind::real, 1.0},
                                {"mean", ParamKind::boolean, true}},
                     .shape = folded_shape,
                     .vjp = folded_vjp,
                     .reads = {{.inputs = 3}},
                     .compose = folded_compose,
                     .family = OpFamily::loss,
                     .flops = {for_input<4>, "4 for each element of the input"}};

}  // namespace

Tensor folded_loss(LossTerm term, const Tensor& x, const Tensor& target, double parameter,
                   Reduction reduction) {
  if (reduction == Reduction::none || x.dtype() != target.dtype() || !is_floating(x.dtype()))
    return reduced(term_of(term, x, target, parameter), reduction);
  return apply1(kFoldedLoss, {x, target}, {int64_t(term), parameter, reduction == Reduction::mean});
}

const Op& folded_loss_op() { return kFoldedLoss; }

}  // namespace lunagrad
