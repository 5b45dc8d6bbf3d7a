#pragma once
// How far the values and gradients of matched nodes moved, and which of these moves follow from others. Pure;
// any thread.
#include <optional>
#include <vector>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// A move may follow from another move that is at least this fraction of it. Ops amplify their inputs (an exp,
// a difference of near values), but a move of 1 does not come from a rounding error of 0.001.
inline constexpr double kExplains = 0.01;

TapeMove measure(const std::optional<TapeValue>& a, const std::optional<TapeValue>& b,
                 const TapeDiffOptions&);

// Sets value and gradient of every pair. `pair_of_a` and `pair_of_b` are the indices of the pairs of each
// tape's nodes.
void measure_moves(TapeDiff&, const std::vector<size_t>& pair_of_a, const std::vector<size_t>& pair_of_b);

}  // namespace lunagrad
