#include "runtime/tape/checkpoint.h"

#include <memory>

#include "runtime/tape/autocast.h"
#include "runtime/tape/node.h"
#include "runtime/tape/unsharded.h"

namespace lunagrad {
namespace {

// The id of the next tensor. Ids grow with time: existing tensors have smaller ids.
uint64_t next_tensor() { return Tensor(Ref<Storage>(), Layout::contiguous({}), 0, DType::f32).id(); }

template <class F>
void for_operands(Node& node, F&& f) {
  for (Operand& operand : node.in) f(operand);
  for (Operand& operand : node.out) f(operand);
}

bool same_form(const Operand& a, const Operand& b) {
  if (!a.layout || !b.layout) return !a.layout == !b.layout;
  return a.layout->shape == b.layout->shape && a.dtype == b.dtype;
}

// "matmul of [2, 3] (made at net.lua:4)"
std::string describe_node(const Node& node) {
  return text(node.label(), " of shape ", node.out[0].layout->shape, made_at(node.line));
}

class Region final : public CheckpointRegion {
 public:
  Region(std::function<void()> again, uint64_t first_tensor);
  ~Region() override;

  void record(Node&) override;
  void record_custom(Node&, std::unique_ptr<CustomCall>) override;
  void recompute(const Node& needed_by) override;
  void release(Node&, bool retained) override;
  void forget(const Node& node) override { nodes_[node.extras->checkpoint_index] = nullptr; }
  bool recomputing() const override { return recomputing_; }

  void adopt(Region& child);

 private:
  friend class EnterCheckpoint;
  struct Settings {
    Generator generator;
    DType autocast;
    bool has_autocast;
    Device* device;
    uint32_t module;
  };

  void check_same(const Node& first, const Node& again) const;

  std::function<void()> again_;  // null in a nested region until its parent is recomputed
  Settings settings_;
  const uint64_t first_tensor_;  // tensors with a smaller id are older than the region
  std::vector<Node*> nodes_;     // null: destroyed
  std::vector<Region*> children_;
  Ref<Region> parent_;
  size_t child_index_ = 0;  // index of the region in parent_
  bool recomputing_ = false, recomputed_ = false;
  size_t next_node_ = 0, next_child_ = 0;
};

// Makes a region current, with its own autocast region: cached casts of weights must not depend on earlier
// ops.
class EnterCheckpoint {
 public:
  explicit EnterCheckpoint(Region& region)
      : previous_(std::exchange(context().checkpoint, &region)),
        autocast_(region.settings_.has_autocast ? make_autocast(region.settings_.autocast) : nullptr) {}
  ~EnterCheckpoint() { context().checkpoint = previous_; }
  EnterCheckpoint(const EnterCheckpoint&) = delete;

 private:
  CheckpointRegion* previous_;
  UseAutocast autocast_;
};

Region::Region(std::function<void()> again, uint64_t first_tensor)
    : again_(std::move(again)), first_tensor_(first_tensor) {
  const Context& ctx = context();
  const bool autocast = bool(ctx.autocast);
  settings_ = {ctx.generator, autocast ? ctx.autocast->type() : DType::f32, autocast, ctx.device, ctx.module};
}

Region::~Region() {
  if (parent_) parent_->children_[child_index_] = nullptr;
}

// A nested region does not keep its own function. When backward needs it, this region is recomputed, and its
// second run sets the nested region's function.
void Region::adopt(Region& child) {
  if (!recomputing_) {
    child.child_index_ = children_.size();
    child.parent_ = Ref<Region>(this);
    child.again_ = nullptr;
    children_.push_back(&child);
    return;
  }
  if (next_child_ >= children_.size())
    fail("checkpoint: the function made more checkpoints at its second run");
  Region* const first = children_[next_child_++];
  if (first && !first->again_) first->again_ = std::move(child.again_);
}

void Region::record(Node& node) {
  if (!recomputing_) {
    NodeExtras& extra = node.extra();
    extra.checkpoint = Ref<CheckpointRegion>(this);
    extra.checkpoint_index = uint32_t(nodes_.size());
    nodes_.push_back(&node);
    for_operands(node, [](Operand& operand) { operand.saved = nullptr; });
    return;
  }
  if (next_node_ >= nodes_.size())
    fail("checkpoint: the function does more at its second run than at its first: ", describe_node(node));
  Node* const first = nodes_[next_node_++];
  if (!first) return;
  check_same(*first, node);
  if (first->freed) return;
  const auto hand_over = [](Operand& to, const Operand& from) {
    if (!to.saved) to.saved = from.saved;
  };
  for (size_t i = 0; i < node.in.size(); ++i) hand_over(first->in[i], node.in[i]);
  for (size_t i = 0; i < node.out.size(); ++i) hand_over(first->out[i], node.out[i]);
}

void Region::check_same(const Node& first, const Node& again) const {
  bool same =
      first.op == again.op && first.in.size() == again.in.size() && first.out.size() == again.out.size();
  for (size_t i = 0; same && i < first.in.size(); ++i) same = same_form(first.in[i], again.in[i]);
  for (size_t i = 0; same && i < first.out.size(); ++i) same = same_form(first.out[i], again.out[i]);
  if (!same)
    fail("checkpoint: the function does not do the same when it runs again: first ", describe_node(first),
         ", now ", describe_node(again),
         "; it must depend on nothing that changes between forward and backward");
  // An operand that an outer region recomputes is another tensor in each run.
  const Region* outermost = this;
  while (outermost->parent_) outermost = outermost->parent_.get();
  for (size_t i = 0; i < first.in.size(); ++i) {
    const Operand &was = first.in[i], &is = again.in[i];
    if (was.layout && was.tensor_id < outermost->first_tensor_ && was.tensor_id != is.tensor_id)
      fail("checkpoint: ", describe_node(again), " reads another tensor as input ", i + 1,
           " than in the first run; a variable that the function uses was assigned since");
    if (is.saved && was.version != is.version)
      fail("checkpoint: ", describe_node(again), " needs its input ", i + 1, " of shape ", is.layout->shape,
           ", which ", is.saved->last_writer, "_ changed in place",
           is.saved->last_write.known() ? " at " + to_string(is.saved->last_write) : std::string(),
           " since the first run");
  }
}

void Region::record_custom(Node& node, std::unique_ptr<CustomCall> call) {
  if (!recomputing_) return;
  Node* const first = nodes_[next_node_ - 1];
  if (first && !first->freed && !first->extras->custom)
    first->extras->custom = std::move(call);
  else
    node.extra().custom = std::move(call);
}

void Region::recompute(const Node& needed_by) {
  if (!again_ && parent_) parent_->recompute(needed_by);
  if (!again_ || recomputing_)
    fail("checkpoint: backward of ", needed_by.label(), made_at(needed_by.line),
         " cannot run inside the function that it belongs to");
  Context& ctx = context();
  const RestoreContext restore;
  ctx.autocast = nullptr;
  ctx.grad_enabled = true;
  struct EndRecomputation {
    Region& region;
    ~EndRecomputation() { region.recomputing_ = false; }
  } const end{*this};
  ctx.generator = settings_.generator;
  ctx.device = settings_.device;
  ctx.module = settings_.module;
  recomputing_ = recomputed_ = true;
  next_node_ = next_child_ = 0;
  const std::function<void()> again = again_;
  {
    const EnterCheckpoint inside(*this);
    again();
  }
  if (next_node_ < nodes_.size())
    fail("checkpoint: the function does less at its second run: ", next_node_,
         " recorded ops where the first run had ", nodes_.size());
}

void Region::release(Node& node, bool retained) {
  if (retained) {
    for_operands(node, [](Operand& operand) { operand.saved = nullptr; });
    node.extras->custom = nullptr;
  } else if (node.extras->checkpoint_index == 0 && recomputed_) {
    again_ = nullptr;
  }
}

}  // namespace

void run_checkpoint(const std::function<void()>& forward, std::function<void()> again) {
  const Context& ctx = context();
  if (!ctx.grad_enabled) return forward();
  const Ref<Region> region(new Region(std::move(again), next_tensor()));
  {
    const EnterCheckpoint inside(*region);
    forward();
  }
  if (!ctx.checkpoint) return;
  if (auto* const outer = dynamic_cast<Region*>(ctx.checkpoint))
    outer->adopt(*region);
  else
    note_checkpoint_inside(*ctx.checkpoint);
}

TensorList checkpoint(std::function<TensorList(const TensorList&)> f, const TensorList& inputs) {
  TensorList outputs;
  run_checkpoint([&] { outputs = f(inputs); }, [f, inputs] { f(inputs); });
  return outputs;
}

}  // namespace lunagrad
