#pragma once
// `lunagrad runs check`.
#include <string>
#include <vector>

namespace lunagrad {

// Checks the named runs, sweeps, bundles and folders of runs. Without names: the runs in `folder`, and the
// sweeps in it and beside it. Prints what is damaged and returns the exit code.
int check_runs(const std::vector<std::string>& names, const std::string& folder, bool repair);

}  // namespace lunagrad
