#pragma once
// A fork: a new run that continues after a step of another run, with other parameters or another script.
// Plain functions without state; begin_fork() writes files. Any thread.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "script/time/replay.h"

namespace lunagrad {

struct ForkChanges {
  int64_t step = 0;                        // the parent's step after which the new run continues
  std::map<std::string, std::string> set;  // new values of parameters
  std::optional<int64_t> steps;            // replaces the number of steps in lg.run.steps
  std::string device;                      // "": the parent's
  bool other_script = false;  // the script is read from its file; otherwise the parent's text runs
};

// The states at the end of `step`, made by a replay. Error when the script registers no states, or when the
// replay differs from the run.
KeyframePtr states_for_fork(Replay& parent, int64_t step);
// The options of the new run, except for its folder. Error when it would have no step.
RunOptions options_of_fork(const Timeline& parent, const KeyframePtr& states, const ForkChanges&);
// Writes the states into options.run_directory, before the run begins there. Error of kind file when the
// folder holds a run or cannot be written.
void begin_fork(const RunOptions& options);

}  // namespace lunagrad
