#pragma once
// The table's row of this window's live run. Drawing thread only.
#include <optional>

#include "ui/runs/list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// The live state of `run`, if it is the window's own run and has not ended. The run's files do not show
// whether it is paused or in a step that takes minutes, and do not contain steps that logged nothing.
std::optional<RunSummary> own_run(const Workbench&, const RunSummary& run);

}  // namespace lunagrad
