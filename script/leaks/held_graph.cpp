#include "script/leaks/held_graph.h"

#include <algorithm>

namespace lunagrad {

void StepClock::begin_step(int64_t step, size_t most) {
  Tensor probe = Tensor::empty({1}, DType::f32);
  probe.requires_grad_();
  if (!marks_.empty() && marks_.back().step == step) marks_.pop_back();
  if (marks_.size() >= most) marks_.erase(marks_.begin());
  marks_.push_back({step, probe.node()->id, probe.id()});
}

void StepClock::thin(size_t most) {
  if (marks_.size() < most) return;
  for (size_t i = 1; 2 * i < marks_.size(); ++i) marks_[i] = marks_[2 * i];
  marks_.resize((marks_.size() + 1) / 2);
}

int64_t StepClock::step_of_node(uint64_t id) const {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), id,
                                      [](uint64_t value, const Mark& mark) { return value < mark.node; });
  return after == marks_.begin() ? 0 : std::prev(after)->step;
}

int64_t StepClock::step_of_tensor(uint64_t id) const {
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), id,
                                      [](uint64_t value, const Mark& mark) { return value < mark.tensor; });
  return after == marks_.begin() ? 0 : std::prev(after)->step;
}

void PassTimes::clear() {
  first_.clear();
  reach_ = 0;
}

void PassTimes::pass(const Tensor& root, int64_t step, const StepClock& clock) {
  std::vector<const Node*> stack{root.node().get()};
  while (!stack.empty()) {
    const Node* const node = stack.back();
    stack.pop_back();
    // The pass also went through everything behind a node that it went through.
    if (!node || node->is_leaf() || !first_.try_emplace(node->id, step).second) continue;
    if (const int64_t made = clock.step_of_node(node->id); made > 0) reach_ = std::max(reach_, step - made);
    for (const Operand& operand : node->in) stack.push_back(operand.node.get());
  }
}

int64_t PassTimes::first(uint64_t node) const {
  const auto found = first_.find(node);
  return found == first_.end() ? 0 : found->second;
}

void PassTimes::forget_all_but(const std::unordered_set<const Node*>& held) {
  std::unordered_map<uint64_t, int64_t> kept;
  for (const Node* const node : held)
    if (const auto found = first_.find(node->id); found != first_.end()) kept.insert(*found);
  first_ = std::move(kept);
}

void HeldGraph::add_value(const Storage& storage, size_t used) {
  if (storages.insert(&storage).second) bytes += std::min(storage.bytes, used);
}

void HeldGraph::add(const Node* root, const StepClock& clock, size_t most) {
  const auto save = [&](const Operand& operand) {
    const bool of_leaf = operand.node && operand.node->is_leaf();
    if (operand.saved && !of_leaf && clock.step_of_tensor(operand.tensor_id) > 0)
      add_value(*operand.saved, size_t(operand.layout->numel) * item_size(operand.dtype));
  };
  std::vector<const Node*> stack{root};
  while (!stack.empty() && nodes.size() < most) {
    const Node* const node = stack.back();
    stack.pop_back();
    if (!node || node->is_leaf() || clock.step_of_node(node->id) == 0 || !nodes.insert(node).second) continue;
    for (const Operand& operand : node->in) {
      save(operand);
      stack.push_back(operand.node.get());
    }
    for (const Operand& operand : node->out) save(operand);
    if (node->extras && node->extras->custom)
      for (const CustomCall::Saved& saved : node->extras->custom->saved) save(saved.value);
  }
}

}  // namespace lunagrad
