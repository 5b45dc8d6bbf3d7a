#pragma once
// The inside of a Session: a thread that runs scripts and tasks, and the parts that it works with. Each part
// owns one thing and states its threads and its lock in its header:
//   RunControl       the requests of other threads, and what the session's thread does next
//   CurrentRun       the latest run: its script, parameters, files and device
//   Events           sends events to the sink
//   Globals          the functions of a Lua state that the session replaces or adds
//   ScriptState      the Lua state, its hooks, and how a script is ended from outside
//   BreakpointPauses the breakpoints, and how a run pauses for one
//   Viewers          which viewers see the ops and backward passes of a step
//   HostCalls        calls the program's own code
//   HostValues       the tensors, functions and ops that the program around the session shares with it
//   Handover         what a reload passes to the next script
//   Reloads          replaces the running script by the changed script
//   KeyframeTaker    the states after steps, from which replays and forks continue
//   ProbeWatch       the probes, which read values of the script
//   TypedLines       the places in a run at which console lines are evaluated
//   Tasks            code that runs between scripts and at safe points
// SessionThread itself has no lock: it connects the parts on the session's thread.
#include <chrono>
#include <condition_variable>
#include <limits>
#include <lua.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/core/context.h"
#include "runtime/io/temporary_folder.h"
#include "script/host/host_calls.h"
#include "script/host/host_values.h"
#include "script/session/breakpoint_pauses.h"
#include "script/session/current_run.h"
#include "script/session/events.h"
#include "script/session/globals.h"
#include "script/session/handover.h"
#include "script/session/reloads.h"
#include "script/session/run_control.h"
#include "script/session/script_state.h"
#include "script/session/tasks.h"
#include "script/session/typed_lines.h"
#include "script/session/viewers.h"
#include "script/session_control.h"
#include "script/time/probe_watch.h"
#include "script/time/taking.h"

namespace lunagrad {

class SessionThread {
 public:
  SessionThread(EventSink sink, SessionOptions);
  ~SessionThread();
  SessionThread(const SessionThread&) = delete;
  // Ends the script and the thread, and waits for the end. It does not wait on the session's own thread, nor
  // for a function of Lua's library that has kept the script from safe points for ten seconds: then the
  // thread calls no more of the program's code and deletes the SessionThread when it ends. It does not wait
  // for more than so many seconds either. Returns whether the thread has ended.
  static bool end(std::unique_ptr<SessionThread>, double seconds = std::numeric_limits<double>::infinity());

  // Any thread, for the functions of these parts that allow it.
  RunControl& control() { return control_; }
  CurrentRun& current_run() { return run_; }
  Viewers& viewers() { return viewers_; }
  HostCalls& calls() { return calls_; }
  HostValues& host() { return host_; }  // some functions are for the session's thread only
  BreakpointWatch& breakpoints() { return breakpoints_.watch(); }
  ProbeWatch& probes() { return probes_; }
  void pause_for_viewer();
  std::optional<Silence> silence() const;
  // Error on the session's thread, which would wait for itself.
  void require_other_thread(const char* function) const;

  // The session's thread, for the bindings.
  static SessionThread& of(lua_State*);
  Run& run() { return *run_; }  // exists as long as there is a Lua state
  void emit(Event);
  // A warning with the script's line; each message is given once per run.
  void warn_once(lua_State*, const char* message);
  // Carries out requests, waits while paused, raises a Lua error to end the script. Without a Lua state
  // (inside backward) it throws an Error of kind cancelled instead.
  void safe_point(lua_State*, SafePlace);
  void probe_step(lua_State*);  // reads the probes at ends of steps
  // Repeats the console lines of an earlier run that were evaluated at this place.
  void repeat_console(lua_State*, SafePlace);
  // Called at the end of a step, before its safe point: keeps the states, and looks for NaN, growth and
  // leaks.
  void end_step(lua_State*);
  void begin_step();            // decides which viewers see the ops and backward passes of the coming step
  void pause_here(lua_State*);  // lg.run.breakpoint, in an interactive run
  void usage_failed() { script_.set_usage_failed(); }
  const Kept* states() const { return handover_.states(); }  // the states that a reload passed to the script

  // The session's thread, in a task.
  // Without `done_with` results and errors are events.
  void evaluate(const std::string& code, const std::function<void(bool)>& done,
                const std::function<void(bool, std::string)>& done_with = {});
  void find_leaks();  // does nothing without a Lua state
  void complete(const std::string& line, const std::function<void(std::vector<std::string>)>& done);

 private:
  static void hook(lua_State*, lua_Debug*);
  void probe_line(lua_State*, lua_Debug*);
  void look_up(lua_State* L, SafePlace place) {
    if (place == SafePlace::op) {
      if (!control_.at_own_work()) typed_lines_.count_op();
      if (typed_lines_.may_be_due_at_op()) repeat_console(L, place);
    }
    if (script_.unwinding() || control_.attention()) safe_point(L, place);
  }
  [[noreturn]] void unwind(lua_State* L) { script_.unwind(L, control_.task_running()); }
  RunControl::Place place_of(lua_State*, SafePlace);
  void wait_while_paused(lua_State*, StepTo ended);
  // Where the run pauses: at `found_`, at the op of a single step, or at the line that the script has
  // reached.
  PausePosition pause_position(lua_State*, StepTo ended);
  PausePosition failure_position(const ScriptError&, const SourcePlace&, const std::string& message);
  void find_failed_node(PausePosition&, const std::string& message);
  void set_state(SessionState, PausePtr = nullptr);

  void begin();  // starts the thread, which serves
  void serve();  // the session's thread
  // Serves until the session ends, or until a script must run on another thread: then returns true and sets
  // `next` to that script. Runs `next` first. `limited`: the kernel limits this thread.
  bool serve_on_thread(std::optional<Script>& next, bool limited);
  static bool needs_thread(const RunOptions& options) { return options.sandbox && !options.guarded; }
  void limit_thread(Script&);
  void open_limited_folder();
  std::optional<Script> run_script(Script);  // returns the successor, if the script was reloaded
  void read_for_viewers();
  void end_script(Outcome, const ScriptError&);
  void open_state(const std::string& directory, const RunOptions&);
  void close_state();
  lua_State* state_for_tasks();  // makes a state when there is none
  void begin_run(const Script&);
  void begin_at(const Keyframe&, bool changed);

  Context context_;
  HostCalls calls_;
  RunControl control_;
  CurrentRun run_;
  Events events_;
  ScriptState script_;
  BreakpointPauses breakpoints_;
  Viewers viewers_;
  Handover handover_;
  HostValues host_;
  Tasks tasks_;
  Reloads reloads_;
  Globals globals_;
  TypedLines typed_lines_;
  std::chrono::steady_clock::time_point next_checkpoint_;  // of automatic checkpoints
  KeyframeTaker keyframes_;
  ProbeWatch probes_;
  std::set<const char*> warned_;          // messages that warn_once has given
  std::optional<PausePosition> found_;    // of a breakpoint that was met; the pause for it is near
  bool shows_op_ = false;                 // the tape of the present pause shows the op
  bool run_goes_on_ = false;              // the run began with what an earlier script handed over
  bool began_step_ = false;               // a step of lg.run.steps is under way, or was the latest
  bool holds_ = false;                    // this rank is paused and the other ranks wait for it
  std::optional<TemporaryFolder> aside_;  // of a sandboxed script, whose limits include the folder
  std::mutex ending_;                     // guards finished_ and left_
  std::condition_variable finishes_;
  bool finished_ = false;  // the thread uses this object no more
  bool left_ = false;      // nobody waits for the thread: it deletes this object
  std::thread thread_;
};

}  // namespace lunagrad
