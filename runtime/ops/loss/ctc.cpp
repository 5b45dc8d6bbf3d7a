// Connectionist temporal classification: Graves, Fernández, Gomez, Schmidhuber, ICML 2006. A target of S
// labels has 2 S + 1 states: a blank before, between and after the labels. All sums are computed from
// logarithms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/loss/loss.h"

namespace lunagrad {
namespace {

// Operands of the record and of the op.
enum { kLogProbs, kTargets, kInputLengths, kTargetLengths };
// Parameters of the record.
enum { kBlank, kZeroInfinity };

std::vector<int64_t> integers(const Tensor& x) {
  std::vector<int64_t> values(size_t(x.numel()));
  copy_strided(values.data(), DType::i64, contiguous_strides(x.shape()), x.raw(), x.dtype(), x.strides(),
               x.shape());
  return values;
}

template <class T>
T log_sum(T a, T b, T c = -std::numeric_limits<T>::infinity()) {
  const T most = std::max({a, b, c});
  // All terms are -inf, or std::max() ignored a NaN.
  if (!(most > -std::numeric_limits<T>::infinity())) return a + b + c;
  return most + std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most));
}

// A batch in memory: the log-probabilities [T, N, C], and each item's length and states.
struct Batch {
  Tensor log_probs;
  int64_t steps, items, classes, blank;
  std::vector<int64_t> input_lengths, target_lengths, labels,
      first;  // first: position of an item's first label in labels

  explicit Batch(const Call& call, int at = 0)
      : log_probs(in_order(call.input(at + kLogProbs))),
        steps(log_probs.size(0)),
        items(log_probs.size(1)),
        classes(log_probs.size(2)),
        blank(call.integer(kBlank)),
        input_lengths(integers(call.input(at + kInputLengths))),
        target_lengths(integers(call.input(at + kTargetLengths))),
        labels(integers(call.input(at + kTargets))),
        first(size_t(items)) {
    const Tensor& targets = call.input(at + kTargets);
    int64_t total = 0;
    for (size_t i = 0; i < first.size(); ++i) {
      first[i] = targets.ndim() == 1 ? total : int64_t(i) * targets.size(1);
      total += target_lengths[i];
    }
  }

  // The label of a state; even states are blanks.
  int64_t states(int64_t item) const { return 2 * target_lengths[size_t(item)] + 1; }
  int64_t label(int64_t item, int64_t state) const {
    return state % 2 ? labels[size_t(first[size_t(item)] + state / 2)] : blank;
  }
  // Whether a path may reach the state from two states before, without the blank between them.
  bool skips(int64_t item, int64_t state) const {
    return state % 2 && state >= 2 && label(item, state) != label(item, state - 2);
  }
  template <class T>
  const T* at(int64_t step, int64_t item) const {
    return log_probs.data<T>() + (step * items + item) * classes;
  }
};

int64_t longest(const std::vector<int64_t>& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

// -log of the probability of all paths, from the last row of alpha.
template <class T>
T negative_log_likelihood(const Batch& batch, int64_t item, const T* alpha, int64_t width) {
  const int64_t steps = batch.input_lengths[size_t(item)], states = batch.states(item);
  if (steps == 0) return states == 1 ? T(0) : std::numeric_limits<T>::infinity();
  const T* const last = alpha + (steps - 1) * width;
  return states == 1 ? -last[0] : -log_sum(last[states - 1], last[states - 2]);
}

// alpha_t(s) = p_t(l_s) (alpha_{t-1}(s) + alpha_{t-1}(s - 1) + alpha_{t-1}(s - 2) if it may skip)
template <class T>
void fill_alpha(const Batch& batch, int64_t item, T* alpha, int64_t width) {
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  const int64_t states = batch.states(item);
  for (int64_t t = 0; t < batch.input_lengths[size_t(item)]; ++t) {
    if (t % 64 == 63) context().check_stop();
    const T* const p = batch.at<T>(t, item);
    const T* const before = alpha + (t - 1) * width;
    T* const now = alpha + t * width;
    for (int64_t s = 0; s < states; ++s) {
      const T come = t == 0 ? (s < 2 ? T(0) : kNever)
                            : log_sum(before[s], s > 0 ? before[s - 1] : kNever,
                                      batch.skips(item, s) ? before[s - 2] : kNever);
      now[s] = come + p[batch.label(item, s)];
    }
  }
}

void ctc_shape(Call& call) {
  const Tensor& log_probs = call.input(kLogProbs);
  const int64_t most = longest(call.input(kTargetLengths).to_vector<int64_t>());
  call.emit(Shape{log_probs.size(1)}, log_probs.dtype());
  call.emit(Shape{log_probs.size(1), log_probs.size(0), 2 * most + 1}, log_probs.dtype());
}

template <class T>
void run_ctc(const Call& call) {
  const Batch batch(call);
  const Tensor& alpha = call.output(1);
  const int64_t width = alpha.size(2);
  std::fill_n(alpha.data<T>(), alpha.numel(), -std::numeric_limits<T>::infinity());
  parallel_for(batch.items, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      T* const rows = alpha.data<T>() + item * batch.steps * width;
      fill_alpha(batch, item, rows, width);
      const T loss = negative_log_likelihood(batch, item, rows, width);
      call.output().data<T>()[item] = call.flag(kZeroInfinity) && std::isinf(loss) ? T(0) : loss;
    }
  });
}
void ctc_cpu(const Call& call) {
  call.input(0).dtype() == DType::f64 ? run_ctc<double>(call) : run_ctc<float>(call);
}

// beta_t(s) is alpha backwards in time. The derivative of the loss by log p_t(c) is minus the share of the
// paths that are in a state with label c at step t: the sum over those states of alpha beta / (p_t(c) p(all
// paths)).
template <class T>
void fill_gradient(const Batch& batch, int64_t item, T scale, T loss, const T* alpha, int64_t width,
                   T* gradient) {
  constexpr T kNever = -std::numeric_limits<T>::infinity();
  const int64_t states = batch.states(item), steps = batch.input_lengths[size_t(item)];
  std::vector<T> now(size_t(states) + 2, kNever), later = now;
  for (int64_t t = steps - 1; t >= 0; --t) {
    if (t % 64 == 63) context().check_stop();
    const T* const p = batch.at<T>(t, item);
    T* const to = gradient + (t * batch.items + item) * batch.classes;
    for (int64_t s = 0; s < states; ++s) {
      const int64_t label = batch.label(item, s);
      const bool skip = s + 2 < states && batch.skips(item, s + 2);
      const T go = t == steps - 1 ? (s >= states - 2 ? T(0) : kNever)
                                  : log_sum(later[size_t(s)], later[size_t(s + 1)],
                                            skip ? later[size_t(s + 2)] : kNever);
      now[size_t(s)] = go + p[label];
      // alpha contains p_t, go does not.
      to[label] -= scale * std::exp(alpha[t * width + s] + go + loss);
    }
    std::swap(now, later);
  }
}

// Operands: the gradient of the losses, the record's operands, alpha.
template <class T>
void run_ctc_grad(const Call& call) {
  const Batch batch(call, 1);
  const Tensor g = in_order(call.input(0)), alpha = in_order(call.input(5));
  const int64_t width = alpha.size(2);
  T* const gradient = call.output().data<T>();
  std::fill_n(gradient, call.output().numel(), T(0));
  parallel_for(batch.items, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const T* const rows = alpha.data<T>() + item * batch.steps * width;
      const T loss = negative_log_likelihood(batch, item, rows, width);
      if (call.flag(kZeroInfinity) && std::isinf(loss)) continue;
      fill_gradient(batch, item, g.data<T>()[item], loss, rows, width, gradient);
    }
  });
}
void ctc_grad_cpu(const Call& call) {
  call.input(1).dtype() == DType::f64 ? run_ctc_grad<double>(call) : run_ctc_grad<float>(call);
}
void ctc_grad_shape(Call& call) { call.emit(call.input(1).shape(), call.input(1).dtype()); }
void ctc_grad_vjp(Backward&) { fail("ctc_loss: its gradient cannot be differentiated a second time"); }

// The log-sum-exp of 3 takes 2 comparisons, 3 differences, 3 exp, 2 sums and a logarithm.
double ctc_flops(const Call& call) { return 12 * elements(call.out[1]); }
double ctc_grad_flops(const Call& call) { return 16 * elements(call.in[5]); }

const std::vector<ParamSpec> kCtcParams = {{"blank", ParamKind::integer, 0},
                                           {"zero_infinity", ParamKind::boolean, false}};

const Op kCtcGrad{
    .name = "_ctc_loss_grad",
    .doc = "The gradient of ctc_loss.",
    .inputs = {{"grad"}, {"log_probs"}, {"targets"}, {"input_lengths"}, {"target_lengths"}, {"log_alpha"}},
    .params = kCtcParams,
    .shape = ctc_grad_shape,
    .cpu = ctc_grad_cpu,
    .vjp = ctc_grad_vjp,
    .half_through_f32 = true,
    .integer_inputs = 0b011100,
    .family = OpFamily::loss,
    .flops = {ctc_grad_flops,
              "16 for each of the 2 S + 1 states at each step: the backward sums, exp, a product and a sum"}};

void ctc_vjp(Backward& b) {
  b.set(kLogProbs, apply1(kCtcGrad,
                          {b.grad(), b.input(kLogProbs), b.input(kTargets), b.input(kInputLengths),
                           b.input(kTargetLengths), b.output(1)},
                          b.node().attributes->params));
}
const Op kCtc{
    .name = "_ctc_loss",
    .doc = "The loss of each item of ctc_loss, and the logarithms of its forward sums.",
    .inputs = {{"log_probs"}, {"targets"}, {"input_lengths"}, {"target_lengths"}},
    .params = kCtcParams,
    .shape = ctc_shape,
    .cpu = ctc_cpu,
    .vjp = ctc_vjp,
    .reads = {{.inputs = 0b1111, .outputs = 2}},
    .half_through_f32 = true,
    .integer_inputs = 0b1110,
    .family = OpFamily::loss,
    .flops = {ctc_flops, "12 for each of the 2 S + 1 states at each step: the log-sum-exp of 3 and a sum"}};

void need_integers(const Call& call, int operand) {
  const DType dtype = call.input(operand).dtype();
  if (dtype != DType::i64 && dtype != DType::i32 && dtype != DType::u8)
    fail("ctc_loss: ", call.op->inputs[size_t(operand)].name, " must be i64, i32 or u8 (got ", dtype, "); ",
         call.op->inputs[size_t(operand)].name, ":long() converts them");
}

// Error unless all labels and lengths fit the log-probabilities [T, N, C].
void check_ctc(const Call& call, const Tensor& log_probs, const Tensor& targets,
               const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
               int64_t blank) {
  const int64_t steps = log_probs.size(0), items = log_probs.size(1), classes = log_probs.size(2);
  if (!is_floating(log_probs.dtype()))
    fail("ctc_loss: log_probs must be of a floating type (got ", log_probs.dtype(), ")");
  if (blank < 0 || blank >= classes)
    fail("ctc_loss: blank ", blank, " is out of range for ", classes, " classes (they count from 0)");
  for (const int operand : {kTargets, kInputLengths, kTargetLengths}) need_integers(call, operand);
  for (const auto* lengths : {&input_lengths, &target_lengths})
    if (int64_t(lengths->size()) != items)
      fail("ctc_loss: ", items, " items need ", items, " input_lengths and target_lengths (got ",
           lengths->size(), ")");
  for (size_t i = 0; i < input_lengths.size(); ++i) {
    if (input_lengths[i] < 0 || input_lengths[i] > steps)
      fail("ctc_loss: input length ", input_lengths[i], " of item ", i + 1, " is out of range for ", steps,
           " steps");
    if (target_lengths[i] < 0)
      fail("ctc_loss: target length ", target_lengths[i], " of item ", i + 1, " is negative");
  }
  const int64_t total = std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t(0));
  if (targets.ndim() != 1 && targets.ndim() != 2)
    fail("ctc_loss: targets must be [N, S] or all in one row (got shape ", targets.shape(), ")");
  if (targets.ndim() == 1 && targets.size(0) != total)
    fail("ctc_loss: targets in one row must be as many as the target_lengths together, ", total, " (got ",
         targets.size(0), ")");
  if (targets.ndim() == 2 && (targets.size(0) != items || targets.size(1) < longest(target_lengths)))
    fail("ctc_loss: targets of shape ", targets.shape(), " do not hold ", items, " targets of up to ",
         longest(target_lengths), " labels");
  const std::vector<int64_t> labels = targets.to_vector<int64_t>();
  int64_t at = 0;
  for (int64_t item = 0; item < items; ++item) {
    if (targets.ndim() == 2) at = item * targets.size(1);
    for (int64_t i = 0; i < target_lengths[size_t(item)]; ++i, ++at)
      if (labels[size_t(at)] < 0 || labels[size_t(at)] >= classes)
        fail("ctc_loss: label ", labels[size_t(at)], " of item ", item + 1, " is out of range for ", classes,
             " classes (labels count from 0)");
  }
}

Operands ctc_loss_compose(const Call& call) {
  const Tensor& given = call.input(kLogProbs);
  if (given.ndim() != 2 && given.ndim() != 3)
    fail("ctc_loss: log_probs must be [T, N, C] or [T, C] (got shape ", given.shape(), ")");
  const bool unbatched = given.ndim() == 2;
  const Tensor log_probs = unbatched ? unsqueeze(given, 1) : given;
  const Tensor input_lengths = flatten(call.input(kInputLengths));
  const Tensor target_lengths = flatten(call.input(kTargetLengths));
  const Tensor& targets = call.input(kTargets);
  check_ctc(call, log_probs, targets, input_lengths.to_vector<int64_t>(), target_lengths.to_vector<int64_t>(),
            call.integer(0));
  const Tensor losses =
      apply1(kCtc, {log_probs, targets, input_lengths, target_lengths}, {call.integer(0), call.flag(2)});
  switch (Reduction(call.integer(1))) {
    case Reduction::none:
      return {unbatched ? squeeze(losses, 0) : losses};
    case Reduction::sum:
      return {sum(losses)};
    case Reduction::mean:
      break;
  }
  const Tensor lengths = maximum(to(target_lengths, losses.dtype()), Tensor::number(1.0));
  return {mean(losses / to(lengths, losses.device()))};
}
const Op kCtcLoss{
    .name = "ctc_loss",
    .doc = "-log of the probability that log_probs [T, N, C] spell targets, with blanks between labels.",
    .inputs = {{"log_probs"}, {"targets"}, {"input_lengths"}, {"target_lengths"}},
    .params = {{"blank", ParamKind::integer, 0}, kReduction, {"zero_infinity", ParamKind::boolean, false}},
    .compose = ctc_loss_compose,
    .integer_inputs = 0b1110,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, Reduction reduction, bool zero_infinity) {
  return apply1(kCtcLoss, {log_probs, targets, input_lengths, target_lengths},
                {blank, int(reduction), zero_infinity});
}

std::span<const Op* const> ctc_ops() {
  static constexpr const Op* ops[] = {&kCtcLoss, &kCtc, &kCtcGrad};
  return ops;
}

}  // namespace lunagrad
