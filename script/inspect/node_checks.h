#pragma once
// Runs the call of a kept node again: in f64 against central differences, and on another device against the
// CPU. The script's context and random numbers stay as they were. For the session's thread. A failure is the
// answer's reason.
#include "script/inspect/tape_watch.h"
#include "script/view/node_checks.h"

namespace lunagrad {

GradientCheck check_gradient(const TapeWatch&, int64_t step, uint64_t node, const std::stop_token&);
DeviceComparison compare_devices(const TapeWatch&, int64_t step, uint64_t node, const std::stop_token&);

}  // namespace lunagrad
