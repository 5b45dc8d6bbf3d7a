// Losses. cross_entropy with class ids is fused: it keeps the log-sum-exp of each row and computes the
// gradient from the logits and that, without an intermediate tensor of the size of the input. The others are
// compositions or simple kernels.
#include "runtime/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/cpu/copy.h"
#include "runtime/cpu/reduce.h"
#include "runtime/cpu/rows.h"
#include "runtime/cpu/softmax.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

Tensor dense(const Tensor& x) {
  if (x.is_contiguous()) return x;
  Tensor copy = Tensor::empty(x.shape(), x.dtype());
  copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  return copy;
}

// --- mse_loss: mean (input - target)^2 ---

void mse_shape(Call& call) {
  const Tensor &input = call.input(0), &target = call.input(1);
  need_same_shape("mse_loss", input, target);
  const DType dtype = promote(input.dtype(), target.dtype());
  if (!is_floating(dtype)) fail("mse_loss: floating-point tensors are needed (got ", dtype, ")");
  const bool none = Reduction(call.integer(0)) == Reduction::none;
  call.emit(none ? input.shape() : Shape{}, dtype);
}
void mse_cpu(const Call& call) {
  constexpr int64_t kPiece = 1024, kPieces = 64;
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
    const Reduction reduction = Reduction(call.integer(0));
    if (reduction == Reduction::none) {
      T* to = out.data<T>();
      return parallel_for(n, kPiece * kPieces, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = (x[i] - t[i]) * (x[i] - t[i]);
      });
    }
    const int64_t chunk = kPiece * kPieces;
    std::vector<double> sums(size_t((n + chunk - 1) / chunk));
    parallel_for(int64_t(sums.size()), 1, [&](int64_t begin, int64_t end) {
      T differences[kPiece];
      for (int64_t k = begin; k < end; ++k)
        for (int64_t first = k * chunk; first < std::min(n, (k + 1) * chunk); first += kPiece) {
          const int64_t count = std::min(kPiece, n - first);
          for (int64_t i = 0; i < count; ++i) differences[i] = x[first + i] - t[first + i];
          fold_row(Fold::sum_squares, 0, differences, count, &sums[size_t(k)]);
        }
    });
    double total = 0;
    for (const double part : sums) total += part;
    *out.data<T>() = T(reduction == Reduction::mean ? total / double(n) : total);
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
void mse_vjp(Backward& b) {
  const double scale = Reduction(b.integer(0)) == Reduction::mean ? 2 / double(numel(b.shape(0))) : 2;
  const Tensor slope = (b.grad() * scale) * (b.input(0) - b.input(1));
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
                  .autocast = AutocastPolicy::wide,
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
                 .autocast = AutocastPolicy::wide};

Operands huber_compose(const Call& call) {
  need_same_shape("huber_loss", call.input(0), call.input(1));
  if (!(call.real(1) > 0)) fail("huber_loss: delta must be positive (got ", call.real(1), ")");
  return {folded_loss(LossTerm::huber, call.input(0), call.input(1), call.real(1), reduction_of(call))};
}
const Op kHuberLoss{
    .name = "huber_loss",
    .doc = "With e = input - target: e^2 / 2 where |e| is below delta, else delta (|e| - delta / 2).",
    .inputs = {{"input"}, {"target"}},
    .params = {kReduction, {"delta", ParamKind::real, 1.0}},
    .compose = huber_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::wide};

Operands smooth_l1_compose(const Call& call) {
  need_same_shape("smooth_l1_loss", call.input(0), call.input(1));
  const double beta = call.real(1);
  if (!(beta >= 0)) fail("smooth_l1_loss: beta must not be negative (got ", beta, ")");
  if (beta == 0) return {reduced(abs(call.input(0) - call.input(1)), reduction_of(call))};
  const Tensor loss = folded_loss(LossTerm::huber, call.input(0), call.input(1), beta, reduction_of(call));
  return {beta == 1 ? loss : loss / beta};
}
const Op kSmoothL1Loss{
    .name = "smooth_l1_loss",
    .doc = "With e = input - target: e^2 / (2 beta) where |e| is below beta, else |e| - beta / 2.",
    .inputs = {{"input"}, {"target"}},
    .params = {kReduction, {"beta", ParamKind::real, 1.0}},
    .compose = smooth_l1_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::wide};

// The logarithms are at least -100, as in PyTorch, so that an exact 0 or 1 costs 100 instead of infinity.
Operands bce_compose(const Call& call) {
  const Tensor &p = call.input(0), &target = call.input(1);
  need_same_shape("binary_cross_entropy", p, target);
  if (call.has(2)) return {reduced(_bce(p, target) * call.input(2), reduction_of(call))};
  return {folded_loss(LossTerm::cross_entropy, p, target, 1, reduction_of(call))};
}
const Op kBceLoss{.name = "binary_cross_entropy",
                  .doc = "-(target log(input) + (1 - target) log(1 - input)) for probabilities input.",
                  .inputs = {{"input"}, {"target"}, {"weight", true}},
                  .params = {kReduction},
                  .compose = bce_compose,
                  .family = OpFamily::loss,
                  .autocast = AutocastPolicy::wide};

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
                        .autocast = AutocastPolicy::wide};

// --- cross_entropy ---

constexpr int kIgnoreAt = 0, kReductionAt = 1, kSmoothingAt = 2;
const std::vector<ParamSpec> kCrossEntropyParams = {
    {"ignore_index", ParamKind::integer, -100}, kReduction, {"label_smoothing", ParamKind::real, 0.0}};

int class_dim(const Shape& input) { return input.size() > 1 ? 1 : 0; }

Shape rows_of(const Shape& input) {
  Shape rows = input;
  rows.erase(class_dim(input));
  return rows;
}

void check_labels(const char* op, const std::vector<int64_t>& labels, int64_t classes, int64_t ignored) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != ignored && (labels[i] < 0 || labels[i] >= classes))
      fail(op, ": label ", labels[i], " at position ", i + 1, " is out of range for ", classes,
           " classes (labels count from 0)");
}

// What both kernels read: the rows of the logits, the labels, the class weights.
template <class T>
struct Labelled {
  Tensor input, weights;
  Split split;
  std::vector<int64_t> labels;
  const T* weight = nullptr;  // of each class; null: all 1
  double weight_sum;
  int64_t ignored;
  double smoothing;

  Labelled(const Call& call, const Tensor& logits, const Tensor& target, const Tensor& class_weight)
      : input(dense(logits)),
        split(logits.shape(), class_dim(logits.shape())),
        labels(size_t(target.numel())),
        weight_sum(double(split.size)),
        ignored(call.integer(kIgnoreAt)),
        smoothing(call.real(kSmoothingAt)) {
    copy_strided(labels.data(), DType::i64, contiguous_strides(target.shape()), target.raw(), target.dtype(),
                 target.strides(), target.shape());
    check_labels("cross_entropy", labels, split.size, ignored);
    if (!class_weight.defined()) return;
    weights = dense(class_weight);
    weight = weights.data<T>();
    weight_sum = 0;
    for (int64_t c = 0; c < split.size; ++c) weight_sum += double(weight[c]);
  }

  bool skips(int64_t row) const { return labels[size_t(row)] == ignored; }
  double weight_of(int64_t c) const { return weight ? double(weight[c]) : 1; }
  double weight_of_row(int64_t row) const { return skips(row) ? 0 : weight_of(labels[size_t(row)]); }
  double total_weight() const {
    double total = 0;
    for (size_t row = 0; row < labels.size(); ++row) total += weight_of_row(int64_t(row));
    return total;
  }
};

void fused_shape(Call& call) {
  const Shape& input = call.input(0).shape();
  const Shape rows = rows_of(input);
  call.emit(reduction_of(call, kReductionAt) == Reduction::none ? rows : Shape{}, call.input(0).dtype());
  call.emit(rows, call.input(0).dtype());
}

// The loss of a row x with label y: (1 - s) w_y (lse x - x_y) + s / C sum_c w_c (lse x - x_c), with smoothing
// s.
template <class T>
void fused_forward(const Call& call) {
  const Labelled<T> data(call, call.input(0), call.input(1), call.has(2) ? call.input(2) : Tensor());
  T* const lse = call.output(1).data<T>();
  std::vector<double> losses(data.labels.size());
  const double share = data.smoothing / double(data.split.size);
  for_rows(data.split, std::array{static_cast<const T*>(data.input.template data<T>())},
           static_cast<T*>(nullptr), [&](int64_t row, const auto& in, T*) {
             if (data.skips(row)) {
               lse[row] = 0;
               return;
             }
             const T* x = in[0];
             const int64_t label = data.labels[size_t(row)];
             const double log_total = logsumexp_row(x, data.split.size);
             double loss = (1 - data.smoothing) * data.weight_of(label) * (log_total - double(x[label]));
             if (data.smoothing > 0)
               for (int64_t c = 0; c < data.split.size; ++c)
                 loss += share * data.weight_of(c) * (log_total - double(x[c]));
             losses[size_t(row)] = loss;
             lse[row] = T(log_total);
           });
  T* const out = call.output(0).data<T>();
  const Reduction reduction = reduction_of(call, kReductionAt);
  if (reduction == Reduction::none) {
    for (size_t row = 0; row < losses.size(); ++row) out[row] = T(losses[row]);
    return;
  }
  double total = 0;
  for (const double loss : losses) total += loss;
  *out = T(reduction == Reduction::mean ? total / data.total_weight() : total);
}
void fused_cpu(const Call& call) {
  call.input(0).dtype() == DType::f64 ? fused_forward<double>(call) : fused_forward<float>(call);
}

// Operands: the gradient of the loss, logits, labels, log-sum-exp, weight. With p = exp(x - lse) and the
// factor k of the row: dx_c = k ((1 - s) w_y + s / C sum w) p_c - k s / C w_c, and at the label less k (1 -
// s) w_y.
template <class T>
void fused_backward(const Call& call) {
  const Labelled<T> data(call, call.input(1), call.input(2), call.has(4) ? call.input(4) : Tensor());
  const Tensor g = dense(call.input(0)), lse = dense(call.input(3));
  const Reduction reduction = reduction_of(call, kReductionAt);
  const double divisor = reduction == Reduction::mean ? data.total_weight() : 1;
  const double share = data.smoothing / double(data.split.size);
  for_rows(data.split, std::array{static_cast<const T*>(data.input.template data<T>())},
           call.output().data<T>(), [&](int64_t row, const auto& in, T* out) {
             const int64_t n = data.split.size;
             if (data.skips(row)) {
               std::memset(out, 0, size_t(n) * sizeof(T));
               return;
             }
             const double k = double(g.data<T>()[reduction == Reduction::none ? row : 0]) / divisor;
             const int64_t label = data.labels[size_t(row)];
             const double at_label = k * (1 - data.smoothing) * data.weight_of(label);
             scaled_exp_row(in[0], double(lse.data<T>()[row]), at_label + k * share * data.weight_sum, n,
                            out);
             if (data.smoothing > 0)
               for (int64_t c = 0; c < n; ++c) out[c] -= T(k * share * data.weight_of(c));
             out[label] -= T(at_label);
           });
}
void fused_grad_cpu(const Call& call) {
  call.input(1).dtype() == DType::f64 ? fused_backward<double>(call) : fused_backward<float>(call);
}
void fused_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
const Op kFusedGrad{.name = "_cross_entropy_grad",
                    .doc = "The gradient of cross_entropy from the logits and their log-sum-exp.",
                    .inputs = {{"grad"}, {"input"}, {"target"}, {"logsumexp"}, {"weight", true}},
                    .params = kCrossEntropyParams,
                    .shape = fused_grad_shape,
                    .cpu = fused_grad_cpu,
                    .family = OpFamily::loss,
                    .flops = {for_input<3, 1>, "3 for each logit: difference, exp, product"}};

void fused_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  const Tensor weight = b.has(2) ? b.input(2) : Tensor();
  b.set(0, apply1(kFusedGrad, {b.grad(), b.input(0), b.input(1), b.output(1), weight},
                  b.node().attributes->params));
}

// A vector of the classes in a shape that broadcasts with logits of this many dims.
Tensor over_classes(const Tensor& weight, int ndim) {
  Shape shape(ndim, 1);
  shape[ndim > 1 ? 1 : 0] = weight.numel();
  return reshape(weight, shape);
}

// For each row of log-probabilities: the one at its label, the weight of the row, and whether it counts.
struct LabelledRows {
  Tensor picked, weight, counts, labels;
};
LabelledRows label_rows(const Tensor& log_p, const Tensor& target, const Tensor& class_weight,
                        int64_t ignored) {
  const int dim = class_dim(log_p.shape());
  const Tensor counts = ne(target, Tensor::number(ignored));
  const Tensor labels = where(counts, to(target, DType::i64), Tensor::number(int64_t(0)));
  Tensor weight = ones(target.shape(), log_p.dtype(), log_p.device());
  if (class_weight.defined())
    weight = reshape(index_select(class_weight, 0, reshape(labels, {labels.numel()})), labels.shape());
  weight = where(counts, weight, Tensor::number(0.0));
  return {squeeze(gather(log_p, dim, unsqueeze(labels, dim)), dim), weight, counts, labels};
}

Operands fused_compose(const Call& call) {
  const Tensor &input = call.input(0), &target = call.input(1);
  const int dim = class_dim(input.shape());
  const double smoothing = call.real(kSmoothingAt);
  const Tensor zero = Tensor::number(0.0);
  const Tensor log_total = logsumexp(input, {dim}), log_p = log_softmax(input, dim);
  const LabelledRows rows =
      label_rows(log_p, target, call.has(2) ? call.input(2) : Tensor(), call.integer(kIgnoreAt));
  Tensor loss = -(rows.weight * rows.picked) * (1 - smoothing);
  if (smoothing > 0) {
    const Tensor weighed = call.has(2) ? log_p * over_classes(call.input(2), input.ndim()) : log_p;
    const double share = smoothing / double(input.size(dim));
    loss = loss - where(rows.counts, sum(weighed, {dim}), zero) * share;
  }
  const Reduction reduction = reduction_of(call, kReductionAt);
  if (reduction != Reduction::none) loss = sum(loss);
  if (reduction == Reduction::mean) loss = loss / sum(rows.weight);
  return {loss, log_total};
}
const Op kFused{.name = "_cross_entropy",
                .doc = "Cross entropy of logits and class ids, and the log-sum-exp of each row.",
                .inputs = {{"input"}, {"target"}, {"weight", true}},
                .params = kCrossEntropyParams,
                .shape = fused_shape,
                .cpu = fused_cpu,
                .vjp = fused_vjp,
                .reads = {{.inputs = 7, .outputs = 2}},
                .compose = fused_compose,
                .integer_inputs = 6,
                .family = OpFamily::loss,
                .flops = {for_input<4>, "4 for each logit: maximum, difference, exp, sum"}};

void check_cross_entropy(const Call& call) {
  const Tensor &input = call.input(0), &target = call.input(1);
  if (!is_floating(input.dtype()))
    fail("cross_entropy: the input must be floating-point (got ", input.dtype(), ")");
  if (input.ndim() == 0) fail("cross_entropy: the input needs at least 1 dim");
  const Shape rows = rows_of(input.shape());
  const bool probabilities = is_floating(target.dtype());
  if (!(target.shape() == (probabilities ? input.shape() : rows)))
    fail("cross_entropy: an input of shape ", input.shape(), " needs class ids of shape ", rows,
         " or probabilities of shape ", input.shape(), " (got ", target.dtype(), " of shape ", target.shape(),
         ")");
  if (target.dtype() == DType::boolean) fail("cross_entropy: class ids must be i64, i32 or u8 (got bool)");
  const int64_t classes = input.size(class_dim(input.shape()));
  if (call.has(2) && !(call.input(2).shape() == Shape{classes}))
    fail("cross_entropy: the weight must have shape [", classes, "] (got ", call.input(2).shape(), ")");
  const double smoothing = call.real(kSmoothingAt);
  if (!(smoothing >= 0 && smoothing <= 1))
    fail("cross_entropy: label_smoothing must lie in [0, 1] (got ", smoothing, ")");
}

// The loss of a row: -sum_c w_c t_c log p_c.
Tensor with_probabilities(const Call& call) {
  const Tensor& input = call.input(0);
  Tensor target = call.input(1);
  const int dim = class_dim(input.shape());
  const double smoothing = call.real(kSmoothingAt), classes = double(input.size(dim));
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / classes;
  Tensor terms = target * log_softmax(input, dim);
  if (call.has(2)) terms = terms * over_classes(call.input(2), input.ndim());
  return reduced(-sum(terms, {dim}), reduction_of(call, kReductionAt));
}

// 16-bit logits are widened here, so that the log-sum-exp is kept in f32.
Operands cross_entropy_compose(const Call& call) {
  check_cross_entropy(call);
  const Tensor& input = call.input(0);
  if (is_floating(call.input(1).dtype())) return {with_probabilities(call)};
  const DType wide = is_half(input.dtype()) ? DType::f32 : input.dtype();
  const Tensor weight = call.has(2) ? to(call.input(2), wide) : Tensor();
  return {to(apply1(kFused, {to(input, wide), call.input(1), weight}, call.params), input.dtype())};
}
const Op kCrossEntropy{.name = "cross_entropy",
                       .doc = "Cross entropy of the logits input with class ids (from 0) or probabilities.",
                       .inputs = {{"input"}, {"target"}, {"weight", true}},
                       .params = kCrossEntropyParams,
                       .compose = cross_entropy_compose,
                       .family = OpFamily::loss,
                       .autocast = AutocastPolicy::wide};

// --- nll_loss, kl_div ---

const std::vector<ParamSpec> kNllParams = {{"ignore_index", ParamKind::integer, -100}, kReduction};

void nll_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
Operands nll_grad_compose(const Call& call) {
  const Tensor& log_p = call.input(1);
  const int dim = class_dim(log_p.shape());
  const LabelledRows rows =
      label_rows(log_p, call.input(2), call.has(4) ? call.input(4) : Tensor(), call.integer(0));
  Tensor slope = -(rows.weight * call.input(0));
  if (reduction_of(call, 1) == Reduction::mean) slope = slope / call.input(3);
  return {scatter(blank(log_p.shape(), log_p.dtype(), log_p.device()), dim, unsqueeze(rows.labels, dim),
                  unsqueeze(slope, dim))};
}
const Op kNllGrad{.name = "_nll_loss_grad",
                  .doc = "The gradient of nll_loss, from the total weight of the rows.",
                  .inputs = {{"grad"}, {"input"}, {"target"}, {"total"}, {"weight", true}},
                  .params = kNllParams,
                  .shape = nll_grad_shape,
                  .compose = nll_grad_compose,
                  .family = OpFamily::loss,
                  .flops = kMovesData};

// The loss, and for a mean the total weight of the rows.
void fused_nll_shape(Call& call) {
  const Tensor &log_p = call.input(0), &target = call.input(1);
  call.emit(reduction_of(call, 1) == Reduction::none ? target.shape() : Shape{}, log_p.dtype());
  call.emit(reduction_of(call, 1) == Reduction::mean ? Shape{} : Shape{0}, log_p.dtype());
}
Operands fused_nll_compose(const Call& call) {
  const Tensor &log_p = call.input(0), &target = call.input(1);
  const int64_t ignored = call.integer(0);
  check_labels("nll_loss", target.to_vector<int64_t>(), log_p.size(class_dim(log_p.shape())), ignored);
  const LabelledRows rows = label_rows(log_p, target, call.has(2) ? call.input(2) : Tensor(), ignored);
  const Tensor loss = -(rows.weight * rows.picked), total = sum(rows.weight);
  if (reduction_of(call, 1) == Reduction::none) return {loss, total};
  return {reduction_of(call, 1) == Reduction::mean ? sum(loss) / total : sum(loss), total};
}
void fused_nll_vjp(Backward& b) {
  if (b.create_graph() || (b.has(2) && b.needs(2))) return differentiate_composition(b);
  const Tensor weight = b.has(2) ? b.input(2) : Tensor();
  b.set(0, apply1(kNllGrad, {b.grad(), b.input(0), b.input(1), b.output(1), weight},
                  b.node().attributes->params));
}
const Op kFusedNll{.name = "_nll_loss",
                   .doc = "nll_loss and the total weight of the rows.",
                   .inputs = {{"input"}, {"target"}, {"weight", true}},
                   .params = kNllParams,
                   .shape = fused_nll_shape,
                   .vjp = fused_nll_vjp,
                   .reads = {{.inputs = 7, .outputs = 2}},
                   .compose = fused_nll_compose,
                   .integer_inputs = 2,
                   .family = OpFamily::loss,
                   .flops = {for_input<1, 1>, "1 for each label"}};

Operands nll_compose(const Call& call) {
  const Tensor &log_p = call.input(0), &target = call.input(1);
  if (log_p.ndim() == 0 || !(target.shape() == rows_of(log_p.shape())) || is_floating(target.dtype()))
    fail("nll_loss: log-probabilities of shape ", log_p.shape(), " need class ids of that shape without dim ",
         log_p.ndim() > 1 ? 2 : 1, " (got ", target.dtype(), " of shape ", target.shape(), ")");
  const int64_t classes = log_p.size(class_dim(log_p.shape()));
  if (call.has(2) && !(call.input(2).shape() == Shape{classes}))
    fail("nll_loss: the weight must have shape [", classes, "] (got ", call.input(2).shape(), ")");
  return {apply1(kFusedNll, {log_p, target, call.has(2) ? call.input(2) : Tensor()}, call.params)};
}
const Op kNllLoss{.name = "nll_loss",
                  .doc = "-weight[y] input[y] for log-probabilities and the class ids y (from 0) in target.",
                  .inputs = {{"input"}, {"target"}, {"weight", true}},
                  .params = kNllParams,
                  .compose = nll_compose,
                  .integer_inputs = 2,
                  .family = OpFamily::loss,
                  .autocast = AutocastPolicy::wide};

// t (log t - x), 0 where t is 0; "batchmean" divides the sum by the size of dim 1.
Operands kl_div_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("kl_div", x, target);
  const LossTerm term = call.flag(1) ? LossTerm::log_divergence : LossTerm::divergence;
  if (call.integer(0) != 3) return {folded_loss(term, x, target, 1, reduction_of(call))};
  if (x.ndim() == 0) fail("kl_div: batchmean needs at least 1 dim");
  return {folded_loss(term, x, target, 1, Reduction::sum) / double(x.size(0))};
}
const Op kKlDiv{
    .name = "kl_div",
    .doc = "Kullback-Leibler divergence of target from the log-probabilities input.",
    .inputs = {{"input"}, {"target"}},
    .params = {{"reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum", "batchmean"}},
               {"log_target", ParamKind::boolean, false}},
    .compose = kl_div_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::wide};

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
    .autocast = AutocastPolicy::wide};

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
    .autocast = AutocastPolicy::wide};

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return apply1(kMseLoss, {input, target}, {int(reduction)});
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options) {
  return apply1(kCrossEntropy, {input, target, options.weight},
                {options.ignore_index, int(options.reduction), options.label_smoothing});
}

std::span<const Op* const> loss_ops() {
  static const Op* const ops[] = {&kMseLoss,         &kL1Loss,        &kHuberLoss,      &kSmoothL1Loss,
                                  &kBceLoss,         &kBceLogitsLoss, &kCrossEntropy,   &kFused,
                                  &kFusedGrad,       &kNllLoss,       &kFusedNll,       &kNllGrad,
                                  &folded_loss_op(), &kKlDiv,         &kPoissonNllLoss, &kGaussianNllLoss};
  return ops;
}

}  // namespace lunagrad
