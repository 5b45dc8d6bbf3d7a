#pragma once
// Compares a kept step with another way to compute it (view/step_comparison.h). Leaves the script's context,
// gradients and random numbers unchanged. For the session's thread. Errors are reported in the answer's
// `reason`.
#include <functional>
#include <stop_token>
#include <string_view>

#include "script/inspect/tape_watch.h"
#include "script/view/step_comparison.h"

namespace lunagrad {

// `progress` gets the number of finished computations, the total, and the name of the next computation. An
// exception that it throws ends the comparison.
using ComparisonProgress = std::function<void(size_t done, size_t all, std::string_view name)>;
StepComparison compare_step(TapeWatch&, int64_t step, const ComparisonQuery&, const std::stop_token&,
                            const ComparisonProgress& progress);

}  // namespace lunagrad
