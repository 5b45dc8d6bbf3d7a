#pragma once
// Repeats a run, or a part of it, in a session of its own, without output and without a folder, from the
// nearest keyframe or from its first step, with the script of that time, its edits of parameters, its reloads
// and its console lines. Every number is compared with what the run logged, and the states with its
// keyframes. Owned and used by one thread, which blocks; cancel() may be called from any thread. A run that
// goes on while it is replayed must be read again: make another Replay.
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

// What a replay may do, whatever the run's folder says.
struct ReplayLimits {
  // Somebody else has made the folder: it is replayed in the sandbox, and names nothing outside of itself.
  bool confined = false;
  bool sandbox = false;                          // in the sandbox in any case
  size_t memory = 0, disk = 0;                   // as of RunOptions
  double timeout = 0;                            // seconds of each call that runs steps, 0 = none
  std::map<std::string, std::string> stand_ins;  // as of RunOptions
};
ReplayLimits limits_of(const RunOptions&);  // for a replay of a run with these options

struct ReplayOptions {
  ReplayLimits limits;
  std::shared_ptr<KeyframeSource> keyframes;  // null: those in the run's folder
  int64_t steps = 0;                          // that a live run has ended, which its folder may not tell yet
  std::function<void(const std::string&)> warn;  // once for each fact
  std::function<void(int64_t step)> progress;    // on the session's thread
  EventSink events;                              // sees the session's events, on its thread
};

class Replay {
 public:
  // Error of kind file when the folder is no run's or the run cannot be repeated.
  explicit Replay(const std::string& folder, ReplayOptions = {});
  ~Replay();
  Replay(const Replay&) = delete;

  const RunRecord& run() const { return timeline_.record; }
  const Timeline& timeline() const { return timeline_; }
  // Of the run, so far. A fork's first step is the one after its parent's.
  int64_t first_step() const { return timeline_.record.parent_step + 1; }
  int64_t steps() const { return timeline_.steps; }
  // Stops paused at the end of `step`, with its tape, values, gradients and statistics in session():
  // tape(step), or tape() of a script without lg.run.steps. Error when the run has no such step, when the
  // script fails or ends before it, or after cancel().
  void go_to(int64_t step);
  // Runs through these steps, with `prepare` called before a session starts for it, and pauses at the end of
  // the last. A second call of `prepare` means that what came before is void.
  void run_through(int64_t first, int64_t last, const std::function<void(Session&)>& prepare);
  // The tape of `step` as the run's folder would keep it: a line of tape.jsonl. "" when the step has none.
  std::string recorded_tape(int64_t step);
  // The states at the end of `step`. Null when nothing is registered.
  KeyframePtr keyframe_at(int64_t step);
  // What differed from the run on the way, first: the script does something that is not determined by what a
  // run records, such as the time, files that changed, or threads.
  std::optional<Difference> difference() const;
  void require_same() const;                      // Error when something differed
  int64_t began_at() const { return began_at_; }  // the step after which the last session started
  Session& session() { return *session_; }
  void cancel();

 private:
  struct Start {
    KeyframePtr keyframe;  // null: the beginning of an era
    size_t era = 0;
    int64_t step = 0;
  };
  Start nearest(int64_t step) const;
  bool can_go_on_to(int64_t step) const;
  void check_steps(int64_t first, int64_t last) const;
  std::string cause() const;
  void start(const Start&, int64_t pause_at, const std::function<void(Session&)>& prepare);
  // Calls `make`, which goes from a start to where a caller wants to be; twice if the first start was wrong.
  void attempt(int64_t from, const std::function<void(const Start&)>& make);
  void handle(const Event&);
  void begin_time();
  void wait_for_pause(int64_t step);
  void tell(const std::string&);

  Timeline timeline_;
  ReplayOptions options_;
  bool keyframes_hold_all_ = true;
  bool repeats_itself_ = true;  // the script, from its first step on
  bool told_of_beginning_ = false;
  int64_t kept_step_ = -1;  // whose keyframe keyframe_at() wants
  int64_t tape_step_ = -1;  // whose tape recorded_tape() wants
  std::string tape_line_;   // written by the session's thread, read when it is paused
  int64_t began_at_ = 0;
  int64_t at_ = -1;  // the step at whose end the session is paused; -1: it is not
  std::chrono::steady_clock::time_point time_ends_;  // of the present call, when its time is limited

  // Shared with the session's thread, under mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Era> reloads_;             // to come, the next one last
  int64_t pause_at_ = 0, cross_to_ = 0;  // pauses there; follows reloads after steps up to there
  int pauses_ = 0, waited_ = 0;
  bool ended_ = false, cancelled_ = false;
  std::string error_;
  int64_t reached_ = 0;

  std::shared_ptr<ReplayCheck> check_;
  std::unique_ptr<Session> session_;  // last: its thread uses the others
};

}  // namespace lunagrad
