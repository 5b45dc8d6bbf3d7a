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
#include "script/run.h"
#include "script/session.h"
#include "script/snapshot.h"
#include "script/state.h"

namespace lunagrad {

class Session::Impl {
 public:
  explicit Impl(EventSink sink);
  ~Impl();
  Impl(const Impl&) = delete;

  // Any thread.
  void start(Script);
  void post(std::function<void()> task);  // at the next safe point, or at once when idle
  void pause();
  void resume();
  void step();
  void stop();
  void interrupt();
  Outcome wait();
  SessionState state() const { return state_.load(); }
  std::vector<ParamInfo> params() const;
  bool set_param(const std::string& name, const std::string& value);
  TapeWatch& tape_watch() { return tape_watch_; }
  Device* device() const { return device_.load(); }

  // The session's thread.
  static Impl& of(lua_State*);
  Run& run() { return *run_; }  // there is one for as long as there is a Lua state
  void emit(Event);
  // Looks up from the work: carries out requests, waits while paused, raises a Lua error to end the script.
  // Without a Lua state (amid backward) that is an Error of kind cancelled. May be a step's end: there a stop
  // takes effect.
  void safe_point(lua_State*, bool step_end);
  void after_op(lua_State*);
  void begin_step();            // decides who sees each op and each backward pass of the coming step
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
    void forget() { told_.clear(); }

   private:
    Impl& owner_;
    std::set<const Op*> told_;
  };

  static void count_hook(lua_State*, lua_Debug*);
  void serve();  // the thread
  void run_task(std::unique_lock<std::mutex>&);
  void run_script(Script);
  Outcome call_script(const Script&, ScriptError&);
  void end(Outcome, const ScriptError&);
  void open_state(const std::string& directory, const RunOptions&);
  void close_state();
  void set_run(const Script&);
  bool wants_unwinding(bool step_end);  // under the lock
  void checkpoint_before_stop(lua_State*);
  [[noreturn]] void unwind(lua_State*);
  void arm_hook(lua_State*, int count);
  void set_state(SessionState);

 public:
  // evaluate.cpp
  lua_State* state_for_tasks();  // made when there is none
  void evaluate(const std::string& code, const std::function<void(bool)>& done);
  void complete(const std::string& line, const std::function<void(std::vector<std::string>)>& done);

 private:
  const EventSink sink_;
  TapeWatch tape_watch_;

  // Shared; under mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Script> next_;
  std::deque<std::function<void()>> tasks_;
  bool closing_ = false;
  bool pause_ = false;
  bool step_ = false;
  bool stop_ = false;
  bool interrupt_ = false;
  bool running_ = false;  // a script runs; tasks do not count
  bool task_running_ = false;
  bool interrupt_task_ = false;
  std::chrono::steady_clock::time_point stop_since_;
  Outcome outcome_ = Outcome::ok;
  std::shared_ptr<Run> run_;  // of the latest script; set by the thread, params are read by any

  std::atomic<bool> attention_{false};  // a safe point has something to do
  std::atomic<SessionState> state_{SessionState::idle};
  std::atomic<Device*> device_{&cpu_device()};

  // The session's thread alone.
  Context context_;
  Listener listener_;
  lua_State* lua_ = nullptr;
  bool unwinding_ = false;        // the script is being ended: every instruction raises
  bool usage_failed_ = false;     // lg.run refused what the command line asked for
  std::optional<int> exit_code_;  // what os.exit was given
  std::thread thread_;
};

}  // namespace lunagrad
