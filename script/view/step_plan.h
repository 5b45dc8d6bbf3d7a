#pragma once
// What was computed together in a step whose calls were put off, as text and numbers without engine types.
// Immutable once made; any thread may read it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct PlannedCall {
  std::string op;
  SourcePlace place;
  bool backward = false;  // made by a backward pass, for the gradient of the op at `place`
  bool stored = true;     // false: its result never left the caches of its group
};

// Groups, or single calls, that do the same at the same lines.
struct PlannedRow {
  std::vector<PlannedCall> members;  // a single one was computed alone
  int64_t times = 1;
  double bytes = 0;  // of all: of groups the results that were not written, of single calls the results
  double ns = 0;     // of all; 0: not measured, as on a GPU
  std::string why;   // a single call was computed alone
};

struct StepPlan {
  int64_t step = 0;
  std::string device;
  bool goes_on = true;                    // the steps after it are put off, too; false: they would lose by it
  int64_t calls = 0, passes = 0;          // that were computed; a group is one pass over memory
  int64_t groups_made = 0, grouped = 0;   // groups, and calls in them
  int64_t dropped = 0;                    // calls that did not run, since nobody reads their results
  double bytes_saved = 0;                 // of results that were not written
  std::vector<PlannedRow> groups, alone;  // most bytes first
};

// The same on the tape of a step.
struct TapePlan {
  struct Group {
    uint32_t row = 0;  // of StepPlan::groups
    double bytes = 0, ns = 0;
    std::vector<uint32_t> nodes;  // positions on the tape, newest first; calls of the backward pass have none
  };
  struct OfNode {
    int32_t group = -1;  // index into `groups`
    int32_t alone = -1;  // row of StepPlan::alone; neither: a leaf, a view, or nothing is known
    bool stored = true;
    double ns = 0;  // of a single call; 0: not measured
  };
  std::shared_ptr<const StepPlan> plan;  // null: no step of the run was put off; `nodes` is empty then
  std::vector<Group> groups;             // with a node on the tape
  std::vector<OfNode> nodes;             // of each node of the tape
};

}  // namespace lunagrad
