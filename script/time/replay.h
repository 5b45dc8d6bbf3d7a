#pragma once
// Replays a run, or a part of it, in its own session, without output and without a folder. It starts from the
// nearest keyframe or from the first step, with the script of that time, its edits of parameters, its reloads
// and its console lines. Every number is compared with the number that the run logged, and the states with
// the run's keyframes. Owned and used by one thread, which blocks; cancel() may be called from any thread. If
// the run goes on after the Replay was made, make another Replay.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "script/session.h"
#include "script/time/keyframe.h"
#include "script/time/replay_check.h"
#include "script/time/timeline.h"

namespace lunagrad {

// Limits of a replay, regardless of what the run's folder says.
struct ReplayLimits {
  // Another user made the folder: the replay runs in the sandbox, and the folder may only name files inside
  // itself.
  bool confined = false;
  bool sandbox = false;                          // always in the sandbox
  size_t memory = 0, disk = 0;                   // as of RunOptions
  double timeout = 0;                            // seconds for each call that runs steps; 0: no limit
  std::map<std::string, std::string> stand_ins;  // as of RunOptions
};
ReplayLimits limits_of(const RunOptions&);  // for a replay of a run with these options

struct ReplayOptions {
  ReplayLimits limits;
  std::shared_ptr<KeyframeSource> keyframes;  // null: the keyframes in the run's folder
  int64_t steps = 0;  // completed steps of a live run, which its folder may not show yet
  std::function<void(const std::string&)> warn;  // once for each fact
  std::function<void(int64_t step)> progress;    // on the session's thread
  EventSink events;                              // sees the session's events, on its thread
};

class Replay {
 public:
  // Error of kind file when the folder is not a run's or the run cannot be replayed.
  explicit Replay(const std::string& folder, ReplayOptions = {});
  ~Replay();
  Replay(const Replay&) = delete;

  const RunRecord& run() const { return timeline_.record; }
  const Timeline& timeline() const { return timeline_; }
  // The steps of the run so far. A fork's first step is the step after its parent's.
  int64_t first_step() const { return timeline_.record.parent_step + 1; }
  int64_t steps() const { return timeline_.steps; }
  // Pauses at the end of `step`. session() then has its tape, values, gradients and statistics, as
  // tape(step), or as tape() for a script without lg.run.steps. Error when the run has no such step, when the
  // script fails or ends before it, or after cancel().
  void go_to(int64_t step);
  // Runs through these steps and pauses at the end of the last. Calls `prepare` before a session starts. A
  // second call of `prepare` means that the replay began again and earlier results are void.
  void run_through(int64_t first, int64_t last, const std::function<void(Session&)>& prepare);
  // The tape of `step` in the form of the run's folder: a line of tape.jsonl. "" when the step has no tape.
  std::string recorded_tape(int64_t step);
  // The states at the end of `step`; null when no states are registered.
  KeyframePtr keyframe_at(int64_t step);
  // The first difference from the run so far: the script depends on something that a run does not record,
  // such as the time, changed files, or threads.
  std::optional<Difference> difference() const;
  void require_same() const;                      // Error if there is a difference
  int64_t began_at() const { return began_at_; }  // the step after which the latest session started
  Session& session() { return *session_; }
  void cancel();

 private:
  struct Start {
    KeyframePtr keyframe;  // null: the beginning of a span
    size_t span = 0;
    int64_t step = 0;
  };
  Start nearest(int64_t step) const;
  bool can_go_on_to(int64_t step) const;
  void check_steps(int64_t first, int64_t last) const;
  std::string cause() const;
  void start(const Start&, int64_t pause_at, const std::function<void(Session&)>& prepare);
  // Calls `make` with a start, from which it runs to the caller's step. Calls it again with an earlier start
  // if the first start proved wrong.
  void attempt(int64_t from, const std::function<void(const Start&)>& make);
  void handle(const Event&);
  void begin_time();
  void wait_for_pause(int64_t step);
  void tell(const std::string&);

  Timeline timeline_;
  ReplayOptions options_;
  bool keyframes_hold_all_ = true;
  bool repeats_itself_ = true;  // the script gives the same results when it runs from its first step
  bool reported_beginning_ = false;
  int64_t kept_step_ = -1;  // the step that keyframe_at() keeps
  int64_t tape_step_ = -1;  // the step that recorded_tape() records
  std::string tape_line_;   // written by the session's thread, read when it is paused
  int64_t began_at_ = 0;
  int64_t at_ = -1;  // the session is paused at the end of this step; -1: it is not paused
  std::chrono::steady_clock::time_point time_ends_;  // end of the current call's time, if it is limited

  // Shared with the session's thread, under mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ReloadSpan> reloads_;  // reloads to come, the next one last
  // pauses after pause_at_; reloads after steps up to cross_to_ are followed
  int64_t pause_at_ = 0, cross_to_ = 0;
  int pauses_ = 0, waited_ = 0;
  bool ended_ = false, cancelled_ = false;
  std::string error_;
  int64_t reached_ = 0;

  std::shared_ptr<ReplayCheck> check_;
  std::unique_ptr<Session> session_;  // last: its thread uses the others
};

}  // namespace lunagrad
