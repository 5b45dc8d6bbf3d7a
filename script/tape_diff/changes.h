#pragma once
// Compares the properties of two nodes that are the same one, and says which of the changes follow from
// changes of their inputs. Pure; any thread.
#include <vector>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// Sets the changes of every pair. `pair_of_a`, `pair_of_b`: the pairs of the nodes.
void find_changes(TapeDiff&, const std::vector<size_t>& pair_of_a, const std::vector<size_t>& pair_of_b);

}  // namespace lunagrad
