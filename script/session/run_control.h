#pragma once
// Controls the session's thread: the requests of other threads (run, reload, pause, stop, interrupt, tasks),
// what the thread is doing, and what it has to do next. It runs no script itself.
//
// Threads: requests come from any thread. They set fields under the mutex and raise `attention`, one atomic
// flag that the session's thread reads at each safe point. All other functions are for the session's thread.
// Lock: one mutex guards every member that is not atomic. No function calls out while it holds the mutex.
// Only the session's thread writes `running_`, `task_running_` and `writing_`, so it reads them without the
// lock.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "script/run/run.h"
#include "script/session/pausing.h"
#include "script/session_control.h"

namespace lunagrad {

class RunControl {
 public:
  // `stop_requested`: the flag of the session's Context, which kernels and parallel loops check.
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
  void let_step_end();  // after pause(): tells that a viewer requested it
  void go_on(StepTo);
  void stop();
  void interrupt();
  void close();                // ends the session's thread
  double closing_for() const;  // seconds since close(), or since the latest safe point after it
  Outcome wait();              // waits until nothing runs or is queued to run
  std::optional<Outcome> wait_for(double seconds);
  StepEnd step_and_wait(double seconds);
  SessionState state() const { return state_.load(); }
  // Seconds since the oldest waiting request of a running script, or since its last safe point; empty while
  // no request waits.
  std::optional<double> waited() const;
  bool ending() const;   // a stop or the end of the session waits for a paused or running script
  bool resumed() const;  // a paused script will go on as soon as the running task has ended
  // Called when the viewers of ops, or what they look for, changed: Viewers::listen() must run at the next
  // safe point.
  void viewers_changed();

  // ---- The session's thread, between scripts.
  enum class Work { close, task, script };
  // Waits for work. For Work::script, `script` is the script that start() got, or empty for a reload.
  Work await_work(std::optional<Script>& script);
  void drop_tasks();
  void scripts_ended();  // from here on nothing runs
  std::optional<Reload> take_reload();
  std::optional<Script> take_successor();

  // ---- The session's thread, around a task, which runs between scripts or at a safe point of one.
  std::function<void()> begin_task();  // returns the oldest posted task
  void begin_own_task();               // for a task of the session itself
  void end_task();
  bool task_running() const { return task_running_; }
  // Around the writing of a checkpoint that a script requested, at the end of a step. Its ops are not the
  // script's, and requests wait until it is written, except an immediate stop.
  void begin_checkpoint() { writing_ = true; }
  void end_checkpoint() { writing_ = false; }
  bool at_own_work() const { return task_running_ || writing_; }

  // ---- The session's thread, while a script runs.
  bool running() const { return running_; }
  // Until this is called, no pause begins and no single step ends. Returns whether the script has to pause
  // before its first line.
  bool begin_first_line();
  bool attention() const { return attention_.load(std::memory_order_relaxed); }
  bool take_viewers_changed();
  void pause_at_once();     // for a breakpoint
  void interrupt_script();  // os.exit in a task ends the script too
  void set_in_steps(bool on) { in_steps_.store(on); }
  bool in_steps() const { return in_steps_.load(); }
  bool pause_is_near() const;
  void set_successor(std::optional<Script>);
  // Called before the last checkpoint is written: it is neither paused nor reloaded; a second stop ends it.
  void begin_last_checkpoint();
  void script_ended(Outcome);
  Outcome outcome() const { return outcome_; }  // of the latest script
  bool set_state(SessionState);                 // returns whether it is another state

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
    back_to_task,     // a task runs: requests wait until it ends
    task,             // run the task from begin_task()
    read_reload,      // read the changed script from take_reload()
    hand_over,        // end the script for its successor
    pause,            // announce the pause, then wait_while_paused()
    go_on
  };
  struct Step {
    Next next;
    StepTo single = StepTo::nothing;  // go_on: the single step in progress; pause: the step that has ended
    bool stopping = false;            // go_on: a stop waits for the end of the step
  };
  void reached(SafePlace);  // call first
  Step next(const Place&);  // then call until it returns go_on
  void wait_while_paused();

 private:
  bool wants_unwinding(const Place&) const;
  // Waits until over() is true, at most so many seconds; returns over().
  template <class Over>
  bool wait_until(std::unique_lock<std::mutex>& lock, double seconds, const Over& over);
  bool awaited() const;  // whether a request waits for a running script
  bool idle() const { return !running_ && !next_ && !reload_ && !successor_; }
  void ask_to_go_on(StepTo);
  void begin_to_wait();  // call before setting a request
  // Stops a script that has not begun. It still begins, so that its end is reported, but runs no line.
  void stop_what_waits();
  void forget_reloads();
  void raise_attention() { attention_.store(true); }

  std::atomic<bool>& stop_requested_;
  std::atomic<bool> attention_{false};  // the next safe point has something to do
  std::atomic<bool> in_steps_{false};   // a stop waits for the end of the step; otherwise it interrupts ops
  std::atomic<SessionState> state_{SessionState::idle};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Script> next_;       // the next script to run
  bool next_stopped_ = false;        // next_ was stopped: it runs no line
  std::optional<Reload> reload_;     // requested, not read yet
  std::optional<Script> successor_;  // read and compiled, waits for the end of the step
  std::deque<std::function<void()>> tasks_;
  size_t tasks_due_ = 0;  // run at this safe point; tasks posted meanwhile wait for the next one
  Pausing pausing_;
  // What the next script does at its start, asked for before it began: pauses, or makes a single step.
  bool pause_first_ = false;
  StepTo step_first_ = StepTo::nothing;
  bool loading_ = false;           // the script has not reached its first line
  uint64_t pauses_ = 0;            // that have begun
  bool pause_ended_step_ = false;  // the latest of them: a single step to the end of a step became the pause
  bool has_run_ = false;           // a script exists that can be reloaded
  bool closing_ = false;
  bool stop_ = false;
  bool interrupt_ = false;
  bool interrupt_task_ = false;
  bool viewers_changed_ = false;
  bool running_ = false;  // a script runs; tasks do not count
  bool task_running_ = false;
  bool writing_ = false;       // a checkpoint is being written, inside the script
  bool checkpointed_ = false;  // the last checkpoint has begun: the script ends after it
  Pausing::Clock::time_point stop_since_;
  Pausing::Clock::time_point awaited_since_;  // the oldest waiting request, or the last safe point
  Outcome outcome_ = Outcome::ok;
};

}  // namespace lunagrad
