#pragma once
// The steps that a session keeps for a viewer, in one ring with one budget of bytes: the tape of each step,
// and the values of captured steps. Plain values; any thread may hold a copy.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lunagrad {

struct KeptStep {
  int64_t step = 0;
  size_t tape_bytes = 0;   // of the tape's record: names, shapes, times
  size_t value_bytes = 0;  // of storage kept for its values; steps may share storage
  bool values = false;     // outputs and gradients can be shown
  bool complete = false;   // all values are kept: captured from the step's beginning, within the budget
};

struct History {
  std::vector<KeptStep> steps;  // the oldest first
  size_t bytes = 0, budget = 0;
};

inline constexpr size_t kHistoryBudget = size_t(192) << 20;  // default, in bytes
inline constexpr size_t kMostKeptSteps = 1000;
// Tapes take at most this part of the budget: it is full within minutes, and memory then stays as it is.
inline constexpr size_t kTapeShare = 4;

}  // namespace lunagrad
