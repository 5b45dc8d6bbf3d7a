#pragma once
// Keeps the plan of the latest step whose calls were put off (runtime/deferral/report.h), and finds its
// groups on the tapes of other steps, which a viewer looked at and which were computed call by call. plan()
// may be called from any thread, everything else from the session's thread.
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/deferral/report.h"
#include "script/view/step_plan.h"

namespace lunagrad {

// A node of a tape, as much as tells which call it is of.
struct PlanNode {
  const Op* op;  // null: a leaf
  SourceLine line;
  uint32_t module;
  uint64_t result;  // id of the tensor
};

class PlanWatch {
 public:
  std::shared_ptr<const StepPlan> plan() const;  // null: none
  // Takes the plan down, unless that was done a moment ago: it takes at most 1/100 of the time. `tape`: that
  // of the step, newest node first; empty: it has none.
  void take(int64_t step, bool goes_on, const Device&, const QueueReport&, std::span<const PlanNode> tape);
  // The plan on a tape. Nodes of another step are those of the same op, line and module, in the
  // same order.
  TapePlan on(std::span<const PlanNode> tape) const;
  void clear();

 private:
  struct Unit {
    bool group = false;
    uint32_t row = 0;
    double bytes = 0, ns = 0;
  };
  struct Call {
    uint32_t unit = 0;
    bool stored = true;
  };
  using Key = std::tuple<const Op*, uint32_t, int32_t, uint32_t>;  // op, file, line, module
  static Key key_of(const PlanNode& node) { return {node.op, node.line.file, node.line.line, node.module}; }

  void set_plan(std::shared_ptr<const StepPlan>);

  mutable std::mutex mutex_;
  std::shared_ptr<const StepPlan> plan_;  // written by the session's thread under mutex_
  std::vector<Unit> units_;
  std::map<Key, std::vector<Call>> calls_;  // of nodes, newest first
  // Of each unit the least time of the plans in a row that are the same: other programs do not count.
  std::vector<uint64_t> least_;
  uint64_t same_as_ = 0;              // hash of these plans
  uint64_t taken_at_ = 0, cost_ = 0;  // ticks
};

}  // namespace lunagrad
