// The optimizers' steps: all parameters of a group in one call and one parallel pass. Operands are lists of
// equal length, one after the other: parameters, gradients, then each kind of state. All but the gradients
// are written in place. The numbers are arguments of the call, since they change from step to step: settings
// (SGD and Adam, see sgd_step and adam_step) or what is worked out from them (cpu/optimizer.h).
#include <algorithm>
#include <cmath>
#include <span>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/optimizer_rule.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 16384;  // elements; 20 µs at the speed of memory

// The positions of the arguments, the same on every device.
enum SgdArgument { kSgdLr, kMomentum, kDampening, kSgdDecay, kSgdStep, kNesterov, kSgdMaximize };
enum AdamArgument { kLr, kBeta1, kBeta2, kEps, kDecay, kStep, kMaximize, kAmsgrad };

size_t sgd_lists(const Call& call) { return call.args[kMomentum].f != 0 ? 3 : 2; }
size_t adam_lists(const Call& call) { return call.args[kAmsgrad].f != 0 ? 5 : 4; }

constexpr const char* kListNames[] = {"parameter", "gradient", "first state", "second state", "third state"};

// A complex tensor as its parts, twice as many real numbers in the same memory: the rules work on each part,
// as in PyTorch.
void take_parts(Call& call) {
  for (Tensor& x : call.in) {
    if (!is_complex(x.dtype())) continue;
    Shape shape = x.shape();
    Strides strides = x.strides();
    for (int d = 0; d < strides.size(); ++d) strides[d] *= 2;
    shape.push_back(2);
    strides.push_back(1);
    x = Tensor(x.storage_ref(), LayoutRef(new Layout(shape, strides)), 2 * x.offset(), part_type(x.dtype()));
  }
}

// Checks `lists` lists, and notes that all but the gradients are about to be written.
void check_lists(Call& call, size_t lists) {
  if (call.in.empty() || call.in.size() % lists != 0)
    fail(call.op->name, ": ", lists, " lists of equal length expected (got ", call.in.size(), " tensors)");
  const size_t n = call.in.size() / lists;
  for (size_t i = 0; i < n; ++i) {
    const Tensor& param = call.in[i];
    if (!is_differentiable(param.dtype()))
      fail(call.op->name, ": parameter ", i + 1, " has type ", param.dtype(),
           "; only floating and complex types can be trained");
    for (size_t list = 1; list < lists; ++list) {
      const Tensor& x = call.in[list * n + i];
      if (!(x.shape() == param.shape()) || x.dtype() != param.dtype())
        fail(call.op->name, ": ", kListNames[list], " ", i + 1, " is ", x.dtype(), ' ', x.shape(),
             " where the parameter is ", param.dtype(), ' ', param.shape());
    }
  }
  context().check_may_change(call.op->name);
  for (size_t list = 0; list < lists; ++list)
    for (size_t i = 0; list != 1 && i < n; ++i) call.in[list * n + i].storage().mark_written(call.op->name);
  take_parts(call);
}

// Calls f.operator()<T>(tensor, begin, end) on stretches that cover all elements of `tensors`, on all
// threads.
template <class F>
void for_stretches(std::span<const Tensor> tensors, F&& f) {
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (const Tensor& x : tensors) ends.push_back(total += x.numel());
  parallel_for(total, kGrain, [&](int64_t begin, int64_t end) {
    size_t i = size_t(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
    for (; begin < end; ++i) {
      const int64_t start = ends[i] - tensors[i].numel(), stop = std::min(end, ends[i]);
      if (stop <= begin) continue;
      visit_dtype(tensors[i].dtype(), [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) f.template operator()<T>(i, begin - start, stop - start);
      });
      begin = stop;
    }
  });
}

// Operands whose elements do not lie in order are worked on in copies that are written back.
class InOrder {
 public:
  InOrder(const Call& call, size_t lists) : call_(call), n_(call.in.size() / lists), lists_(&call.in) {
    const auto lies_in_order = [](const Tensor& x) { return x.is_contiguous(); };
    if (std::all_of(call.in.begin(), call.in.end(), lies_in_order)) return;
    copies_ = call.in;
    for (Tensor& x : copies_) x = in_order(x);
    lists_ = &copies_;
  }
  void write_back() const {
    for (size_t i = 0; i < copies_.size(); ++i) {
      const Tensor &from = copies_[i], &to = call_.in[i];
      if (i / n_ != 1 && !from.same(to))
        copy_strided(to.raw(), to.dtype(), to.strides(), from.raw(), from.dtype(), from.strides(),
                     to.shape());
    }
  }
  std::span<const Tensor> params() const { return {lists_->data(), n_}; }
  template <class T>
  T* data(size_t list, size_t i) const {
    return (*lists_)[list * n_ + i].data<T>();
  }

 private:
  const Call& call_;
  size_t n_;
  const Operands* lists_;
  Operands copies_;
};

// One rule over the lists of the call.
void run_rule(const Call& call, Rule rule, const RuleNumbers& numbers) {
  const size_t count = 2 + size_t(states_of(rule));
  const InOrder lists(call, count);
  for_stretches(lists.params(), [&]<class T>(size_t i, int64_t begin, int64_t end) {
    T* arrays[2 + kMostStates];
    for (size_t list = 0; list < count; ++list) arrays[list] = lists.data<T>(list, i) + begin;
    step_stretch(rule, numbers, end - begin, arrays);
  });
  lists.write_back();
}

double sign_of(double maximize) { return maximize != 0 ? -1 : 1; }

// --- SGD and Adam: the arguments are the settings ---

void sgd_shape(Call& call) { check_lists(call, sgd_lists(call)); }

RuleUse sgd_rule(const Call& call) {
  const auto value = [&](SgdArgument i) { return call.args[i].f; };
  const double sign = sign_of(value(kSgdMaximize));
  if (value(kMomentum) == 0) return {Rule::sgd, {value(kSgdLr), value(kSgdDecay), sign}};
  return {Rule::momentum,
          {value(kSgdLr), value(kSgdDecay), sign, value(kMomentum), 1 - value(kDampening),
           double(value(kSgdStep) <= 1), value(kNesterov)}};
}

void adam_shape(Call& call) {
  check_lists(call, adam_lists(call));
  if (call.args[kStep].f < 1) fail(call.op->name, ": steps count from 1 (got ", call.args[kStep].f, ")");
}

template <bool decoupled>
RuleUse adam_rule(const Call& call) {
  const auto value = [&](AdamArgument i) { return call.args[i].f; };
  return {value(kAmsgrad) != 0 ? Rule::amsgrad : Rule::adam,
          {value(kBeta1), value(kBeta2), value(kEps), decoupled ? -value(kLr) * value(kDecay) : value(kDecay),
           value(kLr) / (1 - std::pow(value(kBeta1), value(kStep))),
           std::sqrt(1 - std::pow(value(kBeta2), value(kStep))), sign_of(value(kMaximize))}};
}

template <RuleUse (*find)(const Call&)>
void step_cpu(const Call& call) {
  const RuleUse use = find(call);
  run_rule(call, use.rule, use.numbers);
}

const Op kSgdOp{.name = "_sgd_step",
                .doc = "A step of gradient descent with momentum, in place, over all parameters of a group.",
                .inputs = {{"tensors", false, true}},
                .shape = sgd_shape,
                .cpu = step_cpu<sgd_rule>,
                .writes_inputs = true,
                .complex = true,
                .family = OpFamily::other,
                .flops = kMovesData};
const Op kAdamOp{.name = "_adam_step",
                 .doc = "A step of Adam, in place, over all parameters of a group.",
                 .inputs = {{"tensors", false, true}},
                 .shape = adam_shape,
                 .cpu = step_cpu<adam_rule<false>>,
                 .writes_inputs = true,
                 .complex = true,
                 .family = OpFamily::other,
                 .flops = kMovesData};
const Op kAdamWOp{
    .name = "_adamw_step",
    .doc = "A step of Adam with decoupled weight decay, in place, over all parameters of a group.",
    .inputs = {{"tensors", false, true}},
    .shape = adam_shape,
    .cpu = step_cpu<adam_rule<true>>,
    .writes_inputs = true,
    .complex = true,
    .family = OpFamily::other,
    .flops = kMovesData};

// --- the others: the arguments are the rule's numbers ---

// RMSprop keeps a buffer for its momentum and an average when it is centred.
Rule choose(Rule rule, const Call& call) {
  if (rule != Rule::rmsprop) return rule;
  const bool momentum = call.args[5].f != 0, centered = call.args[6].f != 0;
  return momentum   ? centered ? Rule::rmsprop_both : Rule::rmsprop_momentum
         : centered ? Rule::rmsprop_centered
                    : Rule::rmsprop;
}

template <Rule rule>
void rule_shape(Call& call) {
  check_lists(call, 2 + size_t(states_of(choose(rule, call))));
}
template <Rule rule>
RuleUse plain_rule(const Call& call) {
  RuleNumbers numbers;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = call.args[i].f;
  return {choose(rule, call), numbers};
}

template <Rule rule>
Op rule_op(const char* name, const char* doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"tensors", false, true}},
          .shape = rule_shape<rule>,
          .cpu = step_cpu<plain_rule<rule>>,
          .writes_inputs = true,
          .complex = true,
          .family = OpFamily::other,
          .flops = kMovesData};
}
const Op kNAdamOp = rule_op<Rule::nadam>("_nadam_step", "A step of NAdam, in place, over a group.");
const Op kRAdamOp = rule_op<Rule::radam>("_radam_step", "A step of RAdam, in place, over a group.");
const Op kAdamaxOp = rule_op<Rule::adamax>("_adamax_step", "A step of Adamax, in place, over a group.");
const Op kRmsPropOp = rule_op<Rule::rmsprop>("_rmsprop_step", "A step of RMSprop, in place, over a group.");
const Op kAdagradOp = rule_op<Rule::adagrad>("_adagrad_step", "A step of Adagrad, in place, over a group.");
const Op kAdadeltaOp =
    rule_op<Rule::adadelta>("_adadelta_step", "A step of Adadelta, in place, over a group.");
const Op kLionOp = rule_op<Rule::lion>("_lion_step", "A step of Lion, in place, over a group.");
const Op kEmaOp = rule_op<Rule::ema>("_ema_step", "A step of moving averages towards the second list.");

// --- clipping ---

void clip_shape(Call& call) {
  if (!(call.args[1].f > 0)) fail("clip_grad_norm_: norm_type must be positive (got ", call.args[1].f, ")");
  for (size_t i = 0; i < call.in.size(); ++i) {
    const DType dtype = call.in[i].dtype();
    if (!is_differentiable(dtype)) fail("clip_grad_norm_: gradient ", i + 1, " has type ", dtype);
    if (is_complex(dtype) && call.args[1].f != 2)
      fail("clip_grad_norm_: of complex gradients norm_type must be 2 (got ", call.args[1].f, ")");
  }
  take_parts(call);
  DType dtype = DType::f32;
  for (const Tensor& x : call.in) dtype = promote(dtype, x.dtype());
  context().check_may_change(call.op->name);
  for (const Tensor& x : call.in) x.storage().mark_written(call.op->name);
  call.emit(Shape{}, dtype);
}

// norm = (sum |g|^p)^(1/p) over all elements of all gradients; each is multiplied by
// min(1, max_norm / (norm + 1e-6)).
void clip_cpu(const Call& call) {
  const double max_norm = call.args[0].f, p = call.args[1].f;
  const InOrder lists(call, 1);
  // One number for each block of each tensor, added up in order, so that threads do not change the result.
  struct Block {
    size_t tensor;
    int64_t begin, end;
  };
  std::vector<Block> blocks;
  for (size_t i = 0; i < call.in.size(); ++i)
    for (int64_t at = 0; at < call.in[i].numel(); at += kGrain)
      blocks.push_back({i, at, std::min(at + kGrain, call.in[i].numel())});
  std::vector<double> parts(blocks.size());
  parallel_for(int64_t(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Block& block = blocks[size_t(k)];
      visit_dtype(call.in[block.tensor].dtype(), [&]<class T>() {
        if constexpr (!std::is_integral_v<T>) {
          const T* x = lists.data<T>(0, block.tensor) + block.begin;
          parts[size_t(k)] = std::isinf(p) ? largest_magnitude(block.end - block.begin, x)
                                           : power_sum(block.end - block.begin, x, p);
        }
      });
    }
  });
  double norm = 0;
  for (const double part : parts)
    norm = !std::isinf(p) ? norm + part : part > norm || std::isnan(part) ? part : norm;
  if (!std::isinf(p)) norm = p == 2 ? std::sqrt(norm) : std::pow(norm, 1 / p);
  visit_dtype(call.output().dtype(), [&]<class T>() { *call.output().data<T>() = convert<T>(norm); });

  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return;
  for_stretches(lists.params(), [&]<class T>(size_t i, int64_t begin, int64_t end) {
    scale_stretch(end - begin, lists.data<T>(0, i) + begin, factor);
  });
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor &from = lists.params()[i], &to = call.in[i];
    if (!from.same(to))
      copy_strided(to.raw(), to.dtype(), to.strides(), from.raw(), from.dtype(), from.strides(), to.shape());
  }
}

const Op kClipOp{
    .name = "_clip_grad_norm",
    .doc = "Scales gradients in place so that their common norm is at most max_norm; returns the norm.",
    .inputs = {{"tensors", false, true}},
    .shape = clip_shape,
    .cpu = clip_cpu,
    .writes_inputs = true,
    .complex = true,
    .family = OpFamily::other,
    .flops = kMovesData};

// Runs an optimizer's op over the lists, of equal length, that are not empty.
void step(const Op& op, std::initializer_list<const TensorList*> lists, const Arguments& args) {
  const size_t n = (*lists.begin())->size();
  if (n == 0) return;
  Call call;
  call.op = &op;
  for (const TensorList* list : lists) {
    if (list->size() != n)
      fail(op.name, ": ", n, " parameters but ", list->size(), " tensors in another list");
    for (const Tensor& x : *list) call.in.push_back(x);
  }
  call.args = args;
  const NoGrad off;
  run(call);
}

}  // namespace

RuleUse rule_of(const Call& call) {
  struct Finder {
    const Op* op;
    RuleUse (*find)(const Call&);
  };
  static constexpr Finder kFinders[] = {{&kSgdOp, sgd_rule},
                                        {&kAdamOp, adam_rule<false>},
                                        {&kAdamWOp, adam_rule<true>},
                                        {&kNAdamOp, plain_rule<Rule::nadam>},
                                        {&kRAdamOp, plain_rule<Rule::radam>},
                                        {&kAdamaxOp, plain_rule<Rule::adamax>},
                                        {&kRmsPropOp, plain_rule<Rule::rmsprop>},
                                        {&kAdagradOp, plain_rule<Rule::adagrad>},
                                        {&kAdadeltaOp, plain_rule<Rule::adadelta>},
                                        {&kLionOp, plain_rule<Rule::lion>},
                                        {&kEmaOp, plain_rule<Rule::ema>}};
  for (const Finder& finder : kFinders)
    if (finder.op == call.op) return finder.find(call);
  fail(call.op->name, ": this op follows no rule of an optimizer");
}

void sgd_step(const TensorList& params, const TensorList& grads, const TensorList& buffers,
              const SgdOptions& o) {
  Arguments args{};
  args[kSgdLr].f = o.lr;
  args[kMomentum].f = o.momentum;
  args[kDampening].f = o.dampening;
  args[kSgdDecay].f = o.weight_decay;
  args[kSgdStep].f = double(o.step);
  args[kNesterov].f = o.nesterov;
  args[kSgdMaximize].f = o.maximize;
  if (o.momentum != 0)
    step(kSgdOp, {&params, &grads, &buffers}, args);
  else
    step(kSgdOp, {&params, &grads}, args);
}

void adam_step(const TensorList& params, const TensorList& grads, const TensorList& exp_avgs,
               const TensorList& exp_avg_sqs, const TensorList& max_exp_avg_sqs, const AdamOptions& o) {
  Arguments args{};
  args[kLr].f = o.lr;
  args[kBeta1].f = o.beta1;
  args[kBeta2].f = o.beta2;
  args[kEps].f = o.eps;
  args[kDecay].f = o.weight_decay;
  args[kStep].f = double(o.step);
  args[kMaximize].f = o.maximize;
  args[kAmsgrad].f = !max_exp_avg_sqs.empty();
  const Op& op = o.decoupled ? kAdamWOp : kAdamOp;
  if (max_exp_avg_sqs.empty())
    step(op, {&params, &grads, &exp_avgs, &exp_avg_sqs}, args);
  else
    step(op, {&params, &grads, &exp_avgs, &exp_avg_sqs, &max_exp_avg_sqs}, args);
}

Tensor clip_grad_norm_(const TensorList& grads, double max_norm, double norm_type) {
  if (grads.empty()) return zeros({});
  Call call;
  call.op = &kClipOp;
  for (const Tensor& g : grads) call.in.push_back(g);
  call.args[0].f = max_norm;
  call.args[1].f = norm_type;
  const NoGrad off;
  run(call);
  return call.out[0];
}

void optimizer_step(const Op& op, Operands tensors, std::span<const double> numbers) {
  Call call;
  if (tensors.empty()) return;
  if (numbers.size() > call.args.size())
    fail(op.name, ": at most ", call.args.size(), " numbers expected (got ", numbers.size(), ")");
  call.op = &op;
  call.in = std::move(tensors);
  for (size_t i = 0; i < numbers.size(); ++i) call.args[i].f = numbers[i];
  const NoGrad off;
  run(call);
}

std::span<const Op* const> optimizer_ops() {
  static const Op* const ops[] = {&kSgdOp,     &kAdamOp,    &kAdamWOp,    &kNAdamOp, &kRAdamOp, &kAdamaxOp,
                                  &kRmsPropOp, &kAdagradOp, &kAdadeltaOp, &kLionOp,  &kEmaOp,   &kClipOp};
  return ops;
}

}  // namespace lunagrad
