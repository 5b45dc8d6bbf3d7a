#pragma once
// A comparison of a step (script/view/step_comparison.h) on the tape of that step: a mark for each node, and
// what the window says about it in words. Pure, except the colours of the kinds; any thread.
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "ui/tape/node_marks.h"

namespace lunagrad {

// A node inherits if it is right by itself, reads what a wrong one has computed, and differs by more than
// rounding allows. Without a wrong node nothing inherits: then errors of rounding have added up.
NodeMarks step_marks(const TapeSnapshot&, const StepComparison&);

// The first computation that is wrong by itself, in the order of execution; null: none is.
const ComparedNode* first_wrong(const StepComparison&);
// "conv2d in net.1 at train.lua:31, forward, error 3.1e-04 (bound 2.0e-06)"
std::string accusation_of(const ComparedNode&);
// The computations of one node: "forward", and in a line each "wrong by itself: output [2, 3]",
// "off by 3.1e-04", "rounding allows 2.0e-06", "inherited 0".
std::vector<std::pair<std::string, std::string>> compared_rows(const StepComparison&, uint64_t node);

}  // namespace lunagrad
