#include "runtime/tape/backward.h"

#include <algorithm>

#include "runtime/batching/batched.h"
#include "runtime/core/primitives.h"
#include "runtime/tape/after.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/finite.h"
#include "runtime/tape/grad_store.h"
#include "runtime/tape/used_gradients.h"

namespace lunagrad {
namespace {

// Whether nothing else refers to the tensor's elements, so that an in-place addition is invisible elsewhere.
bool is_sole_owner(const Tensor& x) {
  return !is_batched(x) && x.use_count() == 1 && x.storage().held_once() && x.is_contiguous() &&
         !x.body()->node;
}

Tensor add_in_place(const Tensor& sum, const Tensor& more) {
  static const Op* const add_op = find_op("add");
  const NoGrad off;
  return apply_in_place(*add_op, {sum, more});
}

// With deferred calls a new sum can be a member of a group.
void accumulate(Tensor& sum, Tensor more) {
  if (!sum.defined())
    sum = std::move(more);
  else if (!context().grad_enabled && is_sole_owner(sum) && !is_batched(more) && !context().queue)
    add_in_place(sum, more);
  else
    sum = add(sum, more);
}

// Adds to a leaf's .grad. The first gradient is moved in when it is not shared, else copied.
void accumulate_leaf(Node& leaf, Tensor more) {
  if (more.dtype() != leaf.out[0].dtype || &more.device() != leaf.device) [[unlikely]]
    fail("backward: a parameter became ", leaf.out[0].dtype, " on ", leaf.device->name(),
         " after the forward pass that used it (its gradient is ", more.dtype(), " on ", more.device().name(),
         "); run the forward pass again after model:to()");
  if (!leaf.grad.defined()) {
    leaf.grad = context().grad_enabled || is_sole_owner(more) ? std::move(more) : clone(more);
    return;
  }
  const Summing summing(leaf);
  if (context().grad_enabled || leaf.grad.body()->node) {
    leaf.grad = add(leaf.grad, more);
  } else {
    add_in_place(leaf.grad, more);
  }
}

// Converts a gradient to the shape and dtype of its operand.
Tensor fit(Tensor gradient, const Operand& operand, const char* op, size_t position) {
  const Shape& shape = operand.layout->shape;
  if (!(gradient.shape() == shape)) {
    if (!broadcasts_to(shape, gradient.shape()))
      fail(op, ": its gradient of input ", position + 1, " has shape ", gradient.shape(),
           " where the input has ", shape);
    gradient = sum_to(gradient, shape);
  }
  if (is_complex(gradient.dtype()) && !is_complex(operand.dtype)) gradient = real(gradient);
  return gradient.dtype() == operand.dtype ? gradient : to(gradient, operand.dtype);
}

struct Target {
  Node* node;
  uint32_t output;
};

class Walk {
 public:
  // Skips nodes with ids below `oldest`: no target depends on them.
  explicit Walk(const BackwardOptions& options, uint64_t oldest = 0)
      : options_(options), id_(++count_), oldest_(oldest) {
    context().check_may_change("backward");
  }
  ~Walk() {
    for (Slot& slot : slots_) {
      slot.node->walk = slot.outer_walk;
      slot.node->slot = slot.outer_slot;
    }
    try {
      end();
    } catch (const std::exception&) {  // the pass has already ended with an error
    }
  }
  Walk(const Walk&) = delete;

  // The capture's viewers read the values of the pass. An error in this is an error of the pass.
  void end() {
    if (Capture* const capture = std::exchange(capture_, nullptr)) capture->end();
  }

  void seed(const Tensor& root, Tensor gradient) {
    if (depth_ == 0 && !in_batch()) tell_root(root);
    discover(root.node().get());
    roots_.push_back(root.node());
    accumulate(slot_of(root.node().get()).grads[root.body()->output], std::move(gradient));
  }

  static uint64_t count() { return count_; }

  // Differentiates only the paths to the targets, and returns their gradients instead of accumulating them.
  TensorList run_to(const std::vector<Target>& targets) {
    pruned_ = true;
    order();
    for (const Target& target : targets)
      if (visited(target.node)) slot_of(target.node).needed = slot_of(target.node).target = true;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it)
      for (const Operand& operand : (*it)->in)
        if (leads_to_target(operand)) slot_of(*it).needed = true;
    visit_all();
    TensorList results;
    for (const Target& target : targets)
      results.push_back(visited(target.node) ? slot_of(target.node).grads[target.output] : Tensor());
    return results;
  }

  void run() {
    order();
    visit_all();
  }

  // Collects all gradients in `store`; .grad does not change.
  void run_into(GradStore& store) {
    store_ = &store;
    run();
  }

  // Implements running_sum(), for the walk whose vjp is running.
  static Tensor sum_of(const Backward& b, int input) {
    if (!current_ || batching_in_use || context().grad_enabled || context().differentiating != &b.node())
      return {};
    const Operand& operand = b.node().in[size_t(input)];
    const Tensor& sum = current_->slot_of(operand.node.get()).grads[operand.output];
    const bool fits = sum.defined() && is_sole_owner(sum) && sum.dtype() == operand.dtype &&
                      sum.shape() == operand.layout->shape;
    return fits ? sum : Tensor();
  }

  // The leaves whose .grad changed.
  const std::vector<Node*>& leaves() const { return leaves_; }

 private:
  struct Slot {
    Node* node;
    // The node's scratch fields as they were before this walk. Walks nest, for example in a hook that calls
    // backward.
    uint64_t outer_walk;
    uint32_t outer_slot;
    bool needed = false;
    bool target = false;
    Small<Tensor, 1> grads;
  };

  bool visited(const Node* node) const { return node->walk == id_; }
  Slot& slot_of(const Node* node) { return slots_[node->slot]; }

  void discover(Node* root) {
    if (visited(root)) return;
    std::vector<Node*> stack{root};
    claim(root);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Operand& operand : node->in) {
        if (!operand.node || operand.node->id < oldest_ || visited(operand.node.get())) continue;
        claim(operand.node.get());
        stack.push_back(operand.node.get());
      }
    }
  }

  void claim(Node* node) {
    Slot& slot = slots_.emplace_back(Slot{node, node->walk, node->slot, false, false, {}});
    slot.grads.resize(std::max<size_t>(node->out.size(), 1));
    node->walk = id_;
    node->slot = uint32_t(slots_.size() - 1);
  }

  // Ids grow with time, so in descending order each node comes after all nodes that use it.
  void order() {
    order_.reserve(slots_.size());
    for (const Slot& slot : slots_) order_.push_back(slot.node);
    std::sort(order_.begin(), order_.end(), [](const Node* a, const Node* b) { return a->id > b->id; });
    Context& ctx = context();
    if (ctx.capture && depth_ == 0 && !in_batch()) {
      capture_ = ctx.capture;
      captured_ = order_;
      capture_->begin(captured_);
    }
    if (!pruned_ && !store_) move_waited_leaves(order_);
  }

  void visit_all() {
    const Context& ctx = context();
    const UseAutocast off(nullptr);
    ++depth_;
    struct Restore {
      SourceLine line;
      uint32_t module;
      const Node* differentiating;
      ~Restore() {
        --depth_;
        context().line = line;
        context().module = module;
        context().differentiating = differentiating;
      }
    } restore{ctx.line, ctx.module, ctx.differentiating};
    for (Node* node : order_) {
      if (pruned_ && !slot_of(node).needed) continue;
      ctx.check_stop();
      if (ctx.safe_point) ctx.safe_point(ctx.owner);
      visit(*node);
    }
  }

  void visit(Node& node) {
    Slot& slot = slot_of(&node);
    if (std::none_of(slot.grads.begin(), slot.grads.end(), [](const Tensor& g) { return g.defined(); }))
      return;
    run_hooks(node, slot);
    if (capture_)
      for (uint32_t i = 0; i < slot.grads.size(); ++i)
        if (slot.grads[i].defined()) capture_->gradient(node, i, conjugated(slot.grads[i]));
    if (store_)
      for (uint32_t i = 0; i < slot.grads.size(); ++i)
        if (slot.grads[i].defined()) store_->add({node.id, i}, conjugated(slot.grads[i]));
    if (node.is_leaf()) {
      if (pruned_ || store_ || !node.requires_grad) return;
      if (context().guard != Guard::off) leaves_.push_back(&node);
      if (is_complex(slot.grads[0].dtype())) slot.grads[0] = conj(slot.grads[0]);
      accumulate_leaf(node, std::move(slot.grads[0]));
      return tell_accumulated(node);
    }
    if (slot.target && !leads_on(node)) return;
    differentiate(node);
  }

  // Whether one of the node's inputs leads to a target.
  bool leads_on(const Node& node) {
    return std::any_of(node.in.begin(), node.in.end(),
                       [&](const Operand& operand) { return leads_to_target(operand); });
  }

  bool leads_to_target(const Operand& operand) {
    return operand.node && visited(operand.node.get()) && slot_of(operand.node.get()).needed;
  }

  bool wants(const Operand& operand) {
    if (pruned_) return leads_to_target(operand);
    return operand.node && (!operand.node->is_leaf() || operand.node->requires_grad);
  }

  void run_hooks(Node& node, Slot& slot) {
    if (!node.extras) return;
    // A hook may register or remove hooks: call the hooks that existed when the gradient arrived.
    const std::vector<NodeExtras::Entry> hooks = node.extras->hooks;
    for (const NodeExtras::Entry& entry : hooks) {
      if (entry.output == kAfterAccumulation) continue;
      Tensor& gradient = slot.grads[entry.output];
      if (!gradient.defined()) continue;
      Tensor replaced = entry.hook(conjugated(gradient));
      if (!replaced.defined()) continue;
      if (!(replaced.shape() == gradient.shape()))
        fail("register_hook: the hook returned shape ", replaced.shape(), " for a gradient of shape ",
             gradient.shape());
      if (is_complex(replaced.dtype()) && !is_complex(gradient.dtype()))
        fail("register_hook: the hook returned ", replaced.dtype(), " for a gradient of type ",
             gradient.dtype());
      gradient = is_complex(gradient.dtype()) ? conj(to(replaced, gradient.dtype())) : std::move(replaced);
    }
    for (size_t i = 0; i < node.extras->retains.size() && !store_; ++i)
      if (node.extras->retains[i] && slot.grads[i].defined())
        accumulate(node.extras->retained[i], conjugated(slot.grads[i]));
  }

  void differentiate(Node& node) {
    if (node.freed)
      fail(
          "backward: the graph of ", node.label(), made_at(node.line),
          " was freed by an earlier backward; pass {retain_graph = true} to that one to go through it twice");
    Context& ctx = context();
    ctx.line = node.line;
    ctx.module = node.module;
    ctx.differentiating = &node;
    Slot& slot = slot_of(&node);
    std::vector<bool> needs(node.in.size());
    for (size_t i = 0; i < node.in.size(); ++i) needs[i] = wants(node.in[i]);
    const uint64_t start = ticks();
    Backward view(node, slot.grads, needs, options_.create_graph);
    compute_gradients(node, view, slot, needs);
    for (size_t i = 0; i < node.in.size(); ++i) {
      Tensor& result = view.results()[i];
      if (!result.defined() || !needs[i]) continue;
      const Operand& operand = node.in[i];
      Tensor fitted = fit(std::move(result), operand, node.label(), i);
      accumulate(slot_of(operand.node.get()).grads[operand.output], std::move(fitted));
    }
    node.backward_ticks = ticks() - start;
    if (!slot.target) slot.grads.clear();
    if (capture_ && capture_->keep(node)) return;
    const bool retained = options_.retain_graph || options_.create_graph;
    if (node.extras) [[unlikely]]
      release_extras(node, retained);
    if (!retained) release(node);
  }

  void compute_gradients(Node& node, Backward& view, Slot& slot, const std::vector<bool>& needs) {
    // The guard checks the gradients of each node separately, so running_sum() is off.
    struct Current {
      Walk* const before = current_;
      ~Current() { current_ = before; }
    } const restore;
    current_ = context().guard == Guard::op ? nullptr : this;
    if (current_) return node.op->vjp(view);
    // Intermediate values of a gradient may be infinite where a later `where` discards them: only the result
    // is checked.
    struct Unguarded {
      Unguarded() { context().guard = Guard::off; }
      ~Unguarded() { context().guard = Guard::op; }
    };
    {
      const Unguarded inside;
      node.op->vjp(view);
    }
    check_gradients(node, slot.grads, needs, view.results());
  }

  void release_extras(Node& node, bool retained) {
    if (node.extras->checkpoint) node.extras->checkpoint->release(node, retained);
    if (retained) return;
    node.freed |= bool(node.extras->custom) || !node.extras->hooks.empty();
    node.extras->custom = nullptr;
    node.extras->hooks.clear();
  }

  void release(Node& node) {
    for (Operand& operand : node.in) {
      node.freed |= bool(operand.saved);
      operand.saved = nullptr;
    }
    for (Operand& operand : node.out) {
      node.freed |= bool(operand.saved);
      operand.saved = nullptr;
    }
  }

  static thread_local uint64_t count_;
  static thread_local int depth_;
  static thread_local Walk* current_;
  const BackwardOptions options_;
  const uint64_t id_;
  const uint64_t oldest_;
  std::vector<Slot> slots_;
  std::vector<Node*> order_, captured_;  // in the order of the visit; and by descending id, for the capture
  std::vector<Ref<Node>> roots_;
  std::vector<Node*> leaves_;
  Capture* capture_ = nullptr;
  GradStore* store_ = nullptr;
  bool pruned_ = false;
};

thread_local uint64_t Walk::count_ = 0;
thread_local int Walk::depth_ = 0;
thread_local Walk* Walk::current_ = nullptr;

// `recording`: whether the tape was on in the caller.
Tensor checked_seed(const Tensor& root, const Tensor& seed, bool recording) {
  if (!root.requires_grad())
    fail("backward: the tensor does not require grad and was not made from one that does",
         recording
             ? "; a leaf requires it by {requires_grad = true} or x:requires_grad_(), the parameters of "
               "modules do from the start, and lg.no_grad, detach() and item() end it"
             : "; gradients are off here: lg.no_grad() without a function lasts until it is closed");
  if (!seed.defined()) {
    if (root.numel() != 1)
      fail("backward() requires a scalar tensor (got shape ", root.shape(),
           "); reduce it with :sum() or :mean(), or pass a seed");
    if (is_complex(root.dtype()))
      fail("backward() of a ", root.dtype(),
           " tensor needs a seed; a loss is real, such as its :abs() or :norm_sq()");
    return ones_like(root);
  }
  if (!(seed.shape() == root.shape()))
    fail("backward: the seed has shape ", seed.shape(), " where the tensor has ", root.shape());
  if (&physical_device(seed.device()) != &root.device())
    fail("backward: the seed is on ", seed.device().name(), ", the tensor on ", root.device().name());
  if (is_complex(seed.dtype()) && !is_complex(root.dtype()))
    fail("backward: the seed is ", seed.dtype(), " where the tensor is ", root.dtype());
  return conjugated(to(seed, root.dtype()));
}

}  // namespace

Tensor running_sum(const Backward& b, int input) { return Walk::sum_of(b, input); }

Backward::Backward(const Node& node, Small<Tensor, 1>& out_grads, const std::vector<bool>& needs,
                   bool create_graph)
    : node_(node),
      out_grads_(out_grads),
      needs_(needs),
      results_(node.in.size()),
      create_graph_(create_graph) {}

bool Backward::has_grad(int output) const { return out_grads_[size_t(output)].defined(); }

Tensor Backward::grad(int output) const {
  const Tensor& arrived = out_grads_[size_t(output)];
  if (arrived.defined()) return arrived;
  const Operand& operand = node_.out[size_t(output)];
  return zeros(operand.layout->shape, operand.dtype, *node_.device);
}

bool Backward::needs(int i) const { return needs_[size_t(i)]; }

Tensor Backward::input(int i) const {
  const Operand& operand = node_.in[size_t(i)];
  return restore(operand, "input", i, operand.node, operand.output);
}

Tensor Backward::output(int i) const {
  return restore(node_.out[size_t(i)], "output", i, self(), uint32_t(i));
}

// The walk keeps the graph alive, so the node may be shared.
Ref<Node> Backward::self() const { return Ref<Node>(const_cast<Node*>(&node_)); }

const CustomCall& Backward::custom() const {
  if (!node_.extras->custom) node_.extras->checkpoint->recompute(node_);
  return *node_.extras->custom;
}

TensorList Backward::custom_values() const {
  TensorList values;
  const CustomCall& call = custom();
  for (size_t i = 0; i < call.saved.size(); ++i) {
    const auto& [value, input, output] = call.saved[i];
    const Operand* const source = input >= 0 ? &node_.in[size_t(input)] : nullptr;
    values.push_back(restore(value, "saved value", int(i),
                             output >= 0 ? self()
                             : source    ? source->node
                                         : nullptr,
                             output >= 0 ? uint32_t(output)
                             : source    ? source->output
                                         : 0));
  }
  return values;
}

Tensor Backward::restore(const Operand& operand, const char* what, int position, const Ref<Node>& node,
                         uint32_t output) const {
  if (!operand.layout) return {};
  if (!operand.saved && node_.extras && node_.extras->checkpoint) [[unlikely]]
    node_.extras->checkpoint->recompute(node_);
  assert(operand.saved && "a vjp read a value that its record does not name in `reads`");
  const Storage& storage = *operand.saved;
  if (storage.version != operand.version) {
    const std::string changed =
        storage.last_write.known() ? " at " + to_string(storage.last_write) : std::string();
    fail("backward of ", node_.label(), made_at(node_.line), " needs its ", what, ' ', position + 1,
         " of shape ", operand.layout->shape, ", which ", storage.last_writer, "_ changed in place", changed,
         "; write y = f(x) instead, or work on x:clone()");
  }
  Tensor value(operand.saved, operand.layout, operand.offset, operand.dtype);
  value.body()->is_number = operand.is_number;
  if (create_graph_) {
    value.body()->node = node;
    value.body()->output = output;
  }
  return value;
}

Tensor conjugated(const Tensor& gradient) { return is_complex(gradient.dtype()) ? conj(gradient) : gradient; }

void Backward::set(int input, Tensor grad) { results_[size_t(input)] = std::move(grad); }

void differentiate_composition(Backward& b) {
  const Node& node = b.node();
  Call call;
  call.op = node.op;
  if (node.attributes) {
    call.params = node.attributes->params;
    call.args = node.attributes->args;
  }
  const GradMode on(true);
  TensorList wanted;
  std::vector<int> positions;
  for (int i = 0; i < b.inputs(); ++i) {
    Tensor x = b.has(i) ? b.input(i) : Tensor();
    if (b.needs(i)) {
      if (b.create_graph()) {
        // An alias for each input: two inputs may be the same tensor, and each needs its own gradient.
        static const Op* const view_op = find_op("view");
        x = apply1(*view_op, {x}, {Value(x.shape())});
      } else {
        x.requires_grad_();  // a leaf of the temporary graph
      }
      wanted.push_back(x);
      positions.push_back(i);
    }
    call.in.push_back(std::move(x));
  }
  const Operands composed = node.op->compose(call);
  TensorList outputs, seeds;
  for (size_t i = 0; i < composed.size(); ++i) {
    if (!b.has_grad(int(i)) || !composed[i].requires_grad()) continue;
    outputs.push_back(composed[i]);
    seeds.push_back(conjugated(b.grad(int(i))));
  }
  GradOptions options;
  options.create_graph = b.create_graph();
  options.retain_graph = true;
  options.allow_unused = true;
  const TensorList results = grad(outputs, wanted, seeds, options);
  for (size_t i = 0; i < results.size(); ++i)
    b.set(positions[i], results[i].defined() ? conjugated(results[i]) : Tensor());
}

namespace {

void refuse_batched(const char* name, const Tensor& root) {
  if (is_batched(root))
    fail(name, ": inside vmap the loss of a sample has no ", name, "(); use lg.func.grad");
}

}  // namespace

uint64_t backward_passes() { return Walk::count(); }

void backward(const Tensor& root, const Tensor& seed, BackwardOptions options) {
  refuse_batched("backward", root);
  const bool recording = context().grad_enabled;
  const GradMode mode(options.create_graph);
  Tensor gradient = checked_seed(root, seed, recording);
  const bool guarded = context().guard != Guard::off;
  if (guarded) check_loss(root);
  BackwardPass pass;
  Walk walk(options);
  walk.seed(root, std::move(gradient));
  walk.run();
  walk.end();
  if (guarded) check_leaves(walk.leaves());
  pass.end();
}

GradStore gradients(const Tensor& root, const Tensor& seed, BackwardOptions options) {
  refuse_batched("gradients", root);
  const bool recording = context().grad_enabled;
  const GradMode mode(options.create_graph);
  Tensor gradient = checked_seed(root, seed, recording);
  GradStore store;
  Walk walk(options);
  walk.seed(root, std::move(gradient));
  walk.run_into(store);
  walk.end();
  return store;
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& seeds,
                GradOptions options) {
  if (!seeds.empty() && seeds.size() != outputs.size())
    fail("grad: ", outputs.size(), " outputs and ", seeds.size(), " grad_outputs");
  std::vector<Target> targets;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad())
      fail("grad: input ", i + 1, " does not require grad; write x:requires_grad_() before it is used");
    if (is_batched(inputs[i])) return grad_of_batched(outputs, inputs, seeds, options);
    targets.push_back({inputs[i].node().get(), inputs[i].body()->output});
  }
  for (const Tensor& output : outputs)
    if (is_batched(output)) return grad_of_batched(outputs, inputs, seeds, options);
  const bool recording = context().grad_enabled;
  const GradMode mode(options.create_graph);
  TensorList gradients;
  for (size_t i = 0; i < outputs.size(); ++i)
    gradients.push_back(checked_seed(outputs[i], seeds.empty() ? Tensor() : seeds[i], recording));
  uint64_t oldest = UINT64_MAX;
  for (const Target& target : targets) oldest = std::min(oldest, target.node->id);
  Walk walk(options, oldest);
  for (size_t i = 0; i < outputs.size(); ++i) walk.seed(outputs[i], std::move(gradients[i]));
  TensorList results = walk.run_to(targets);
  walk.end();
  for (Tensor& result : results)
    if (result.defined()) result = conjugated(result);
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].defined() && !options.allow_unused)
      fail("grad: no output depends on input ", i + 1, "; pass {allow_unused = true} to get nil for it");
  return results;
}

}  // namespace lunagrad
