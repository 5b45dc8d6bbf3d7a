#pragma once
// Keeps the plan of the latest step with deferred calls (runtime/deferral/report.h). Finds the plan's groups
// on the tapes of other steps, which were computed call by call because a viewer watched them. plan() may be
// called from any thread, everything else from the session's thread.
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/deferral/report.h"
#include "script/view/step_plan.h"

namespace lunagrad {

// The facts of a tape's node that tell which call made it.
struct PlanNode {
  const Op* op;  // null: a leaf
  SourceLine line;
  uint32_t module;
  uint64_t result;  // id of the result
};

class PlanWatch {
 public:
  std::shared_ptr<const StepPlan> plan() const;  // null if there is none
  // Stores the plan of a step. Does nothing shortly after the last time, so that this costs at most 1/100 of
  // the time. `tape`: the step's tape, newest node first; empty if it has none.
  void take(int64_t step, bool goes_on, const Device&, const QueueReport&, std::span<const PlanNode> tape);
  // The plan's groups on a tape. A node of another step matches the call with the same op, line and module
  // and the same number among them.
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
  std::map<Key, std::vector<Call>> calls_;  // in the order of the tape's nodes, newest first
  // For each unit the least time over the latest plans that are equal, to leave out the time of other
  // programs.
  std::vector<uint64_t> least_;
  uint64_t same_as_ = 0;              // hash of the latest plans
  uint64_t taken_at_ = 0, cost_ = 0;  // ticks
};

}  // namespace lunagrad
