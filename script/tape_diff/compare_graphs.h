#pragma once
// Compares two recorded tapes: matches their nodes, finds what changed and moved, and ranks what it found, so
// that causes come before their effects. Pure; any thread.
#include "script/tape_diff/difference.h"

namespace lunagrad {

TapeDiff compare_tapes(TapeGraph a, TapeGraph b, const TapeDiffOptions&);

}  // namespace lunagrad
