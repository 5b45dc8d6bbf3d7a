#pragma once
// What computing calls that were put off did, call by call, and the same as the rows of a table for people.
// Values; one thread.
#include <cstdint>
#include <vector>

#include "runtime/deferral/queued_call.h"

namespace lunagrad {

struct QueueReport {
  struct Done {
    const Op* op;
    SourceLine line;
    bool backward;    // made by a backward pass, for the gradient of the op at `line`
    bool stored;      // false: the result never left its group
    uint32_t unit;    // equal for the members of a group; counts from 0
    uint64_t result;  // id of the tensor that the script or the tape got; 0: of none
    uint64_t bytes;  // of the results; of one that never left its group, without the sums over rows beside it
    uint64_t ticks;  // that the unit took; on a GPU until it was submitted
    const char* why;  // the call was computed alone; null: it is a member of a group
  };
  std::vector<Done> calls;  // in the order in which they ran
  uint32_t units = 0;
  size_t at_once = 0;        // calls that were not put off
  size_t dropped = 0;        // calls whose results nobody read
  uint64_t bytes_saved = 0;  // of results that never left their group

  // A call of the unit that comes next. `why`: what kept it from joining a group; null if the plan did not
  // ask.
  void add(const QueuedCall&, bool in_group, bool stored, uint64_t ticks, const char* why);
  // A call that must not wait, and why.
  void add_at_once(const Call&, const char* why);
};

// Units that do the same at the same lines, as the layers of a loop do.
struct PlanRow {
  std::vector<const QueueReport::Done*> members;  // of the first unit; a single one was computed alone
  std::vector<uint32_t> units;
  uint64_t bytes = 0;  // of all units: of groups what was not written, of others the results
};
struct PlanRows {
  std::vector<PlanRow> groups, alone;  // most bytes first
};
PlanRows rows_of(const QueueReport&);  // refers to the report

}  // namespace lunagrad
