#pragma once
// `lunagrad run --ranks N`: runs the same command in N processes, which mpirun starts. For the main thread,
// before the script runs.
#include <cstdint>

#include "script/cli/base/runner.h"

namespace lunagrad {

// Replaces this process by mpirun, which runs its command line without --ranks. If there is no mpirun, prints
// a message and returns the exit code. Error of kind device when the build leaves lg.distributed out.
int start_ranks(int64_t count);

// Changes the request of a process that mpirun started: only rank 0 shows progress and writes JSON; other
// ranks then print to stderr.
void take_rank(RunRequest&);

}  // namespace lunagrad
