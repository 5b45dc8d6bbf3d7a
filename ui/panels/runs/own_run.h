#pragma once
// The row of the run that this window shows live. Drawing thread only.
#include <optional>

#include "ui/runs/list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// `run` as the window knows it, if it is the window's own and has not ended: its files do not tell whether it
// is paused or in a step that takes minutes, nor of steps that logged nothing.
std::optional<RunSummary> own_run(const Workbench&, const RunSummary& run);

}  // namespace lunagrad
