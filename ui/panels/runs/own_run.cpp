#include "ui/panels/runs/own_run.h"

#include <algorithm>

namespace lunagrad {

std::optional<RunSummary> own_run(const Workbench& bench, const RunSummary& run) {
  const Journal& journal = bench.journal();
  const bool open = run.outcome == "running" || run.outcome == "unfinished";
  if (!open || !journal.active() || journal.run_folder().empty() ||
      full_path(journal.run_folder()) != run.folder)
    return {};
  RunSummary row = run;
  row.outcome = journal.state() == SessionState::paused ? "paused" : "running";
  row.steps = std::max(row.steps, journal.step());
  return row;
}

}  // namespace lunagrad
