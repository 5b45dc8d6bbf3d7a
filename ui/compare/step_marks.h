#pragma once
// Shows a comparison of a step (script/view/step_comparison.h) on the step's tape: a mark for each node, and
// its description in words. Pure, except the colours of the kinds; any thread.
#include <string>
#include <utility>
#include <vector>

#include "script/view/step_comparison.h"
#include "script/view/tape.h"
#include "ui/tape/node_marks.h"

namespace lunagrad {

// A node inherits an error if it is right by itself, reads a value that a wrong node computed, and differs by
// more than rounding allows. Without a wrong node no node inherits: then the differences are accumulated
// rounding errors.
NodeMarks step_marks(const TapeSnapshot&, const StepComparison&);

// The first computation that is wrong by itself, in the order of execution; null if there is none.
const ComparedNode* first_wrong(const StepComparison&);
// "conv2d in net.1 at train.lua:31, forward, error 3.1e-04 (bound 2.0e-06)"
std::string accusation_of(const ComparedNode&);
// The computations of one node: "forward" with the lines "wrong by itself: output [2, 3]", "off by 3.1e-04",
// "rounding allows 2.0e-06", "inherited 0".
std::vector<std::pair<std::string, std::string>> compared_rows(const StepComparison&, uint64_t node);

}  // namespace lunagrad
