#pragma once
// The history of the changes that a user made to a running model with lg.surgery. Plain values; any thread
// may hold a copy.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad {

struct SurgeryEntry {
  std::string title;  // "rescale model.fc1 by 0.5"
  std::string line;   // the Lua line that does the same
  int64_t step = 0;   // completed steps of the run at the time of the change
  int64_t bytes = 0;  // kept only to undo this change
  bool undone = false;
};

struct SurgeryHistory {
  std::vector<SurgeryEntry> entries;  // oldest first; undone changes come last
  int64_t bytes = 0, budget = 0;      // kept for all changes; the limit
};

}  // namespace lunagrad
