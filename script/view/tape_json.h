#pragma once
// A tape's snapshot as JSON, with the names that lg.tape(x):json() uses. Pure; any thread.
#include <string>

#include "script/view/tape.h"

namespace lunagrad {

// {"step": 3, "nodes": [{"id": …, "op": …, "inputs": […], …}, …]}, newest node first. If the step was
// measured, "value" and "gradient" of a node are [elements, zeros, NaN, Inf, lowest, highest, mean, norm].
std::string tape_json(const TapeSnapshot&);

}  // namespace lunagrad
