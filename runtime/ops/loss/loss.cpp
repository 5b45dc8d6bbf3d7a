// Losses of two tensors: compositions or simple kernels. Losses of class ids are in cross_entropy.cpp.
#include "runtime/ops/loss/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/reductions/cpu/reduce.h"

namespace lunagrad {
namespace {

// --- mse_loss: mean (input - target)^2 ---

constexpr int64_t kPiece = 1024, kPieces = 64;

template <class T>
class MseKernel final : public PairLossKernel<T> {
 public:
  explicit MseKernel(const Call& call) : PairLossKernel<T>(call, reduction_of(call) == Reduction::mean) {}

 protected:
  double sum_of(const T* x, const T* t, int64_t n) const override {
    double sum = 0;
    T differences[kPiece];
    for (int64_t first = 0; first < n; first += kPiece) {
      const int64_t count = std::min(kPiece, n - first);
      for (int64_t i = 0; i < count; ++i) differences[i] = x[first + i] - t[first + i];
      reduce_row(ReduceKind::sum_squares, 0, differences, count, &sum);
    }
    return sum;
  }
};

void mse_shape(Call& call) {
  const Tensor &input = call.input(0), &target = call.input(1);
  need_same_shape("mse_loss", input, target);
  const DType dtype = promote(input.dtype(), target.dtype());
  if (!is_floating(dtype)) fail("mse_loss: floating-point tensors are needed (got ", dtype, ")");
  const bool none = Reduction(call.integer(0)) == Reduction::none;
  call.emit(none ? input.shape() : Shape{}, dtype);
}
void mse_cpu(const Call& call) {
  const Tensor& out = call.output();
  const auto run = [&]<class T>() {
    const auto as_t = [&](const Tensor& x) {
      if (x.is_contiguous() && x.dtype() == dtype_of<T>) return x;
      Tensor copy = Tensor::empty(x.shape(), dtype_of<T>);
      copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
      return copy;
    };
    const Tensor input = as_t(call.input(0)), target = as_t(call.input(1));
    const T *x = input.data<T>(), *t = target.data<T>();
    const int64_t n = input.numel();
    if (reduction_of(call) == Reduction::none) {
      T* to = out.data<T>();
      return parallel_for(n, kPiece * kPieces, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = (x[i] - t[i]) * (x[i] - t[i]);
      });
    }
    MseKernel<T>(call).run_all(x, t);
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
// Operands: the gradient of the squared error, input, target. The result is rounded to the input's type once.
void mse_grad_shape(Call& call) {
  call.emit(call.input(1).shape(), promote(call.input(1).dtype(), call.input(2).dtype()));
}
Operands mse_grad_compose(const Call& call) {
  const auto upcast = [&](int i) { return to(call.input(i), accumulate_type(call.input(i).dtype())); };
  return {to(call.input(0) * (upcast(1) - upcast(2)), promote(call.input(1).dtype(), call.input(2).dtype()))};
}
const Op kMseGrad{.name = "_mse_loss_grad",
                  .doc = "grad (input - target).",
                  .inputs = {{"grad"}, {"input"}, {"target"}},
                  .shape = mse_grad_shape,
                  .compose = mse_grad_compose,
                  .family = OpFamily::loss,
                  .flops = {for_input<2, 1>, "2 for each element of the input: difference, product"}};
void mse_vjp(Backward& b) {
  const double scale = Reduction(b.integer(0)) == Reduction::mean ? 2 / double(numel(b.shape(0))) : 2;
  const Tensor g = to(b.grad(), accumulate_type(b.grad().dtype())) * scale;
  Call call;
  call.op = &kMseGrad;
  call.in = {g, b.input(0), b.input(1)};
  const Tensor slope = b.create_graph() ? mse_grad_compose(call)[0] : apply1(kMseGrad, call.in);
  if (b.needs(0)) b.set(0, slope);
  if (b.needs(1)) b.set(1, -slope);
}
double mse_flops(const Call& call) {
  const bool none = Reduction(call.integer(0)) == Reduction::none;
  return (none ? 2 : 3) * elements(call.in[0]);
}
const Op kMseLoss{.name = "mse_loss",
                  .doc = "(input - target)^2, or its mean or sum.",
                  .inputs = {{"input"}, {"target"}},
                  .params = {kReduction},
                  .shape = mse_shape,
                  .cpu = mse_cpu,
                  .vjp = mse_vjp,
                  .reads = {{.inputs = 3}},
                  .half_through_f32 = true,
                  .family = OpFamily::loss,
                  .autocast = AutocastPolicy::f32,
                  .flops = {mse_flops, "2 for each element of the input, 3 with a reduction"}};

// --- compositions ---

Operands l1_compose(const Call& call) {
  need_same_shape("l1_loss", call.input(0), call.input(1));
  return {reduced(abs(call.input(0) - call.input(1)), reduction_of(call))};
}
const Op kL1Loss{.name = "l1_loss",
                 .doc = "|input - target|, or its mean or sum.",
                 .inputs = {{"input"}, {"target"}},
                 .params = {kReduction},
                 .compose = l1_compose,
                 .family = OpFamily::loss,
                 .autocast = AutocastPolicy::f32};

Operands huber_compose(const Call& call) {
  need_same_shape("huber_loss", call.input(0), call.input(1));
  if (!(call.real(1) > 0)) fail("huber_loss: delta must be positive (got ", call.real(1), ")");
  return {reduced_loss(LossTerm::huber, call.input(0), call.input(1), call.real(1), reduction_of(call))};
}
const Op kHuberLoss{
    .name = "huber_loss",
    .doc = "With e = input - target: e^2 / 2 where |e| is below delta, else delta (|e| - delta / 2).",
    .inputs = {{"input"}, {"target"}},
    .params = {kReduction, {"delta", ParamKind::real, 1.0}},
    .compose = huber_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

Operands smooth_l1_compose(const Call& call) {
  need_same_shape("smooth_l1_loss", call.input(0), call.input(1));
  const double beta = call.real(1);
  if (!(beta >= 0)) fail("smooth_l1_loss: beta must not be negative (got ", beta, ")");
  if (beta == 0) return {reduced(abs(call.input(0) - call.input(1)), reduction_of(call))};
  const Tensor loss = reduced_loss(LossTerm::huber, call.input(0), call.input(1), beta, reduction_of(call));
  return {beta == 1 ? loss : loss / beta};
}
const Op kSmoothL1Loss{
    .name = "smooth_l1_loss",
    .doc = "With e = input - target: e^2 / (2 beta) where |e| is below beta, else |e| - beta / 2.",
    .inputs = {{"input"}, {"target"}},
    .params = {kReduction, {"beta", ParamKind::real, 1.0}},
    .compose = smooth_l1_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

// The logarithms are at least -100, as in PyTorch, so that an exact 0 or 1 costs 100 instead of infinity.
Operands bce_compose(const Call& call) {
  const Tensor &p = call.input(0), &target = call.input(1);
  need_same_shape("binary_cross_entropy", p, target);
  if (call.has(2)) return {reduced(_bce(p, target) * call.input(2), reduction_of(call))};
  return {reduced_loss(LossTerm::cross_entropy, p, target, 1, reduction_of(call))};
}
const Op kBceLoss{.name = "binary_cross_entropy",
                  .doc = "-(target log(input) + (1 - target) log(1 - input)) for probabilities input.",
                  .inputs = {{"input"}, {"target"}, {"weight", true}},
                  .params = {kReduction},
                  .compose = bce_compose,
                  .family = OpFamily::loss,
                  .autocast = AutocastPolicy::f32};

// With pos_weight q the logarithm in (1 - t) x - log sigmoid(x) is multiplied by 1 + (q - 1) t.
Operands bce_logits_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("binary_cross_entropy_with_logits", x, target);
  Tensor loss = call.has(3) ? (1.0 - target) * x - logsigmoid(x) * ((call.input(3) - 1.0) * target + 1.0)
                            : _bce_logits(x, target);
  if (call.has(2)) loss = loss * call.input(2);
  return {reduced(loss, reduction_of(call))};
}
const Op kBceLogitsLoss{.name = "binary_cross_entropy_with_logits",
                        .doc = "binary_cross_entropy(sigmoid(input), target), without overflow.",
                        .inputs = {{"input"}, {"target"}, {"weight", true}, {"pos_weight", true}},
                        .params = {kReduction},
                        .compose = bce_logits_compose,
                        .family = OpFamily::loss,
                        .autocast = AutocastPolicy::f32};

// --- kl_div ---

// t (log t - x), 0 where t is 0; "batchmean" divides the sum by the size of dim 1.
Operands kl_div_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("kl_div", x, target);
  const LossTerm term = call.flag(1) ? LossTerm::log_divergence : LossTerm::divergence;
  if (call.integer(0) != 3) return {reduced_loss(term, x, target, 1, reduction_of(call))};
  if (x.ndim() == 0) fail("kl_div: batchmean needs at least 1 dim");
  return {reduced_loss(term, x, target, 1, Reduction::sum) / double(x.size(0))};
}
const Op kKlDiv{
    .name = "kl_div",
    .doc = "Kullback-Leibler divergence of target from the log-probabilities input.",
    .inputs = {{"input"}, {"target"}},
    .params = {{"reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum", "batchmean"}},
               {"log_target", ParamKind::boolean, false}},
    .compose = kl_div_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

// --- likelihoods of counts and of normal variables ---

// exp(x) - t x, or x - t log(x + eps); `full` adds Stirling's log(t!) where t > 1.
Operands poisson_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("poisson_nll_loss", x, target);
  Tensor loss = call.flag(0) ? exp(x) - target * x : x - target * log(x + call.real(2));
  if (call.flag(1)) {
    const Tensor counts = maximum(target, Tensor::number(1.0));
    const Tensor stirling = counts * log(counts) - counts + log(counts * (2 * M_PI)) * 0.5;
    loss = loss + where(gt(target, Tensor::number(1.0)), stirling, Tensor::number(0.0));
  }
  return {reduced(loss, reduction_of(call, 3))};
}
const Op kPoissonNllLoss{
    .name = "poisson_nll_loss",
    .doc = "-log of the probability of the counts in target under Poisson rates exp(input), or input.",
    .inputs = {{"input"}, {"target"}},
    .params = {{"log_input", ParamKind::boolean, true},
               {"full", ParamKind::boolean, false},
               {"eps", ParamKind::real, 1e-8},
               kReduction},
    .compose = poisson_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

// (log v + (x - t)^2 / v) / 2 with v the variance, at least eps; `full` adds log(2 pi) / 2.
Operands gaussian_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1), &variance = call.input(2);
  need_same_shape("gaussian_nll_loss", x, target);
  if (!broadcasts_to(variance.shape(), x.shape()))
    fail("gaussian_nll_loss: var has shape ", variance.shape(), " beside an input of shape ", x.shape());
  if (any(lt(variance, Tensor::number(0.0))).item() != 0)
    fail("gaussian_nll_loss: var has a negative element");
  const Tensor v = maximum(variance, Tensor::number(call.real(1)));
  Tensor loss = (log(v) + square(x - target) / v) * 0.5;
  if (call.flag(0)) loss = loss + 0.5 * std::log(2 * M_PI);
  return {reduced(loss, reduction_of(call, 2))};
}
const Op kGaussianNllLoss{
    .name = "gaussian_nll_loss",
    .doc = "-log of the density of target under normal distributions with mean input and variance var.",
    .inputs = {{"input"}, {"target"}, {"var"}},
    .params = {{"full", ParamKind::boolean, false}, {"eps", ParamKind::real, 1e-6}, kReduction},
    .compose = gaussian_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return apply1(kMseLoss, {input, target}, {int(reduction)});
}

std::span<const RowKernelMaker> loss_row_kernels() {
  static const RowKernelMaker all[] = {row_kernel_maker<MseKernel>(kMseLoss)};
  return all;
}

std::span<const Op* const> loss_ops() {
  static const std::vector<const Op*> all = [] {
    std::vector<const Op*> ops = {&kMseLoss,      &kMseGrad, &kL1Loss,       &kHuberLoss,
                                  &kSmoothL1Loss, &kBceLoss, &kBceLogitsLoss};
    const auto of_classes = class_loss_ops();
    ops.insert(ops.end(), of_classes.begin(), of_classes.end());
    ops.insert(ops.end(), {&reduced_loss_op(), &kKlDiv, &kPoissonNllLoss, &kGaussianNllLoss});
    return ops;
  }();
  return all;
}

}  // namespace lunagrad
