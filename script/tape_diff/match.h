#pragma once
// Finds which node of one tape is which of another. Names, lines and seeds may differ, and nodes may have
// been inserted, removed, moved or edited: the order in which the ops ran and what they compute decide, names
// where that leaves a choice. Pure; any thread.
#include <vector>

#include "script/tape_diff/graph.h"

namespace lunagrad {

struct Matching {
  std::vector<int> of_a, of_b;  // the node of the other tape; -1: it has none
};

// Takes 0.3 s for two tapes of 5,000 nodes that have little in common.
Matching match(const TapeGraph& a, const TapeGraph& b);

}  // namespace lunagrad
