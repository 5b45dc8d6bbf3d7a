#pragma once
// `lunagrad run --ranks N`: the same command once more in N processes, which mpirun starts. For the main
// thread, before the script runs.
#include <cstdint>

#include "script/cli/base/runner.h"

namespace lunagrad {

// Replaces this process by mpirun, which runs its command line without --ranks. Returns the exit code when
// there is no mpirun, after a message.
int start_ranks(int64_t count);

// Changes the request of a process that mpirun started: only rank 0 shows progress and writes JSON, and what
// other ranks print then goes to stderr.
void take_rank(RunRequest&);

}  // namespace lunagrad
