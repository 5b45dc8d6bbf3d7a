#include "script/leaks/growth_watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "script/leaks/heap_walk.h"
#include "script/leaks/owner_group.h"

namespace lunagrad {
namespace {

constexpr size_t kGrowthSteps = 50;  // steps before the first walk, and number of latest steps to look at
constexpr size_t kEnough = 45;       // of these steps, how many must have nodes in a graph
constexpr size_t kMostGrowthNodes = 1 << 18, kMostGrowthObjects = 1 << 16;

// The number of steps whose nodes an owner's tensors keep alive.
size_t steps_of(const OwnerGroup& group, const StepClock& clock) {
  HeldGraph graph;
  for (const HeldTensor* const held : group.held)
    graph.add(held->tensor.node().get(), clock, kMostGrowthNodes);
  std::set<int64_t> steps;
  for (const Node* const node : graph.nodes) steps.insert(clock.step_of_node(node->id));
  return steps.size();
}

}  // namespace

void GrowthWatch::begin_run() {
  reported_ = passed_ = false;
  steps_ = 0;
  next_ = int64_t(kGrowthSteps);
  clock_.clear();
}

std::optional<GrowthWatch::Found> GrowthWatch::end_step(lua_State* L) {
  if (reported_) return {};
  ++steps_;
  std::optional<Found> found;
  if (steps_ >= next_) {
    next_ = 2 * steps_;
    if (clock_.size() + 1 >= kGrowthSteps) found = look(L);  // the first step has no mark
  }
  // The next step begins here. A step without a pass counts as part of the next step that has one.
  if (std::exchange(passed_, false)) clock_.begin_step(steps_ + 1, kGrowthSteps);
  reported_ = bool(found);
  return found;
}

std::optional<GrowthWatch::Found> GrowthWatch::look(lua_State* L) const {
  HeapWalk walk(L, kMostGrowthObjects);
  walk.run();
  std::vector<HeldTensor> tapes;
  for (const HeapWalk::Held& held : walk.tensors()) {
    const Node* const node = held.tensor.node().get();
    if (node && !node->is_leaf() && clock_.step_of_node(node->id) > 0)
      tapes.push_back({held.tensor, walk.path(held), Leak::What::tapes});
  }
  OwnerGroups owners = owner_groups(tapes), memos = memo_groups(tapes);
  for (OwnerGroups* const groups : {&owners, &memos})
    for (const auto& [key, group] : *groups) {
      if (steps_of(group, clock_) < kEnough) continue;
      const SourceLine line = group.held.back()->tensor.node()->line;
      return Found{variable_name(group.path), steps_, {interned(line.file), line.line}};
    }
  return {};
}

}  // namespace lunagrad
