#pragma once
// Controls the session's thread: the requests that other threads made (run, reload, pause, stop, interrupt,
// tasks), what the thread is doing, and what it has to do next. It runs no script itself.
//
// Threads: requests come from any thread; they set fields under the mutex and raise `attention`, one atomic
// flag that the session's thread reads at each safe point. All other functions are for the session's thread.
// Lock: one mutex guards every member that is not atomic. No function calls out while it holds it.
// `running_`, `task_running_` and `writing_` are written by the session's thread alone, which therefore reads
// them without the lock.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "script/run/run.h"
#include "script/session/pausing.h"

namespace lunagrad {

class RunControl {
 public:
  // `stop_requested`: the flag of the session's Context, which kernels and parallel loops look at.
  explicit RunControl(std::atomic<bool>& stop_requested) : stop_requested_(stop_requested) {}
  RunControl(const RunControl&) = delete;

  // ---- Any thread; see session.h.
  void start(Script);
  void post(std::function<void()> task);
  struct Reload {
    std::optional<std::string> source;  // empty: read the files again
    std::optional<Modules> modules;     // used in place of the files of these modules
  };
  void reload(Reload);
  void pause();
  void let_step_end();  // after pause(): a viewer asked for it
  void go_on(StepTo);
  void stop();
  void interrupt();
  void close();    // ends the session's thread
  Outcome wait();  // until nothing runs or waits to run
  SessionState state() const { return state_.load(); }
  // Seconds since a running script was asked for something or last reached a safe point; nothing while no
  // request waits for it.
  std::optional<double> waited() const;
  bool ending() const;   // a stop, or the end of the session, waits for a paused or running script
  bool resumed() const;  // a paused script is to go on as soon as the task that runs has ended
  // The viewers of ops, or what they look for, changed: Viewers::listen() has to run at the next safe point.
  void viewers_changed();

  // ---- The session's thread, between scripts.
  enum class Work { close, task, script };
  // Waits for work. Of kind script: `script` is what start() gave, or empty for a reload.
  Work await_work(std::optional<Script>& script);
  void drop_tasks();
  void scripts_ended();  // nothing runs from here on
  std::optional<Reload> take_reload();
  std::optional<Script> take_successor();

  // ---- The session's thread, around a task, which runs between scripts or at a safe point of one.
  std::function<void()> begin_task();  // the oldest that was posted
  void begin_own_task();               // one of the session itself
  void end_task();
  bool task_running() const { return task_running_; }
  // Around the checkpoint that a script asked for, at the end of a step: its ops are none of the script's,
  // and requests wait until it is written. A stop at once does not.
  void begin_checkpoint() { writing_ = true; }
  void end_checkpoint() { writing_ = false; }
  bool at_own_work() const { return task_running_ || writing_; }

  // ---- The session's thread, while a script runs.
  bool running() const { return running_; }
  bool attention() const { return attention_.load(std::memory_order_relaxed); }
  bool take_viewers_changed();
  void pause_at_once();     // for a breakpoint that was met
  void interrupt_script();  // os.exit in a task ends the script, too
  void set_in_steps(bool on) { in_steps_.store(on); }
  bool in_steps() const { return in_steps_.load(); }
  bool pause_is_near() const;
  void set_successor(std::optional<Script>);
  // The last checkpoint is being written: it is neither paused nor reloaded; a second stop ends it.
  void begin_last_checkpoint();
  void script_ended(Outcome);
  Outcome outcome() const { return outcome_; }  // of the latest script
  bool set_state(SessionState state) { return state_.exchange(state) != state; }

  // What a safe point knows about the script.
  struct Place {
    SafePlace place = SafePlace::midst;
    bool in_loop = false;         // of lg.run.steps
    bool may_be_replaced = true;  // a successor may take over here
    bool whole_step = false;      // all values of the step are captured
  };
  enum class Next {
    unwind,           // end the script
    last_checkpoint,  // write a checkpoint, then end the script
    back_to_task,     // a task runs: requests wait for its end
    task,             // run the task from begin_task()
    read_reload,      // read the changed script from take_reload()
    hand_over,        // end the script for its successor
    pause,            // announce the pause, then wait_while_paused()
    go_on
  };
  struct Step {
    Next next;
    bool to_line = false;   // go_on: a single step to another line is under way
    bool stopping = false;  // go_on: a stop waits for the end of the step
  };
  void reached(SafePlace);  // first
  Step next(const Place&);  // then, until it says go_on
  void wait_while_paused();

 private:
  bool wants_unwinding(const Place&) const;
  bool awaited() const;  // a request waits for a script that runs
  void begin_to_wait();  // called before a request is set
  // A stop of what has not begun. A started script still begins, so that its end is told, and runs no line.
  void stop_what_waits();
  void forget_reloads();
  void raise_attention() { attention_.store(true); }

  std::atomic<bool>& stop_requested_;
  std::atomic<bool> attention_{false};  // the next safe point has something to do
  std::atomic<bool> in_steps_{false};   // a stop waits for the step's end; otherwise it reaches into an op
  std::atomic<SessionState> state_{SessionState::idle};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Script> next_;       // waits to run
  bool next_stopped_ = false;        // it runs no line
  std::optional<Reload> reload_;     // asked for, not read yet
  std::optional<Script> successor_;  // read and compiled, waits for the end of the step
  std::deque<std::function<void()>> tasks_;
  Pausing pausing_;
  bool has_run_ = false;  // there is a script to be reloaded
  bool closing_ = false;
  bool stop_ = false;
  bool interrupt_ = false;
  bool interrupt_task_ = false;
  bool viewers_changed_ = false;
  bool running_ = false;  // a script runs; tasks do not count
  bool task_running_ = false;
  bool writing_ = false;  // a checkpoint, in the script
  Pausing::Clock::time_point stop_since_;
  Pausing::Clock::time_point awaited_since_;  // the oldest waiting request, or the last safe point
  Outcome outcome_ = Outcome::ok;
};

}  // namespace lunagrad
