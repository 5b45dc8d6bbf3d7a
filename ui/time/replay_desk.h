#pragma once
// The window's way back to any step of its run. Owns the keyframes of the run in memory, and at most one
// Replay, which works on a thread of its own; the run goes on in the meantime. Drawing thread only: nothing
// here waits, except the destructor, which cancels first.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "script/session.h"
#include "script/time/memory_keyframes.h"
#include "script/time/replay.h"
#include "script/time/replay_check.h"
#include "ui/base/errands.h"

namespace lunagrad {

class ReplayDesk {
 public:
  // `wake` requests a frame; it is called on any thread.
  explicit ReplayDesk(std::function<void()> wake);
  ~ReplayDesk();
  ReplayDesk(const ReplayDesk&) = delete;

  // A new run begins: lets the replay of the one before go. What it returns gets the keyframes of the new
  // run. `start`: the states that a fork begins with, or null.
  std::shared_ptr<KeyframeSink> begin_run(KeyframePtr start = nullptr);
  // Bytes of keyframes to keep, from now on.
  void set_budget(size_t bytes);
  const MemoryKeyframes* keyframes() const { return keyframes_.get(); }           // null before the first run
  std::shared_ptr<KeyframeSource> keyframe_source() const { return keyframes_; }  // for another replay

  // The run as it is now.
  struct RunNow {
    std::string folder;
    int64_t first = 1;            // its first step; later in a fork
    int64_t steps = 0;            // that have ended
    size_t reloads = 0;           // each makes what was read of the run void
    double seconds_per_step = 0;  // 0: unknown
    ReplayLimits limits;          // those of the run: its script may have written into its folder
  };
  // What showing a step takes.
  struct Cost {
    int64_t from = 0, steps = 0;  // begins behind `from` and repeats so many
    bool goes_on = false;         // from where the last replay stands
    double seconds = 0;           // 0: unknown
  };
  Cost cost(int64_t step, const RunNow&) const;
  // Repeats the run up to the end of `step`. Ends a replay that is under way.
  void go_to(int64_t step, const RunNow&);
  void cancel();
  void close();   // lets the replay and its memory go
  bool update();  // once a frame; true: a replay has ended, well or not

  struct Progress {
    int64_t from = 0, at = 0, to = 0;  // steps
  };
  std::optional<Progress> progress() const;  // of a replay that is under way
  // The step at whose end the replay stands; null while there is none.
  struct Stand {
    int64_t step = 0;
    uint64_t number = 0;  // another one for each stand
    std::shared_ptr<const TapeSnapshot> tape;
    StepStatisticsPtr statistics;          // null: it has no backward pass
    std::optional<Difference> difference;  // from the run, the first one on the way
    std::string note;                      // why it began earlier than was said; "" usually
  };
  const Stand* stand() const { return stand_ ? &*stand_ : nullptr; }
  Session& session();  // of the stand; paused
  // Why there is no stand, "" when there is one or the user cancelled.
  const std::string& problem() const { return problem_; }
  void dismiss_problem() { problem_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job;  // what the replay's thread shares with the drawing thread
  void let_go();
  void finish(const std::shared_ptr<Job>&, const std::string& problem);

  const std::function<void()> wake_;
  size_t budget_ = 0;
  std::shared_ptr<MemoryKeyframes> keyframes_;
  std::shared_ptr<Job> job_;  // of the latest request; it owns the replay
  bool working_ = false;
  bool ended_ = false;  // since the last update()
  std::optional<Stand> stand_;
  uint64_t stands_ = 0;
  std::string problem_;
  // As measured in the last replay; 0: not yet.
  double start_seconds_ = 0, step_seconds_ = 0;
  Errands thread_;  // last: its destructor waits for work that uses the members above
};

}  // namespace lunagrad
