// Losses of class ids: cross_entropy and nll_loss. cross_entropy is fused: it keeps the log-sum-exp of each
// row and computes the gradient from it and the logits, without an intermediate tensor of the input's size.
// The kernels may take 16-bit operands. The loss and the values that are kept for each row are then f32, so
// that the loss is rounded once, or under autocast not at all.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/cpu/rows.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/loss/loss.h"
#include "runtime/ops/nn/cpu/softmax.h"

namespace lunagrad {
namespace {

// The dtype of a loss of operands of this dtype. Under autocast losses are f32, and no operand has to be
// cast.
DType loss_type(DType type) { return context().autocast ? accumulate_type(type) : type; }

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
      : input(in_order(logits)),
        split(logits.shape(), class_dim(logits.shape())),
        labels(size_t(target.numel())),
        weight_sum(double(split.size)),
        ignored(call.integer(kIgnoreAt)),
        smoothing(call.real(kSmoothingAt)) {
    copy_strided(labels.data(), DType::i64, contiguous_strides(target.shape()), target.raw(), target.dtype(),
                 target.strides(), target.shape());
    check_labels("cross_entropy", labels, split.size, ignored);
    if (!class_weight.defined()) return;
    weights = in_order(class_weight);
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
  const Tensor& input = call.input(0);
  const Shape rows = rows_of(input.shape());
  const DType type = accumulate_type(input.dtype());
  call.emit(reduction_of(call, kReductionAt) == Reduction::none ? rows : Shape{}, type);
  call.emit(rows, type);
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
// factor k of the row: dx_c = k ((1 - s) w_y + s / C sum w) p_c - k s / C w_c, minus k (1 - s) w_y at the
// label.
template <class T>
class CrossEntropyGrad final : public RowKernel {
 public:
  explicit CrossEntropyGrad(const Call& call)
      : RowKernel(call.input(2).numel(), call.input(1).size(class_dim(call.input(1).shape()))),
        data_(call, call.input(1), call.input(2), call.has(4) ? call.input(4) : Tensor()),
        g_(in_order(call.input(0))),
        lse_(in_order(call.input(3))),
        reduction_(reduction_of(call, kReductionAt)),
        divisor_(reduction_ == Reduction::mean ? data_.total_weight() : 1),
        share_(data_.smoothing / double(columns())) {}

  void run(int64_t row, const void* const* in, void* out) const override {
    const int64_t n = columns();
    T* const dx = static_cast<T*>(out);
    if (data_.skips(row)) {
      std::memset(dx, 0, size_t(n) * sizeof(T));
      return;
    }
    const double k = double(g_.data<T>()[reduction_ == Reduction::none ? row : 0]) / divisor_;
    const int64_t label = data_.labels[size_t(row)];
    const double at_label = k * (1 - data_.smoothing) * data_.weight_of(label);
    scaled_exp_row(static_cast<const T*>(in[1]), double(lse_.data<T>()[row]),
                   at_label + k * share_ * data_.weight_sum, n, dx);
    if (data_.smoothing > 0)
      for (int64_t c = 0; c < n; ++c) dx[c] -= T(k * share_ * data_.weight_of(c));
    dx[label] -= T(at_label);
  }

  // The gradient for logits of any strides, where the dim of the classes may be a middle one.
  void run_all(T* dx) const {
    for_rows(data_.split, std::array{static_cast<const T*>(data_.input.template data<T>())}, dx,
             [&](int64_t row, const auto& x, T* out) {
               const void* const in[] = {nullptr, x[0]};
               run(row, in, out);
             });
  }

 private:
  Labelled<T> data_;
  Tensor g_, lse_;
  Reduction reduction_;
  double divisor_, share_;
};
void fused_grad_cpu(const Call& call) {
  const auto run = [&]<class T>() { CrossEntropyGrad<T>(call).run_all(call.output().data<T>()); };
  call.input(1).dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
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

// Reshapes a vector with an element for each class so that it broadcasts with logits of this many dims.
Tensor over_classes(const Tensor& weight, int ndim) {
  Shape shape(ndim, 1);
  shape[ndim > 1 ? 1 : 0] = weight.numel();
  return reshape(weight, shape);
}

// For each row of log-probabilities: the log-probability of its label (picked), its weight, and whether it
// counts. If a row does not count, `picked` and `weight` are 0, so that neither a -infinity in it nor a total
// of 0 spreads.
struct LabelledRows {
  Tensor picked, weight, counts, labels;  // `picked` and `weight` are f32 for 16-bit rows
};
LabelledRows label_rows(const Tensor& log_p, const Tensor& target, const Tensor& class_weight,
                        int64_t ignored) {
  const int dim = class_dim(log_p.shape());
  const Tensor counts = ne(target, Tensor::number(ignored));
  const Tensor labels = where(counts, to(target, DType::i64), Tensor::number(int64_t(0)));
  const DType type = accumulate_type(log_p.dtype());
  Tensor weight = ones(target.shape(), type, log_p.device());
  if (class_weight.defined())
    weight = reshape(index_select(class_weight, 0, reshape(labels, {labels.numel()})), labels.shape());
  weight = where(counts, weight, Tensor::number(0.0));
  const Tensor picked = squeeze(gather(log_p, dim, unsqueeze(labels, dim)), dim);
  return {where(counts, to(picked, type), Tensor::number(0.0)), weight, counts, labels};
}

Operands fused_compose(const Call& call) {
  const Tensor &input = call.input(0), &target = call.input(1);
  if (is_16bit_float(input.dtype())) {
    Operands upcast = call.in;
    upcast[0] = to(input, DType::f32);
    return apply(*call.op, upcast, call.params);
  }
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
// Calls that the device has no kernel for. The CPU's kernel takes no 16-bit logits.
bool fused_composed(const Call& call) {
  Device& device = call.device();
  if (&device == &cpu_device()) return is_16bit_float(call.input(0).dtype());
  Call laid_out = call;
  fused_shape(laid_out);
  return !device.supports(laid_out);
}
const Op kFused{.name = "_cross_entropy",
                .doc =
                    "Cross entropy of logits and class ids, and the log-sum-exp of each row; both f32 of "
                    "16-bit logits.",
                .inputs = {{"input"}, {"target"}, {"weight", true}},
                .params = kCrossEntropyParams,
                .shape = fused_shape,
                .cpu = fused_cpu,
                .vjp = fused_vjp,
                .reads = {{.inputs = 7, .outputs = 2}},
                .compose = fused_compose,
                .composed = fused_composed,
                .integer_inputs = 6,
                .family = OpFamily::loss,
                .flops = {for_input<4>, "4 for each logit: maximum, difference, exp, sum"}};

// For error texts: how to convert a target with one number for each row to class ids, as in "; target:long()
// makes class ids". Empty if a conversion would not help.
std::string class_id_advice(const Tensor& target, const Shape& rows) {
  const bool fits = target.shape() == rows, reals = is_floating(target.dtype());
  if (fits ? !reals : rows.size() != 1 || target.numel() != rows[0]) return {};
  return text("; target", fits ? "" : ":flatten()", reals ? ":long()" : "", " makes class ids");
}

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
         ")", class_id_advice(target, rows));
  if (target.dtype() == DType::boolean)
    fail("cross_entropy: class ids must be i64, i32 or u8 (got bool); target:long() makes class ids");
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

Operands cross_entropy_compose(const Call& call) {
  check_cross_entropy(call);
  const Tensor& input = call.input(0);
  const DType type = input.dtype();
  if (is_floating(call.input(1).dtype())) {
    if (loss_type(type) == type) return {with_probabilities(call)};
    Call upcast = call;
    for (Tensor& x : upcast.in)
      if (x.defined() && is_16bit_float(x.dtype())) x = to(x, DType::f32);
    return {with_probabilities(upcast)};
  }
  const Tensor weight = call.has(2) ? to(call.input(2), accumulate_type(type)) : Tensor();
  return {to(apply1(kFused, {input, call.input(1), weight}, call.params), loss_type(type))};
}
const Op kCrossEntropy{.name = "cross_entropy",
                       .doc = "Cross entropy of the logits input with class ids (from 0) or probabilities.",
                       .inputs = {{"input"}, {"target"}, {"weight", true}},
                       .params = kCrossEntropyParams,
                       .compose = cross_entropy_compose,
                       .family = OpFamily::loss};

// --- nll_loss ---

const std::vector<ParamSpec> kNllParams = {{"ignore_index", ParamKind::integer, -100}, kReduction};

void nll_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
Operands nll_grad_compose(const Call& call) {
  const Tensor& log_p = call.input(1);
  const int dim = class_dim(log_p.shape());
  const LabelledRows rows =
      label_rows(log_p, call.input(2), call.has(4) ? call.input(4) : Tensor(), call.integer(0));
  Tensor slope = -(rows.weight * call.input(0));
  if (reduction_of(call, 1) == Reduction::mean) slope = slope / call.input(3);
  slope = where(rows.counts, slope, Tensor::number(0.0));  // the total is 0 if no row counts
  return {scatter(blank(log_p.shape(), log_p.dtype(), log_p.device()), dim, unsqueeze(rows.labels, dim),
                  unsqueeze(to(slope, log_p.dtype()), dim))};
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
  const DType type = accumulate_type(log_p.dtype());
  call.emit(reduction_of(call, 1) == Reduction::none ? target.shape() : Shape{}, type);
  call.emit(reduction_of(call, 1) == Reduction::mean ? Shape{} : Shape{0}, type);
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
                   .doc = "nll_loss and the total weight of the rows; both f32 of 16-bit operands.",
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
         log_p.ndim() > 1 ? 2 : 1, " (got ", target.dtype(), " of shape ", target.shape(), ")",
         log_p.ndim() > 0 ? class_id_advice(target, rows_of(log_p.shape())) : "");
  const int64_t classes = log_p.size(class_dim(log_p.shape()));
  if (call.has(2) && !(call.input(2).shape() == Shape{classes}))
    fail("nll_loss: the weight must have shape [", classes, "] (got ", call.input(2).shape(), ")");
  if (!call.has(2))
    return {to(apply1(kFusedNll, {log_p, target, {}}, call.params), loss_type(log_p.dtype()))};
  const Tensor& weight = call.input(2);
  const DType type = promote(log_p.dtype(), weight.dtype());
  return {to(apply1(kFusedNll, {log_p, target, to(weight, accumulate_type(weight.dtype()))}, call.params),
             loss_type(type))};
}
const Op kNllLoss{.name = "nll_loss",
                  .doc = "-weight[y] input[y] for log-probabilities and the class ids y (from 0) in target.",
                  .inputs = {{"input"}, {"target"}, {"weight", true}},
                  .params = kNllParams,
                  .compose = nll_compose,
                  .integer_inputs = 2,
                  .family = OpFamily::loss};

}  // namespace

Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options) {
  return apply1(kCrossEntropy, {input, target, options.weight},
                {options.ignore_index, int(options.reduction), options.label_smoothing});
}

std::span<const RowKernelMaker> class_loss_row_kernels() {
  static const RowKernelMaker all[] = {row_kernel_maker<CrossEntropyGrad>(kFusedGrad)};
  return all;
}

std::span<const Op* const> class_loss_ops() {
  static const Op* const ops[] = {&kCrossEntropy, &kFused, &kFusedGrad, &kNllLoss, &kFusedNll, &kNllGrad};
  return ops;
}

}  // namespace lunagrad
