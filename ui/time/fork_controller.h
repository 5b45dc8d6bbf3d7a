#pragma once
// Prepares forks: reads a run, and makes the states at a step by a replay, on a separate thread, while the
// window's run continues. The caller that takes the result starts the new run. One fork at a time. Drawing
// thread only; nothing waits, except the destructor, which cancels first.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "script/run/record.h"
#include "script/time/fork.h"
#include "ui/base/background_tasks.h"

namespace lunagrad {

class ForkController {
 public:
  // `wake` requests a frame; it is called on any thread.
  explicit ForkController(std::function<void()> wake);
  ~ForkController();
  ForkController(const ForkController&) = delete;

  // Reads the run in this folder, for offer().
  void look_at(const std::string& folder);
  // The run that was read last; null: none yet.
  const RunRecord* offer() const { return offer_ ? &*offer_ : nullptr; }

  struct Wanted {
    std::string folder;  // folder of the parent
    int64_t steps = 0;   // number of the parent's finished steps, which its folder may not show yet
    std::shared_ptr<KeyframeSource> keyframes;  // null: uses the keyframes in the folder
    std::string script;                         // the script to run; "": the parent's script
    std::string opens;                          // the script that Run starts after the fork; "": `script`
    ForkChanges changes;
    ReplayLimits limits = {};
  };
  void make(Wanted);  // cancels a fork that is being made
  void cancel();

  struct Made {
    std::string script, opens;
    RunOptions options;  // its run folder contains the states
  };
  // Once a frame: returns the fork that is ready to start.
  std::optional<Made> update();

  struct Progress {
    int64_t at = 0, to = 0;  // steps
  };
  std::optional<Progress> progress() const;  // progress of the fork that is being made
  // Why the run cannot be read, or the fork could not be made; "" if there was no error.
  const std::string& problem() const { return problem_; }
  void dismiss_problem() { problem_.clear(); }

 private:
  struct Work;  // what the replay's thread shares with the drawing thread
  void remove(const std::string& folder);
  const std::function<void()> wake_;
  std::optional<RunRecord> offer_;
  uint64_t looks_ = 0;
  std::shared_ptr<Work> work_;
  std::optional<Made> made_;
  std::string problem_;
  BackgroundTasks thread_;  // last: its destructor waits for tasks that use the members above
};

// The values of the run's parameters at the end of `step`, as text.
std::map<std::string, std::string> params_at(const RunRecord&, int64_t step);

}  // namespace lunagrad
