#pragma once
// The part of a Session that controls runs: starts, pauses, steps, stops and reloads them, tells their state,
// and has the parameters of the script. session.h says what a safe point is.
//
// Threads: every function may be called from any thread and, except wait(), wait_for() and
// step_and_wait(), returns at once. Ownership: results are copies. The functions do not throw, except that
// these three are an Error on the session's thread (in a callback, or a function of the host), for which they
// would wait.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "script/view/run.h"

namespace lunagrad {

// How long a script has reached no safe point although a request waits, and the function of Lua's own library
// that it is calling.
struct Silence {
  double seconds = 0;
  std::string call;   // "os.execute"; "" when none is known
  SourcePlace place;  // of the call
};

// How step_and_wait() ended. paused: the run paused inside the step, for example at a breakpoint. ended: the
// run has ended, or there is none. timed_out: the step goes on, and the run will pause at its end.
enum class StepEnd { stepped, paused, ended, timed_out };

class SessionThread;

class SessionControl {
 public:
  SessionControl(const SessionControl&) = delete;

  // Each starts a run in a fresh Lua state. A running script is stopped first. A run that has not begun is
  // replaced and sends no events. A stop before the first line also ends the run, with its event of kind
  // ended.
  void run_file(const std::string& path, RunOptions = {});
  void run_text(const std::string& code, const std::string& chunk_name, RunOptions = {});

  // At the next safe point. Before a run: the next run pauses before its first line, as a run does that has
  // not begun. resume() and stop() take this back.
  void pause();
  void resume();
  // When paused: run to the next step boundary. When the current step was not captured from its start, step()
  // runs the rest of that step and one whole step, because only a whole step has all its values.
  void step();
  // Does step(), also for a run that has not begun or is running, and waits for the end of the step: then the
  // run is paused, and SessionHost::get() has the values of this step. The first step of a run includes what
  // the script does before it. Waits at most so many seconds.
  StepEnd step_and_wait(double seconds = std::numeric_limits<double>::infinity());
  void step_op();  // when paused: run to the end of the next op, or backward pass, that the script calls
  // When paused: run to the start of the next line of the script, or of a module outside the bundled library.
  // Steps into functions of these files. Coroutines that started earlier are not followed.
  void step_line();
  void stop();  // like the first Ctrl-C: ends the run at the next step boundary, or after 10 s without one
  void interrupt();   // like the second Ctrl-C: a Lua error now, also inside a kernel
  void checkpoint();  // writes a checkpoint at the end of the step, and the run goes on; nothing when idle
  Outcome wait();     // blocks until idle; returns how the last run ended
  std::optional<Outcome> wait_for(double seconds);  // waits at most so long; empty: it is not idle
  // Set while a pause, stop, interrupt or new run waits for a script that reaches no safe point.
  std::optional<Silence> silence() const;
  // At the end of the step, replaces the running script by the changed script: its file read again, or
  // `source`. The new script starts at line 1 in a fresh Lua state. The values registered with lg.run.state,
  // the step number, the random number generator, edited parameters and the run folder are kept; an event of
  // kind reload lists them. A paused script is paused again before its next step. A script that does not
  // compile is an error event and changes nothing. When idle: a run that ended well starts from its first
  // step; a run that failed or was stopped continues with the state of its last step, if there is one. When
  // the new script fails before it ends a step, the state handed to it is kept for the next reload. `modules`
  // are used in place of the files of these modules.
  void reload(std::optional<std::string> source = {}, std::optional<Modules> modules = {});
  // The files that a reload reads: the script, and the modules that it required from outside the bundled
  // library.
  std::vector<std::string> files() const;
  SessionState state() const;

  // The parameters that the script has declared so far, in order of declaration.
  std::vector<ParamInfo> params() const;
  // Sets a parameter from the next step boundary on and records the change in the run folder. Returns false,
  // with the reason in `why`, if no parameter has that name, if the value does not fit its type, range or
  // choices, or while a run with several ranks is under way. If the script does not read the parameter in the
  // next two steps, a warning event says so.
  bool set_param(const std::string& name, const std::string& value, std::string* why = nullptr);

 protected:
  explicit SessionControl(SessionThread& thread) : thread_(thread) {}
  ~SessionControl() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
