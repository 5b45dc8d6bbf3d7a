#include "runtime/tape/unsharded.h"

#include "runtime/core/error.h"
#include "runtime/tape/replace.h"

namespace lunagrad {
namespace {

class UnshardedRegion final : public CheckpointRegion {
 public:
  UnshardedRegion(TensorList unsharded, std::function<void()> again)
      : unsharded_(std::move(unsharded)), again_(std::move(again)) {
    for (const Tensor& x : unsharded_) storages_.push_back(x.storage_ref().get());
  }

  void record(Node& node) override {
    const size_t first = places_.size();
    for_operands(node, [&](Operand& operand, uint32_t place) { drop(operand, place); });
    if (places_.size() > first) attach(node, first);
  }
  void record_custom(Node& node, std::unique_ptr<CustomCall> call) override {
    const bool attached = node.extras && node.extras->checkpoint;
    const size_t first = attached ? node.extras->checkpoint_index : places_.size();
    node.extra().custom = std::move(call);
    const uint32_t before = uint32_t(node.in.size() + node.out.size());
    std::vector<CustomCall::Saved>& saved = node.extras->custom->saved;
    for (size_t i = 0; i < saved.size(); ++i) drop(saved[i].value, before + uint32_t(i));
    if (places_.size() > first) attach(node, first);
  }
  void recompute(const Node& needed_by) override {
    again_();
    // Only the walk that asks reads the node, so it may be changed.
    Node& node = const_cast<Node&>(needed_by);
    for_places(node, [&](Operand& operand, const Tensor& x) {
      if (x.storage().half_written_by == kResharded)
        fail("backward of ", node.label(), made_at(node.line), ": the parameters were not unsharded again");
      operand.saved = x.storage_ref();
    });
  }
  void release(Node& node, bool retained) override {
    if (retained) for_places(node, [](Operand& operand, const Tensor&) { operand.saved = nullptr; });
  }
  void forget(const Node&) override {}
  bool recomputing() const override { return false; }

  void need() { needed_ = true; }
  bool needed() const { return needed_ || !places_.empty(); }

 private:
  struct Place {
    uint64_t node;     // id of the node, 0 until it has one
    uint32_t operand;  // index among its inputs, outputs and the values of a custom op
    uint32_t tensor;   // index in unsharded_
  };

  template <class F>
  static void for_operands(Node& node, F&& f) {
    uint32_t place = 0;
    for (Operand& operand : node.in) f(operand, place++);
    for (Operand& operand : node.out) f(operand, place++);
  }

  static Operand& operand_of(Node& node, uint32_t place) {
    const auto inputs = uint32_t(node.in.size()), outputs = uint32_t(node.out.size());
    if (place < inputs) return node.in[place];
    if (place < inputs + outputs) return node.out[place - inputs];
    return node.extras->custom->saved[place - inputs - outputs].value;
  }

  void drop(Operand& operand, uint32_t place) {
    if (!operand.saved) return;
    for (size_t i = 0; i < storages_.size(); ++i) {
      if (storages_[i] != operand.saved.get()) continue;
      operand.saved = nullptr;
      places_.push_back({0, place, uint32_t(i)});
      return;
    }
  }

  void attach(Node& node, size_t first) {
    for (size_t i = first; i < places_.size(); ++i) places_[i].node = node.id;
    node.extra().checkpoint = Ref<CheckpointRegion>(this);
    node.extras->checkpoint_index = uint32_t(first);
  }

  template <class F>
  void for_places(Node& node, F&& f) {
    for (size_t i = node.extras->checkpoint_index; i < places_.size() && places_[i].node == node.id; ++i) {
      // Backward has freed the values of a custom op.
      if (places_[i].operand >= node.in.size() + node.out.size() && !node.extras->custom) continue;
      f(operand_of(node, places_[i].operand), unsharded_[places_[i].tensor]);
    }
  }

  const TensorList unsharded_;
  std::vector<const Storage*> storages_;  // the first storages of unsharded_, only for comparison
  std::vector<Place> places_;
  const std::function<void()> again_;
  bool needed_ = false;
};

class EnterUnsharded {
 public:
  explicit EnterUnsharded(CheckpointRegion* region)
      : previous_(std::exchange(context().checkpoint, region)) {}
  ~EnterUnsharded() { context().checkpoint = previous_; }
  EnterUnsharded(const EnterUnsharded&) = delete;

 private:
  CheckpointRegion* previous_;
};

}  // namespace

void unshard_memory(const Tensor& x, const Tensor& value, const Tensor& source) {
  if (x.dtype() != value.dtype() || &x.device() != &value.device())
    fail("unshard: the memory is ", value.dtype(), " on ", value.device().name(), ", the tensor ", x.dtype(),
         " on ", x.device().name());
  replace_data(x, value);
  Storage& storage = x.storage();
  storage.version = source.storage().version;
  storage.last_writer = source.storage().last_writer;
  storage.last_write = source.storage().last_write;
  if (x.body()->node) x.body()->node->out[0].version = storage.version;
}

void reshard_memory(const Tensor& x) {
  const Ref<Storage> none(new Storage(x.device(), 0));
  none->half_written_by = kResharded;
  TensorBody& body = *x.body();
  body.storage = none;
  body.base = {};
  if (body.node) body.node->out[0].saved = nullptr;
}

bool run_unsharded(TensorList unsharded, const std::function<void()>& forward, std::function<void()> again) {
  const Context& ctx = context();
  const bool own = !ctx.checkpoint || is_unsharded_region(ctx.checkpoint);
  if (!ctx.grad_enabled || !own) {
    forward();
    return false;
  }
  const Ref<UnshardedRegion> region(new UnshardedRegion(std::move(unsharded), std::move(again)));
  const EnterUnsharded inside(region.get());
  forward();
  return region->needed();
}

void note_checkpoint_inside(CheckpointRegion& outer) {
  if (auto* const region = dynamic_cast<UnshardedRegion*>(&outer)) region->need();
}

bool is_unsharded_region(const CheckpointRegion* region) {
  return dynamic_cast<const UnshardedRegion*>(region) != nullptr;
}

}  // namespace lunagrad
