#pragma once
// Summaries of many tensors in one go: for each device one pass over all of them where they lie, one dispatch
// and one wait, whatever their number. For the thread of the tensors.
#include <vector>

#include "runtime/statistics/summary.h"
#include "runtime/tensor.h"

namespace lunagrad {

struct Op;

// Of each what summarize() finds.
std::vector<Summary> summarize_all(const TensorList&);

// The record behind it, which no list of ops holds: its result has a row of numbers for each operand.
const Op& summary_op();

}  // namespace lunagrad
