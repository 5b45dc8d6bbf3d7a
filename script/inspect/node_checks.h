#pragma once
// Runs the call of a kept node again: in f64 to compare its gradient with central differences, and on another
// device to compare it with the CPU. Leaves the script's context and random numbers unchanged. For the
// session's thread. Errors are reported in the answer's `reason`.
#include "script/inspect/tape_watch.h"
#include "script/view/node_checks.h"

namespace lunagrad {

GradientCheck check_gradient(TapeWatch&, int64_t step, uint64_t node, const std::stop_token&);
DeviceComparison compare_devices(TapeWatch&, int64_t step, uint64_t node, const std::stop_token&);

}  // namespace lunagrad
