#pragma once
// Computes the values of probes in earlier steps: a replay of the run evaluates the probes there, on a
// separate thread, while the run continues. One replay at a time, for several probes. Owned by the probe
// controller. Drawing thread only; nothing waits, except the destructor, which cancels first.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/time/keyframe.h"
#include "script/time/replay.h"
#include "script/view/probe.h"
#include "ui/base/background_tasks.h"
#include "ui/runs/curves.h"

namespace lunagrad {

class BackFill {
 public:
  // `wake` requests a frame; it is called on any thread.
  explicit BackFill(std::function<void()> wake);
  ~BackFill();
  BackFill(const BackFill&) = delete;

  // The steps in which one probe is evaluated, and its values so far, to which new values are appended.
  struct Part {
    Probe probe;  // with the id that it has in the run's own session
    int64_t first = 0, last = 0;
    Metric values;
    std::string problem;  // why the expression failed; "" if it did not
  };
  struct Job {
    std::string folder;
    int64_t steps = 0;                          // number of finished steps of the run
    std::shared_ptr<KeyframeSource> keyframes;  // null: uses the keyframes in the folder
    ReplayLimits limits;
    std::vector<Part> parts;
  };
  void start(Job);  // only while no job is in progress
  void cancel();    // cancels the job, which then has no result

  struct Progress {
    int64_t from = 0, at = 0, to = 0;  // steps
  };
  std::optional<Progress> progress() const;  // nothing while no job is in progress
  struct Result {
    std::vector<Part> parts;
    std::string problem;  // why the run could not be repeated; the values are invalid then
  };
  std::optional<Result> update();  // once a frame: returns the result of a finished job

 private:
  struct Work;  // what the replay's thread shares with the drawing thread
  const std::function<void()> wake_;
  std::shared_ptr<Work> work_;
  std::optional<Result> result_;
  BackgroundTasks thread_;  // last: its destructor waits for tasks that use the members above
};

}  // namespace lunagrad
