#pragma once
// A record of computed deferred calls, call by call, and the same data as table rows for people. Values; one
// thread.
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
    uint64_t result;  // id of the tensor that the script or the tape got; 0: none
    uint64_t bytes;   // of the results; for a result that never left its group, without the sums over rows
    uint64_t ticks;   // time of the unit; on a GPU until it was submitted
    const char* why;  // why the call was computed alone; null: it is a member of a group
  };
  std::vector<Done> calls;  // in the order in which they ran
  uint32_t units = 0;
  size_t at_once = 0;        // eager calls
  size_t dropped = 0;        // calls whose results were not read
  uint64_t bytes_saved = 0;  // bytes of results that never left their group

  // Adds a call of the next unit. `why`: the reason why it joined no group; null if the plan did not ask.
  void add(const QueuedCall&, bool in_group, bool stored, uint64_t ticks, const char* why);
  // Adds a call that must not be deferred, and the reason.
  void add_at_once(const Call&, const char* why);
};

// Equal units at the same lines, such as the layers of a loop.
struct PlanRow {
  // members of the first unit; a single member was computed alone
  std::vector<const QueueReport::Done*> members;
  std::vector<uint32_t> units;
  uint64_t bytes = 0;  // of all units: for groups the bytes not written, for others the results' bytes
};
struct PlanRows {
  std::vector<PlanRow> groups, alone;  // most bytes first
};
PlanRows rows_of(const QueueReport&);  // refers to the report

}  // namespace lunagrad
