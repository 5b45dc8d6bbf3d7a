#pragma once
// The values of probes in steps that have passed: a replay of the run evaluates them there, on a thread of
// its own, while the run goes on. One replay at a time, for several probes. Owned by the probe desk. Drawing
// thread only; nothing waits, except the destructor, which cancels first.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/time/keyframe.h"
#include "script/time/replay.h"
#include "script/view/probe.h"
#include "ui/base/errands.h"
#include "ui/runs/curves.h"

namespace lunagrad {

class BackFill {
 public:
  // `wake` requests a frame; it is called on any thread.
  explicit BackFill(std::function<void()> wake);
  ~BackFill();
  BackFill(const BackFill&) = delete;

  // The steps in which one probe is evaluated, and its values so far, to which those are appended.
  struct Part {
    Probe probe;  // with its id in the run's own session
    int64_t first = 0, last = 0;
    Metric values;
    std::string problem;  // why the expression failed; "": it did not
  };
  struct Job {
    std::string folder;
    int64_t steps = 0;                          // of the run, that have ended
    std::shared_ptr<KeyframeSource> keyframes;  // null: those in the folder
    ReplayLimits limits;
    std::vector<Part> parts;
  };
  void start(Job);  // while none is under way
  void cancel();    // it has no result

  struct Progress {
    int64_t from = 0, at = 0, to = 0;  // steps
  };
  std::optional<Progress> progress() const;  // nothing while none is under way
  struct Result {
    std::vector<Part> parts;
    std::string problem;  // why the run could not be repeated; the values are void then
  };
  std::optional<Result> update();  // once a frame: the result of the job that has ended

 private:
  struct Work;  // what the replay's thread shares with the drawing thread
  const std::function<void()> wake_;
  std::shared_ptr<Work> work_;
  std::optional<Result> result_;
  Errands thread_;  // last: its destructor waits for work that uses the members above
};

}  // namespace lunagrad
