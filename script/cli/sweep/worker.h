#pragma once
// A worker of a sweep: claims one leg after another and runs it in a process, until nothing is left to do or
// a signal comes. Any number of workers can share a sweep, on any computers that see its folder. For the main
// thread; one object.
#include <memory>
#include <optional>
#include <string>

#include "script/sweep/board.h"

namespace lunagrad::sweep {

struct WorkerOptions {
  std::string sweep;          // the sweep's folder
  bool wait = false;          // wait until the sweep is over, also for trials of other workers
  bool retry_failed = false;  // retry trials that failed before this worker started
  double patience = 60;       // seconds without a heartbeat until a worker counts as dead
  bool sandbox = false;       // the trials run in the sandbox
  // Another user made the sweep: its trials run in the sandbox, with the script in its folder.
  bool confined = false;
  size_t memory = 0, disk = 0;  // limits of a trial, as of RunOptions
};

// Returns the exit code: 0, 1 when a trial failed here, 128 plus the signal's number after a signal.
int work(const WorkerOptions&);

}  // namespace lunagrad::sweep
