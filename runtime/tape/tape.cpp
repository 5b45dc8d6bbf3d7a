#include "runtime/tape/tape.h"

#include <algorithm>

#include "runtime/batching/batched.h"
#include "runtime/core/block_ids.h"

namespace lunagrad {
namespace {

// Ids grow with time within a thread; the backward walk needs no more than that.
uint64_t next_node_id() { return next_block_id<struct NodeIds, uint64_t(1) << 20>(); }

void describe_operand(Operand& operand, const Tensor& x, bool save) {
  if (!x.defined()) return;
  operand.layout = x.layout();
  operand.offset = x.offset();
  operand.dtype = x.dtype();
  operand.is_number = x.is_number();
  operand.tensor_id = x.id();
  operand.version = x.storage().version;
  if (save) operand.saved = x.storage_ref();
}

Ref<Node> new_node(const Op* op, const Context& ctx = context()) {
  Ref<Node> node(new Node);
  node->op = op;
  node->line = ctx.line;
  node->module = ctx.module;
  if (ctx.differentiating) node->gradient_of = ctx.differentiating->op;
  return node;
}

Ref<Node> leaf_node(const Tensor& x) {
  Ref<Node> node = new_node(nullptr);
  node->id = next_node_id();
  node->device = &x.device();
  node->out.resize(1);
  describe_operand(node->out[0], x, true);
  return node;
}

bool wants_gradient(const Op& op, size_t i, const Tensor& x) {
  if (!x.defined() || !is_differentiable(x.dtype())) return false;
  if (i < 16 && (op.integer_inputs >> i & 1)) return false;
  return x.requires_grad();
}

// The node of a call, or null when none of its inputs needs a gradient.
Ref<Node> make_node(Call& call, uint64_t elapsed) {
  const Op& op = *call.op;
  if (!op.vjp) return nullptr;
  uint32_t needs_mask = 0;
  bool any = false;
  Reads reads;
  for (size_t i = 0; i < call.in.size(); ++i) {
    if (!wants_gradient(op, i, call.in[i])) continue;
    any = true;
    if (i < 32) needs_mask |= 1u << i;
    if (!op.reads.empty()) {
      const Reads& row = op.reads[std::min(i, op.reads.size() - 1)];
      reads.inputs |= row.inputs;
      reads.outputs |= row.outputs;
    }
  }
  if (!any) return nullptr;
  if (op.reads_outputs && !op.reads_outputs(call)) reads.outputs = 0;

  const Context& ctx = context();
  Ref<Node> node = new_node(&op, ctx);
  node->forward_ticks = elapsed;
  node->in.resize(call.in.size());
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    describe_operand(node->in[i], x, i < 16 && (reads.inputs >> i & 1));
    if (i < 32 ? (needs_mask >> i & 1) : wants_gradient(op, i, x)) {
      node->in[i].node = x.node();
      node->in[i].output = x.body()->output;
    }
  }
  node->out.resize(call.out.size());
  for (size_t i = 0; i < call.out.size(); ++i)
    describe_operand(node->out[i], call.out[i], i < 16 && (reads.outputs >> i & 1));
  node->device = &call.out[0].device();
  const bool has_arguments =
      std::any_of(call.args.begin(), call.args.end(), [](const Argument& a) { return a.u != 0; });
  if (!op.params.empty() || op.random || has_arguments) {
    node->attributes = std::make_unique<Attributes>();
    node->attributes->params = std::move(call.params);
    node->attributes->args = call.args;
  }
  // Last, because looking up an input's node may have made a newer node.
  node->id = next_node_id();
  if (ctx.checkpoint) [[unlikely]]
    ctx.checkpoint->record(*node);
  return node;
}

void attach(const Tensor& x, const Ref<Node>& node, uint32_t output) {
  x.body()->node = node;
  x.body()->output = output;
}

bool shares_base(const TensorBody& body) { return body.base->storage.get() == body.storage.get(); }

// Derives the node of a view again after an in-place write to its base: the view becomes an _as_strided of
// the base.
void derive_view(const Tensor& view) {
  TensorBody& body = *view.body();
  if (!shares_base(body)) {  // the base's memory was replaced (replace.h): the view is now independent
    body.base = {};
    return;
  }
  const Tensor base(body.base);
  if (base.dtype() != view.dtype() && base.requires_grad())
    fail("a view of a ", base.dtype(), " tensor as ", view.dtype(),
         " does not follow writes in place into the tensor on the tape; take it anew");
  body.base_generation = body.base->generation;
  if (!base.requires_grad()) {
    body.node = nullptr;
    return;
  }
  static const Op* const op = find_op("_as_strided");
  Ref<Node> node = new_node(op);
  node->device = &view.device();
  node->in.resize(1);
  describe_operand(node->in[0], base, false);
  node->in[0].node = base.node();
  node->in[0].output = base.body()->output;
  node->out.resize(1);
  describe_operand(node->out[0], view, false);
  node->attributes = std::make_unique<Attributes>();
  node->attributes->params = {Value(view.shape()), Value(view.strides()),
                              Value(view.offset() - base.offset())};
  node->id = next_node_id();
  attach(view, node, 0);
}

}  // namespace

uint64_t new_node_id() { return next_node_id(); }

void record(Call& call, uint64_t elapsed) {
  const Ref<Node> node = make_node(call, elapsed);
  if (!node) return;
  for (size_t i = 0; i < call.out.size(); ++i)
    if (is_differentiable(call.out[i].dtype())) attach(call.out[i], node, uint32_t(i));
}

void check_in_place(const char* op, const Tensor& x) {
  context().check_may_change(op);
  x.storage().check_may_write(op);
  if (!context().grad_enabled || !x.requires_grad()) return;
  if (*op == '_') ++op;  // a hidden record: `x[1] = y` is a _copy
  if (x.is_leaf())
    fail(op,
         "_: a leaf tensor that requires grad cannot be changed in place; use lg.no_grad or work on a copy");
  const Ref<TensorBody>& base = x.body()->base;
  if (base && base->node && base->node->is_leaf())
    fail(op,
         "_: a view of a leaf tensor that requires grad cannot be changed in place; use lg.no_grad or work "
         "on a copy");
}

void record_in_place(const Tensor& x, Call& call, uint64_t elapsed) {
  x.node();  // forgets a base whose memory was replaced
  const Ref<Node> node = make_node(call, elapsed);
  TensorBody& body = *x.body();
  // Without a node x becomes a constant: its old history no longer applies.
  attach(x, node, 0);
  ++body.generation;
  if (!body.base) return;

  const Tensor base(body.base);
  if (!node && !base.requires_grad()) return;
  if (base.dtype() != x.dtype())
    fail(call.op->name, "_: a view of a ", base.dtype(), " tensor as ", x.dtype(),
         " cannot be changed in place on the tape; work on a copy");
  if (!base.is_contiguous())
    fail(call.op->name,
         "_: a view of a tensor that is not contiguous cannot be changed in place on the tape; clone() it "
         "first");
  static const Op* const op = find_op("_as_strided_scatter");
  Ref<Node> scatter = new_node(op);
  scatter->device = &x.device();
  scatter->in.resize(2);
  describe_operand(scatter->in[0], base, false);
  if (base.requires_grad()) {
    scatter->in[0].node = base.node();
    scatter->in[0].output = base.body()->output;
  }
  describe_operand(scatter->in[1], x, false);
  scatter->in[1].node = node;
  scatter->out.resize(1);
  describe_operand(scatter->out[0], base, false);
  scatter->attributes = std::make_unique<Attributes>();
  scatter->attributes->params = {Value(x.strides()), Value(x.offset() - base.offset())};
  scatter->id = next_node_id();
  attach(base, scatter, 0);
  ++base.body()->generation;
  body.base_generation = base.body()->generation;
}

// --- members of Tensor that need nodes ---

const Ref<Node>& Tensor::node() const {
  if (is_batched(*this)) [[unlikely]]
    return batch_value(*this).node();
  const TensorBody& body = it();
  if (body.base && (body.base_generation != body.base->generation || !shares_base(body))) derive_view(*this);
  return body.node;
}

bool Tensor::requires_grad() const {
  const Ref<Node>& its = node();
  return its && (its->op || its->requires_grad);
}

bool Tensor::is_leaf() const {
  const Ref<Node>& its = node();
  return !its || its->is_leaf();
}

Tensor& Tensor::requires_grad_(bool on) {
  if (is_batched(*this)) {
    Tensor value = batch_value(*this);
    value.requires_grad_(on);
    return *this;
  }
  if (!is_leaf()) fail("requires_grad_: only a leaf tensor's flag can be changed; detach() makes a leaf");
  if (on && !is_differentiable(dtype()))
    fail("requires_grad_: only floating and complex tensors can require grad (got ", dtype(), ")");
  if (body_->node)
    body_->node->requires_grad = on;
  else if (on)
    attach(*this, leaf_node(*this), 0);
  return *this;
}

Tensor Tensor::grad() const {
  if (is_batched(*this)) return {};
  const Ref<Node>& its = node();
  if (!its) return {};
  if (its->is_leaf()) return its->grad;
  return its->extras && body_->output < its->extras->retained.size() ? its->extras->retained[body_->output]
                                                                     : Tensor();
}

void Tensor::set_grad(const Tensor& value) const {
  context().check_may_change("grad");
  if (is_batched(*this)) fail("grad: the gradient of a batched tensor cannot be set inside vmap");
  if (value.defined()) {
    if (!(value.shape() == shape()))
      fail("grad: shape ", value.shape(), " does not match the tensor's ", shape());
    if (value.dtype() != dtype())
      fail("grad: type ", value.dtype(), " does not match the tensor's ", dtype());
    if (&value.device() != &device())
      fail("grad: device ", value.device().name(), " does not match the tensor's ", device().name());
  }
  if (!is_leaf()) fail("grad: only a leaf tensor's gradient can be set");
  if (!body_->node) {
    if (!value.defined()) return;
    attach(*this, leaf_node(*this), 0);
    body_->node->requires_grad = false;
  }
  body_->node->grad = value;
}

Tensor Tensor::detach() const {
  if (is_batched(*this)) return make_batched(batch_value(*this).detach(), levels_of(*this));
  return Tensor(storage_ref(), layout(), offset(), dtype());
}

uint64_t register_hook(const Tensor& x, Hook hook) {
  if (is_batched(x)) fail("register_hook: a batched tensor of vmap takes no hooks");
  if (!x.requires_grad()) fail("register_hook: the tensor does not require grad");
  NodeExtras& extra = x.node()->extra();
  extra.hooks.push_back({x.body()->output, extra.next_hook, std::move(hook)});
  return extra.next_hook++;
}

void remove_hook(const Tensor& x, uint64_t id) {
  if (!x.node() || !x.node()->extras) return;
  std::erase_if(x.node()->extras->hooks, [id](const NodeExtras::Entry& entry) { return entry.id == id; });
}

void retain_grad(const Tensor& x) {
  if (is_batched(x)) fail("retain_grad: a batched tensor of vmap keeps no gradient; use lg.func.grad");
  if (!x.requires_grad()) fail("retain_grad: the tensor does not require grad");
  if (x.is_leaf()) return;
  NodeExtras& extra = x.node()->extra();
  extra.retains.resize(x.node()->out.size());
  extra.retained.resize(x.node()->out.size());
  extra.retains[x.body()->output] = true;
}

}  // namespace lunagrad
