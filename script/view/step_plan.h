#pragma once
// The groups of a step whose calls were deferred, as text and numbers without engine types. Immutable once
// made; any thread may read it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct PlannedCall {
  std::string op;
  SourcePlace place;
  bool backward = false;  // called by a backward pass, for the gradient of the op at `place`
  bool stored = true;     // false: its result was only used inside its group, and was not written to memory
};

// Groups, or single calls, that do the same at the same lines.
struct PlannedRow {
  std::vector<PlannedCall> members;  // one member: a call that was computed alone
  int64_t times = 1;
  double bytes = 0;  // sum: for groups the results that were not written, for single calls the results
  double ns = 0;     // sum; 0: not measured, as on a GPU
  std::string why;   // why a single call was computed alone
};

struct StepPlan {
  int64_t step = 0;
  std::string device;
  bool goes_on = true;            // later steps are deferred too; false: they would become slower by it
  int64_t calls = 0, passes = 0;  // computed calls; passes over memory, one per group
  int64_t groups_made = 0, grouped = 0;   // groups, and the calls in them
  int64_t dropped = 0;                    // calls that did not run, because their results are not read
  double bytes_saved = 0;                 // of results that were not written
  std::vector<PlannedRow> groups, alone;  // most bytes first
};

// The groups on the tape of a step.
struct TapePlan {
  struct Group {
    uint32_t row = 0;  // index into StepPlan::groups
    double bytes = 0, ns = 0;
    std::vector<uint32_t> nodes;  // positions on the tape, newest first; calls of the backward pass have none
  };
  struct OfNode {
    int32_t group = -1;  // index into `groups`
    int32_t alone = -1;  // index into StepPlan::alone; if both are -1: a leaf, a view, or not known
    bool stored = true;
    double ns = 0;  // time of a single call; 0: not measured
  };
  std::shared_ptr<const StepPlan> plan;  // null if no step of the run was deferred; `nodes` is then empty
  std::vector<Group> groups;             // the groups that have a node on the tape
  std::vector<OfNode> nodes;             // for each node of the tape
};

}  // namespace lunagrad
