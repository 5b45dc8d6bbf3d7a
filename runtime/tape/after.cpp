#include "runtime/tape/after.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace lunagrad {
namespace {

bool is_waited_for(const Node& node) {
  return node.is_leaf() && node.extras &&
         std::any_of(node.extras->hooks.begin(), node.extras->hooks.end(),
                     [](const NodeExtras::Entry& entry) { return entry.output == kAfterAccumulation; });
}

// The nested passes that are running, and the functions to call at the end of the outermost pass.
struct Passes {
  int running = 0;
  uint64_t number = 0;  // counts outermost passes
  std::vector<std::function<void()>> at_end;
};
thread_local Passes passes;

}  // namespace

uint64_t after_accumulation(const Tensor& x, std::function<void()> f) {
  if (!x.requires_grad() || !x.is_leaf()) fail("backward: only a leaf that requires grad is waited for");
  NodeExtras& extra = x.node()->extra();
  const auto hook = [f = std::move(f)](const Tensor&) {
    f();
    return Tensor();
  };
  extra.hooks.push_back({kAfterAccumulation, extra.next_hook, hook});
  return extra.next_hook++;
}

void at_end_of_backward(std::function<void()> f) {
  if (passes.running == 0) fail("backward: no pass is running");
  passes.at_end.push_back(std::move(f));
}

void move_waited_leaves(std::vector<Node*>& order) {
  const auto waited = std::stable_partition(order.begin(), order.end(),
                                            [](const Node* node) { return !is_waited_for(*node); });
  if (waited == order.end()) return;
  std::unordered_set<Node*> left(waited, order.end());
  order.erase(waited, order.end());
  // Walks the order backwards: the first use of a leaf that it meets is the last use in the pass.
  std::vector<Node*> reversed;
  reversed.reserve(order.size() + left.size());
  for (size_t i = order.size(); i-- > 0;) {
    for (const Operand& operand : order[i]->in)
      if (left.erase(operand.node.get())) reversed.push_back(operand.node.get());
    reversed.push_back(order[i]);
  }
  reversed.insert(reversed.end(), left.begin(), left.end());  // a leaf that is the root itself
  order.assign(reversed.rbegin(), reversed.rend());
}

void tell_accumulated(const Node& leaf) {
  if (!is_waited_for(leaf)) return;
  const std::vector<NodeExtras::Entry> hooks = leaf.extras->hooks;  // a copy: a hook may remove hooks
  for (const NodeExtras::Entry& entry : hooks)
    if (entry.output == kAfterAccumulation) entry.hook({});
}

uint64_t backward_pass_number() { return passes.running ? passes.number : 0; }

BackwardPass::BackwardPass() {
  if (passes.running++ == 0) ++passes.number;
}

BackwardPass::~BackwardPass() {
  if (--passes.running == 0) passes.at_end.clear();
}

void BackwardPass::end() {
  if (passes.running > 1) return;
  for (const auto& f : std::exchange(passes.at_end, {})) f();
}

}  // namespace lunagrad
