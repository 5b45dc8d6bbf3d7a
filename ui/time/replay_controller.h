#pragma once
// Takes the window to any step of its run. Owns the keyframes of the run in memory, and at most one Replay,
// which works on a separate thread; the run continues meanwhile. Drawing thread only: nothing here waits,
// except the destructor, which cancels first.
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
#include "ui/base/background_tasks.h"

namespace lunagrad {

class ReplayController {
 public:
  // `wake` requests a frame; it is called on any thread.
  explicit ReplayController(std::function<void()> wake);
  ~ReplayController();
  ReplayController(const ReplayController&) = delete;

  // A new run begins: releases the replay of the previous run. Returns the sink for the new run's keyframes.
  // `start`: the states that a fork begins with, or null.
  std::shared_ptr<KeyframeSink> begin_run(KeyframePtr start = nullptr);
  // Bytes of keyframes to keep; also applies to the current run.
  void set_budget(size_t bytes);
  const MemoryKeyframes* keyframes() const { return keyframes_.get(); }           // null before the first run
  std::shared_ptr<KeyframeSource> keyframe_source() const { return keyframes_; }  // for another replay

  // The present state of the run.
  struct RunNow {
    std::string folder;
    int64_t first = 1;            // the run's first step; later than 1 in a fork
    int64_t steps = 0;            // number of finished steps
    size_t reloads = 0;           // each reload makes the data read from the run invalid
    double seconds_per_step = 0;  // 0: unknown
    ReplayLimits limits;  // limits of the run itself: its script may have changed the limits in its folder
  };
  // The cost of showing a step.
  struct Cost {
    int64_t from = 0, steps = 0;  // begins after step `from` and repeats `steps` steps
    bool goes_on = false;         // continues from the position of the last replay
    double seconds = 0;           // 0: unknown
  };
  Cost cost(int64_t step, const RunNow&) const;
  // Repeats the run up to the end of `step`. Cancels a replay that is in progress.
  void go_to(int64_t step, const RunNow&);
  void cancel();
  void close();   // releases the replay and its memory
  bool update();  // once a frame; returns true when a replay has ended, with or without success

  struct Progress {
    int64_t from = 0, at = 0, to = 0;  // steps
  };
  std::optional<Progress> progress() const;  // progress of the current replay
  // The position of the replay: the step at whose end it waits; null while it has none.
  struct Position {
    int64_t step = 0;
    uint64_t number = 0;  // a number that differs for each position
    std::shared_ptr<const TapeSnapshot> tape;
    StepStatisticsPtr statistics;          // null: the step has no backward pass
    std::shared_ptr<const Modules> texts;  // what the step ran: the texts of the script and its modules
    std::optional<Difference> difference;  // the first difference from the run since the replay began
    std::string note;                      // why the replay began earlier than announced; usually ""
  };
  const Position* position() const { return position_ ? &*position_ : nullptr; }
  Session& session();  // paused at the position
  // Why there is no position; "" when there is one or the user cancelled.
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
  std::shared_ptr<Job> job_;  // job of the latest request; it owns the replay
  bool working_ = false;
  bool ended_ = false;  // a replay has ended since the last update()
  std::optional<Position> position_;
  uint64_t positions_ = 0;
  std::string problem_;
  // Measured in the last replay; 0: not yet.
  double start_seconds_ = 0, step_seconds_ = 0;
  BackgroundTasks thread_;  // last: its destructor waits for tasks that use the members above
};

}  // namespace lunagrad
