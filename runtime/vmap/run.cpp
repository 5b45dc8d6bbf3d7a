// Runs calls with batched operands: by the op's batching rule, by its composition, or once for each sample.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "runtime/core/called.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/tape.h"
#include "runtime/vmap/levels.h"
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// Ops that make a tensor for a batched tensor run on the device of its values.
class OnPhysicalDevice {
 public:
  OnPhysicalDevice() : previous_(context().device) { context().device = &physical_device(*previous_); }
  ~OnPhysicalDevice() { context().device = previous_; }
  OnPhysicalDevice(const OnPhysicalDevice&) = delete;

 private:
  Device* previous_;
};

thread_local bool drawing = false;  // a random op is running, and its samples are already settled

class Drawing {
 public:
  Drawing() { drawing = true; }
  ~Drawing() { drawing = previous_; }
  Drawing(const Drawing&) = delete;

 private:
  const bool previous_ = drawing;
};

BatchRule rule_of(const Op& op) {
  static const std::unordered_map<std::string_view, BatchRule> rules = [] {
    std::unordered_map<std::string_view, BatchRule> all;
    for (const std::span<const NamedRule> family : {plain_rules(), dim_rules(), view_rules(), product_rules(),
                                                    image_rules(), index_rules(), loss_rules()})
      for (const NamedRule& rule : family) all.emplace(rule.op, rule.rule);
    return all;
  }();
  if (elementwise_use(op)) return elementwise_rule;
  const auto found = rules.find(op.name);
  return found == rules.end() ? nullptr : found->second;
}

const char* public_name(const Op& op) { return op.name[0] == '_' ? op.name + 1 : op.name; }

bool depends_on_values(const Op& op) {
  const std::string_view name = op.name;
  return name == "nonzero" || name == "masked_select";
}

// The outputs for no samples at all: only their shapes matter.
Operands empty_batch(const Call& call, Device& device) {
  if (!call.op->shape) fail("vmap: ", public_name(*call.op), " cannot run on a batch of no samples");
  Call shapes = call;
  call.op->shape(shapes);
  Operands out;
  for (const Tensor& y : shapes.out) out.push_back(zeros(with_size(0, y.shape()), y.dtype(), device));
  return out;
}

Operands run_each(const BatchedCall& batched) {
  const Call& call = batched.call;
  if (context().trace)
    context().trace->fell_back(call, text("vmap has no batching rule for this call: it ran once for each of ",
                                          batched.size, " samples")
                                         .c_str());
  std::vector<TensorList> results;
  for (int64_t n = 0; n < batched.size; ++n) {
    Operands in = batched.values;
    for (size_t i = 0; i < in.size(); ++i)
      if (batched.is(int(i))) in[i] = select(in[i], 0, n);
    const Operands out = batched.run(std::move(in));
    results.resize(out.size());
    for (size_t i = 0; i < out.size(); ++i) results[i].push_back(out[i]);
  }
  Operands out;
  for (const TensorList& list : results) out.push_back(stack(list, 0));
  return out;
}

// Returns false for a composition that reads elements: it must run sample by sample.
bool compose(Call& call) {
  try {
    call.out = lunagrad::compose(call);
    return true;
  } catch (const BatchedRead&) {
    return false;
  }
}

// The size parameter of an op that makes a tensor; -1: it has none.
int size_param(const Op& op) {
  for (size_t i = 0; i < op.params.size(); ++i)
    if (op.params[i].kind == ParamKind::integers && std::string_view(op.params[i].name) == "size")
      return int(i);
  return -1;
}

// The levels whose samples draw different numbers. Error when a level does not allow random numbers.
BatchLevels drawing_levels(const Op& op) {
  BatchLevels levels;
  for (const BatchLevel& level : active_levels()) {
    if (randomness_of(level) == Randomness::error)
      fail("vmap: ", public_name(op),
           " draws random numbers; say in the options of vmap whether the samples get the same or different "
           "ones: {randomness = \"different\"} or {randomness = \"same\"}");
    if (randomness_of(level) == Randomness::different) levels.push_back(level);
  }
  return levels;
}

// Whether the call draws random numbers. Among compositions, only those with dropout do.
bool draws(const Call& call) {
  const std::string_view name = call.op->name;
  if (name == "dropout") return call.flag(1) && call.real(0) > 0;
  if (name == "scaled_dot_product_attention") return call.real(0) > 0;
  return call.op->random;
}

Operands wrapped(Operands out, const BatchLevels& levels) {
  for (Tensor& y : out) y = make_batched(y, levels);
  return out;
}

BatchedCall batched_call(const Call& call, const BatchLevels& levels) {
  BatchedCall batched{call, 1, call.in};
  for (const BatchLevel& level : levels) batched.size *= level.size;
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!is_batched(call.in[i])) continue;
    batched.values[i] = value_for(call.in[i], levels);
    batched.batched |= 1u << i;
  }
  return batched;
}

// Random ops. Samples that draw different numbers are one draw of a larger tensor.
void run_random(Call& call) {
  const Op& op = *call.op;
  const BatchLevels different = drawing_levels(op);
  const BatchLevels own = union_of_levels(call.in), levels = join(own, different);
  const bool all_differ = levels.size() == different.size();
  const Drawing on;
  if (levels.empty()) return run(call);
  if (op.inputs.empty() && size_param(op) >= 0) {
    int64_t count = 1;
    for (const BatchLevel& level : levels) count *= level.size;
    Call larger = call;
    Value& size = larger.params[size_t(size_param(op))];
    size = Value(with_size(count, size.list));
    run(larger);
    call.out = wrapped(std::move(larger.out), levels);
    return;
  }
  const bool by_rows =
      op.inputs.size() == 1 && (std::string_view(op.name) != "multinomial" || call.input(0).ndim() == 1);
  if (by_rows && all_differ) {
    Call larger = call;
    larger.in[0] = value_for(call.in[0], levels);
    run(larger);
    call.out = wrapped(std::move(larger.out), levels);
    return;
  }
  // Sample by sample: each has its own draw, or all share the first one.
  const BatchedCall batched = batched_call(call, levels);
  const Generator generator = context().generator;
  std::vector<TensorList> results;
  for (int64_t n = 0; n < batched.size; ++n) {
    Call sample = call;
    for (size_t i = 0; i < sample.in.size(); ++i)
      if (batched.is(int(i))) sample.in[i] = select(batched.values[i], 0, n);
    if (different.empty()) {
      context().generator = generator;
    } else if (op.random && n > 0) {
      const RandomDraw draw = context().generator.draw();
      sample.args[0].u = draw.seed;
      sample.args[1].u = draw.stream;
    }
    run(sample);
    results.resize(sample.out.size());
    for (size_t i = 0; i < sample.out.size(); ++i) results[i].push_back(sample.out[i]);
  }
  for (const TensorList& list : results) call.out.push_back(make_batched(stack(list, 0), levels));
}

}  // namespace

Tensor BatchedCall::spread(int i) const {
  const Tensor& x = values[size_t(i)];
  if (is(i)) return x;
  return expand(unsqueeze(x, 0), with_size(size, x.shape()));
}

Operands BatchedCall::run(Operands in, Values params) const {
  Call copy;
  copy.op = call.op;
  copy.in = std::move(in);
  copy.params = std::move(params);
  copy.args = call.args;
  lunagrad::run(copy);
  return std::move(copy.out);
}

bool concerns_batches(const Call& call) {
  for (const Tensor& x : call.in)
    if (is_batched(x)) return true;
  if (drawing) return false;
  if (&physical_device(*context().device) != context().device) return true;
  return draws(call) && !active_levels().empty();
}

void run_batched(Call& call) {
  const OnPhysicalDevice device;
  const Op& op = *call.op;
  if (op.writes_inputs)
    fail(op.name, ": it changes its operands in place and cannot run inside vmap on batched tensors");
  if (draws(call) && !drawing && !active_levels().empty()) return run_random(call);
  const BatchLevels levels = union_of_levels(call.in);
  if (levels.empty()) {
    const Drawing settled;
    return run(call);
  }
  if (context().autocast) return context().autocast->run(call);
  const bool composed = op.is_composition() || (op.composed && op.composed(call));
  if (depends_on_values(op))
    fail("vmap: the shape of the result of ", op.name,
         " depends on the values of a sample; use where() or a mask");
  const BatchRule rule = rule_of(op);
  if (!rule && (composed || op.compose) && compose(call)) return;
  const BatchedCall batched = batched_call(call, levels);
  Operands out;
  if (rule && rule(batched, out)) {
    call.out = wrapped(std::move(out), levels);
  } else if (rule && (composed || op.compose) && compose(call)) {
    return;
  } else if (batched.size == 0) {
    call.out = wrapped(empty_batch(call, *context().device), levels);
  } else {
    call.out = wrapped(run_each(batched), levels);
  }
}

Tensor apply_in_place_batched(const Op& op, Operands in, Values params) {
  const OnPhysicalDevice device;
  const Tensor target = in[0];
  const BatchLevels levels = union_of_levels(in), own = levels_of(target);
  if (own.size() != levels.size())
    fail(public_name(op),
         "_: inside vmap a batched value is written into a tensor that all samples share; write y = ... "
         "instead, or make the target from a batched tensor, as with zeros_like");
  for (size_t i = 0; i < in.size(); ++i) {
    if (!is_batched(in[i])) continue;
    const int missing = target.ndim() - in[i].ndim();
    Tensor value = value_for(in[i], levels);
    if (missing > 0) {
      Shape shape = value.shape();
      for (int d = 0; d < missing; ++d) shape.insert(1, 1);
      value = reshape(value, shape);
    }
    in[i] = i == 0 ? batch_value(target) : value;
  }
  apply_in_place(op, std::move(in), std::move(params));
  return target;
}

TensorList for_each_sample(const TensorList& inputs, const std::function<TensorList(const TensorList&)>& f) {
  const BatchLevels levels = union_of_levels(inputs);
  int64_t count = 1;
  for (const BatchLevel& level : levels) count *= level.size;
  if (count == 0) fail("vmap: an op of the script cannot run on a batch of no samples");
  TensorList values;
  for (const Tensor& x : inputs) values.push_back(is_batched(x) ? value_for(x, levels) : x);
  const Drawing its_own;
  std::vector<TensorList> results;
  for (int64_t n = 0; n < count; ++n) {
    TensorList sample = values;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (is_batched(inputs[i])) sample[i] = select(values[i], 0, n);
    const TensorList out = f(sample);
    results.resize(std::max(results.size(), out.size()));
    for (size_t i = 0; i < out.size(); ++i) results[i].push_back(out[i]);
  }
  TensorList out;
  for (const TensorList& list : results) out.push_back(make_batched(stack(list, 0), levels));
  return out;
}

TensorList grad_of_batched(const TensorList& outputs, const TensorList& inputs, const TensorList& seeds,
                           const GradOptions& options) {
  const BatchLevels levels = union_of_levels(inputs);
  TensorList values, roots, root_seeds;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(is_batched(inputs[i]) ? batch_value(inputs[i]) : inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BatchLevels own = levels_of(outputs[i]), all = join(own, levels);
    for (size_t k = 0; k < inputs.size(); ++k)
      for (const BatchLevel& level : own)
        if (const BatchLevels its = levels_of(inputs[k]);
            std::find(its.begin(), its.end(), level) == its.end())
          fail("grad: inside vmap input ", k + 1,
               " is one tensor for all samples, so each sample has no gradient of its own for it; use "
               "lg.func.grad, or pass it to vmap");
    roots.push_back(all.empty() ? outputs[i] : value_for(outputs[i], all));
    if (!seeds.empty() && seeds[i].defined())
      root_seeds.push_back(out_of_levels(seeds[i], all));
    else if (outputs[i].numel() == 1)
      root_seeds.push_back(ones_like(roots[i]));
    else
      root_seeds.push_back(Tensor());
  }
  TensorList results = grad(roots, values, root_seeds, options);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (results[i].defined()) results[i] = under_levels(results[i], levels_of(inputs[i]));
  return results;
}

}  // namespace lunagrad
