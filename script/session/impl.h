#pragma once
// The inside of a Session: a thread, a queue of requests and the script that the thread runs. Requests only
// set fields under the lock; the thread looks at them at its safe points, where an atomic flag tells in one
// load whether there is anything to look at.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <lua.hpp>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/context.h"
#include "runtime/op.h"
#include "script/inspect/batch_watch.h"
#include "script/inspect/breakpoint_watch.h"
#include "script/inspect/captures.h"
#include "script/inspect/statistics_watch.h"
#include "script/inspect/tape_watch.h"
#include "script/lua/kept.h"
#include "script/lua/native_calls.h"
#include "script/lua/state.h"
#include "script/profile/watch.h"
#include "script/run/run.h"
#include "script/session.h"

namespace lunagrad {

class Session::Impl {
  struct Reload {
    std::optional<std::string> source;
  };
  // What the script before handed over. Its step is the number of the last that ended.
  struct HandedOver {
    int64_t step;
    Kept states;
  };

 public:
  explicit Impl(EventSink sink);
  ~Impl();
  Impl(const Impl&) = delete;

  // Any thread.
  void start(Script);
  void post(std::function<void()> task);  // at the next safe point, or at once when idle
  void pause();
  void pause_for_viewer();
  // What ends the step that goes on: nothing, an op, another line, the end of the step of lg.run.steps.
  enum class StepTo { nothing, op, line, step_end };
  void go_on(StepTo);
  void stop();
  void interrupt();
  Outcome wait();
  std::optional<Silence> silence() const;
  void reload(std::optional<std::string> source);
  std::vector<std::string> files() const;
  SessionState state() const { return state_.load(); }
  std::vector<ParamInfo> params() const;
  bool set_param(const std::string& name, const std::string& value, std::string* why);
  TapeWatch& tape_watch() { return tape_watch_; }
  StatisticsWatch& statistics() { return statistics_; }
  BreakpointWatch& breakpoints() { return breakpoints_; }
  ProfileWatch& profile_watch() { return profile_; }
  BatchWatch& batch_watch() { return batch_; }
  Device* device() const { return device_.load(); }

  // The session's thread.
  static Impl& of(lua_State*);
  Run& run() { return *run_; }  // there is one for as long as there is a Lua state
  void emit(Event);
  // Where the script stands when it looks up: in its midst, behind an op, before a line, or at the end of a
  // step, where a stop takes effect.
  enum class Place { midst, op, line, step_end };
  // Looks up from the work: carries out requests, waits while paused, raises a Lua error to end the script.
  // Without a Lua state (amid backward) that is an Error of kind cancelled.
  void safe_point(lua_State*, Place);
  void look_up(lua_State* L, Place place) {
    if (unwinding_ || attention_.load(std::memory_order_relaxed)) safe_point(L, place);
  }
  const Kept* states() const {
    return handed_ ? &handed_->states : nullptr;
  }                             // what a reload handed to the script
  void begin_step();            // decides who sees each op and each backward pass of the coming step
  void ask_guard(Guard);        // lg.run.assert_finite
  void pause_here(lua_State*);  // lg.run.breakpoint
  void usage_failed() { usage_failed_ = true; }
  [[noreturn]] void exit(lua_State*, int code);  // os.exit: unwinds the script
  bool unwinding() const { return unwinding_; }

 private:
  // Kernels of a device other than the CPU that are missing there, and every op while values are kept.
  class Listener final : public Trace {
   public:
    explicit Listener(Impl& owner) : owner_(owner) {}
    void ran(const Call&, uint64_t ticks) override;
    void fell_back(const Call&, const char* reason) override;
    void waited(uint64_t ticks) override;
    void forget() { told_.clear(); }

   private:
    Impl& owner_;
    std::set<const Op*> told_;
  };

  static void hook(lua_State*, lua_Debug*);
  void serve();  // the thread
  void run_task(std::unique_lock<std::mutex>&);
  std::optional<Script> run_script(Script);  // its successor, when it was reloaded
  Outcome call_script(const Script&, ScriptError&);
  void end(Outcome, const ScriptError&);
  void open_state(const std::string& directory, const RunOptions&);
  void close_state();
  void set_run(const Script&);
  bool wants_unwinding(Place);  // under the lock
  bool may_pause(Place) const;  // under the lock
  bool awaited() const;         // under the lock: the script should look up
  void begin_to_wait();         // under the lock, before a request
  void capture_rest();
  void checkpoint_before_stop(lua_State*);
  [[noreturn]] void unwind(lua_State*);
  bool reaches(Place) const;  // under the lock: what the step that goes on ends at
  void watch_lines(lua_State*);
  static constexpr int kHookCount = 1000;  // instructions between looks
  void arm_hook(lua_State*, int count = kHookCount, bool lines = false);
  void set_state(SessionState, SourcePlace = {});

  // session_watch.cpp
  BreakpointWatch::Owner breakpoint_owner();
  bool take_over_breakpoints();  // false: they are as they were
  void listen();
  void announce(Finding);

  // reload.cpp
  std::optional<Script> read_successor(const Reload&);
  bool begin_reload(lua_State*, Place, std::unique_lock<std::mutex>&);
  std::optional<Script> successor_when_idle();
  std::optional<HandedOver> take_states(const std::string& checkpoint);
  std::string take_after_failure();
  void start_anew(Script&, const std::string& why);
  void warn(std::string message);

 public:
  // evaluate.cpp
  lua_State* state_for_tasks();  // made when there is none
  void evaluate(const std::string& code, const std::function<void(bool)>& done);
  void complete(const std::string& line, const std::function<void(std::vector<std::string>)>& done);
  void bind_console(const char* name, const Tensor&);  // a name that console lines see

 private:
  const EventSink sink_;
  TapeWatch tape_watch_;
  StatisticsWatch statistics_;
  BreakpointWatch breakpoints_;
  Captures captures_;
  Guard asked_guard_ = Guard::off;  // by the command line or the script
  ProfileWatch profile_;
  BatchWatch batch_;

  // Shared; under mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Script> next_;
  std::optional<Reload> reload_;     // asked for, not looked at yet
  std::optional<Script> successor_;  // read and compiled, waits for the end of the step
  std::vector<std::string> files_;   // of the script that runs
  std::deque<std::function<void()>> tasks_;
  bool has_run_ = false;  // there is a script to be reloaded
  bool closing_ = false;
  bool pause_ = false;
  std::optional<std::chrono::steady_clock::time_point>
      pause_asked_;          // by a viewer, who would like to see a whole step
  bool amid_step_ = false;   // it was granted amid a step whose values were not all captured
  bool rest_first_ = false;  // step_to_ is for the step behind the end of that one
  StepTo step_to_ = StepTo::nothing;
  bool stop_ = false;
  bool interrupt_ = false;
  bool breakpoints_changed_ = false;
  bool running_ = false;  // a script runs; tasks do not count
  bool task_running_ = false;
  bool interrupt_task_ = false;
  std::chrono::steady_clock::time_point stop_since_;
  std::chrono::steady_clock::time_point
      awaited_since_;  // the first of the requests that wait, or the last look at them
  Outcome outcome_ = Outcome::ok;
  std::shared_ptr<Run> run_;  // of the latest script; set by the thread, params are read by any

  NativeCalls native_calls_;
  std::atomic<bool> attention_{false};  // a safe point has something to do
  std::atomic<bool> in_steps_{false};   // a stop waits for the step's end; otherwise it reaches into an op
  std::atomic<SessionState> state_{SessionState::idle};
  std::atomic<Device*> device_{&cpu_device()};

  // The session's thread alone.
  Context context_;
  Listener listener_;
  lua_State* lua_ = nullptr;
  Script script_;                     // the latest
  std::optional<HandedOver> handed_;  // until the script that took it over has ended a step
  bool reloading_ = false;            // the script ends for its successor
  std::function<void()> after_task_;  // told when an interrupt is no longer the task's
  bool lines_watched_ = false;        // a step goes on to another line than this:
  SourceLine left_line_;
  bool unwinding_ = false;        // the script is being ended: every instruction raises
  bool usage_failed_ = false;     // lg.run refused what the command line asked for
  std::optional<int> exit_code_;  // what os.exit was given
  std::thread thread_;
};

}  // namespace lunagrad
