// The optimizers' steps: all parameters of a group in one call and one parallel pass. The rules are the
// records of runtime/optimizer/optimizers.def; rules.h describes the operands. Also the clipping of
// gradients.
#include "runtime/ops/optimizer/cpu/optimizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/optimizer/rules.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 16384;  // elements; 20 µs at the speed of memory

constexpr const char* kListNames[] = {"parameter", "gradient", "first state", "second state", "third state"};

// Replaces complex tensors by real views of their parts, with a last dim of 2: the rules treat each part as a
// real number, as in PyTorch.
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

// Checks the operands, which are `lists` lists, and marks all but the gradients as written.
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
  const auto each_written = [&](auto f) {
    for (size_t list = 0; list < lists; ++list)
      for (size_t i = 0; list != 1 && i < n; ++i) f(call.in[list * n + i].storage());
  };
  each_written([&](Storage& storage) { storage.check_may_write(call.op->name); });
  each_written([&](Storage& storage) { storage.mark_written(call.op->name); });
  take_parts(call);
}

// Calls f.operator()<T>(tensor index, begin, end) for ranges that cover all elements of `tensors`, on all
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

// The operands as contiguous tensors. Operands that are not contiguous are copied, and written back
// afterwards.
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

// --- the steps ---

// List 0 holds the parameters, list 1 the gradients, then comes a list for each state that exists.
size_t count_lists(uint32_t states) { return 2 + size_t(std::popcount(states)); }

void step_shape(Call& call) { check_lists(call, count_lists(rule_states(rule_of(*call.op), call.args))); }

void step_cpu(const Call& call) {
  const RuleUse use = use_rule(rule_of(*call.op), call.args);
  const InOrder lists(call, count_lists(use.states));
  for_stretches(lists.params(), [&]<class T>(size_t i, int64_t begin, int64_t end) {
    T* arrays[2 + kMostStates] = {lists.data<T>(0, i) + begin, lists.data<T>(1, i) + begin};
    for (size_t state = 0, list = 2; state < kMostStates; ++state)
      if (use.states >> state & 1) arrays[2 + state] = lists.data<T>(list++, i) + begin;
    step_stretch(use, end - begin, arrays);
  });
  lists.write_back();
}

#define OPTIMIZER(name_, doc_, states, numbers, derived, ...) \
  {.name = "_" #name_ "_step",                                \
   .doc = doc_,                                               \
   .inputs = {{"tensors", false, true}},                      \
   .shape = step_shape,                                       \
   .cpu = step_cpu,                                           \
   .writes_inputs = true,                                     \
   .complex = true,                                           \
   .family = OpFamily::other,                                 \
   .flops = kMovesData},
const Op kStepOps[] = {
#include "runtime/optimizer/optimizers.def"
};

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
  for (const Tensor& x : call.in) x.storage().check_may_write(call.op->name);
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

// Runs a rule over the lists; does nothing if they are empty.
void step(Rule rule, std::initializer_list<const TensorList*> lists,
          std::initializer_list<NamedNumber> numbers) {
  const size_t n = (*lists.begin())->size();
  if (n == 0) return;
  Operands tensors;
  for (const TensorList* list : lists) {
    if (list->size() != n)
      fail(rule_op(rule).name, ": ", n, " parameters but ", list->size(), " tensors in another list");
    for (const Tensor& x : *list) tensors.push_back(x);
  }
  optimizer_step(rule, std::move(tensors), rule_arguments(rule, numbers));
}

}  // namespace

const Op& rule_op(Rule rule) { return kStepOps[size_t(rule)]; }

Rule rule_of(const Op& op) {
  for (int i = 0; i < kRuleCount; ++i)
    if (&op == &kStepOps[i]) return Rule(i);
  fail(op.name, ": this op follows no rule of an optimizer");
}

void optimizer_step(Rule rule, Operands tensors, const Arguments& arguments) {
  if (tensors.empty()) return;
  Call call;
  call.op = &rule_op(rule);
  call.in = std::move(tensors);
  call.args = arguments;
  const NoGrad off;
  run(call);
}

void sgd_step(const TensorList& params, const TensorList& grads, const TensorList& buffers,
              const SgdOptions& o) {
  const std::initializer_list<NamedNumber> numbers = {{"lr", o.lr},
                                                      {"momentum", o.momentum},
                                                      {"dampening", o.dampening},
                                                      {"weight_decay", o.weight_decay},
                                                      {"nesterov", double(o.nesterov)},
                                                      {"maximize", double(o.maximize)},
                                                      {"first_step", double(o.step <= 1)}};
  if (o.momentum != 0)
    step(Rule::sgd, {&params, &grads, &buffers}, numbers);
  else
    step(Rule::sgd, {&params, &grads}, numbers);
}

void adam_step(const TensorList& params, const TensorList& grads, const TensorList& exp_avgs,
               const TensorList& exp_avg_sqs, const TensorList& max_exp_avg_sqs, const AdamOptions& o) {
  const Rule rule = o.decoupled ? Rule::adamw : Rule::adam;
  const bool amsgrad = !max_exp_avg_sqs.empty();
  const std::initializer_list<NamedNumber> numbers = {{"lr", o.lr},
                                                      {"beta1", o.beta1},
                                                      {"beta2", o.beta2},
                                                      {"eps", o.eps},
                                                      {"weight_decay", o.weight_decay},
                                                      {"step", double(o.step)},
                                                      {"amsgrad", double(amsgrad)},
                                                      {"maximize", double(o.maximize)}};
  if (amsgrad)
    step(rule, {&params, &grads, &exp_avgs, &exp_avg_sqs, &max_exp_avg_sqs}, numbers);
  else
    step(rule, {&params, &grads, &exp_avgs, &exp_avg_sqs}, numbers);
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

std::span<const Op* const> optimizer_ops() {
  static const std::array ops = [] {
    std::array<const Op*, kRuleCount + 1> all;
    for (int i = 0; i < kRuleCount; ++i) all[size_t(i)] = &kStepOps[i];
    all.back() = &kClipOp;
    return all;
  }();
  return ops;
}

}  // namespace lunagrad
