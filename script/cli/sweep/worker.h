#pragma once
// A worker of a sweep: claims one leg after the other and runs it in a process, until nothing is left to do
// or a signal comes. Any number of them work on a sweep, on any machines that see its folder. For the main
// thread; one object.
#include <memory>
#include <optional>
#include <string>

#include "script/sweep/board.h"

namespace lunagrad::sweep {

struct WorkerOptions {
  std::string sweep;          // the folder
  bool wait = false;          // until the sweep is over, also for trials of other workers
  bool retry_failed = false;  // trials that failed before it came
  double patience = 60;       // seconds until a worker whose heartbeat stands still counts as dead
  bool sandbox = false;       // the trials run in the sandbox
  bool confined = false;  // somebody else has made the sweep: in the sandbox, and by the script in its folder
  size_t memory = 0, disk = 0;  // limits of a trial, as of RunOptions
};

// Returns the exit code: 0, 1 when a trial failed here, 128 and the signal's number after one.
int work(const WorkerOptions&);

}  // namespace lunagrad::sweep
