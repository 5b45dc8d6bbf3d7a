#pragma once
// Compares the properties of two matched nodes, and finds which changes follow from changes of their inputs.
// Pure; any thread.
#include <vector>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// Sets the changes of every pair. `pair_of_a` and `pair_of_b` are the indices of the pairs of each tape's
// nodes.
void find_changes(TapeDiff&, const std::vector<size_t>& pair_of_a, const std::vector<size_t>& pair_of_b);

}  // namespace lunagrad
