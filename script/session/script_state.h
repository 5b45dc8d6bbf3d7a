#pragma once
// The Lua state of a session: opening and closing it, running a script's text in it, its hooks, and how the
// script is ended from outside. For the session's thread; it has no lock.
#include <lua.hpp>
#include <optional>
#include <string>

#include "runtime/core/context.h"
#include "script/lua/binding_state.h"
#include "script/lua/native_calls.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"
#include "script/run/run.h"
#include "script/session/current_run.h"

namespace lunagrad {

class ScriptState {
 public:
  // `hook` is the hook that arm() sets.
  ScriptState(const Context& context, lua_Hook hook) : context_(context), hook_(hook) {}
  ScriptState(const ScriptState&) = delete;

  // Opens a state whose ops call `safe_point(L, owner)` at their end. `run` must outlive the state.
  void open(const std::string& directory, const RunOptions&, CurrentRun& run, SafePoint, void* owner);
  void close();
  lua_State* lua() const { return lua_; }  // null while no state is open
  // load() compiles the script's text and leaves its function at the top of the stack; call() runs that
  // function. Both return how it ended, and set the error if it failed.
  Outcome load(const Script&, ScriptError&);
  Outcome call(const Script&, ScriptError&);

  // ---- Hooks: a count hook every 1000 instructions, and a line hook while a single step to a line is under
  // way.
  void arm(lua_State*);
  // Keeps the line hook set, for probes at lines. Takes effect at the next arm().
  void probe_lines(bool on) { lines_probed_ = on; }
  bool lines_probed() const { return lines_probed_; }
  bool lines_watched() const { return lines_watched_; }
  void watch_lines(lua_State*);  // sets the line to leave; null inside a backward pass
  void forget_lines() { lines_watched_ = false; }
  // Called in a line hook: whether the script or its modules reached another line than the one to leave.
  bool at_new_line(lua_State*, lua_Debug*) const;

  // ---- Ending the script from outside: from unwind() on, every instruction raises, in every coroutine, so
  // that no pcall can go on.
  [[noreturn]] void unwind(lua_State*, bool task_running);
  bool unwinding() const { return unwinding_; }
  void stop_unwinding() { unwinding_ = false; }
  // What the script said about its end: os.exit's code, and that lg.run refused a --set or --steps.
  void begin_script();
  void set_exit_code(int code) { exit_code_ = code; }
  std::optional<int> exit_code() const { return exit_code_; }
  std::optional<int> take_exit_code() { return std::exchange(exit_code_, std::nullopt); }
  void set_usage_failed() { usage_failed_ = true; }

 private:
  void set_hook(lua_State*, int count, bool lines);

  const Context& context_;
  const lua_Hook hook_;
  lua_State* lua_ = nullptr;
  bool lines_watched_ = false, lines_probed_ = false;
  SourceLine left_line_;  // while lines are watched
  bool unwinding_ = false;
  bool usage_failed_ = false;
  std::optional<int> exit_code_;
};

// The outcome of a script that failed with an engine Error of this kind.
Outcome outcome_of(ErrorKind);

}  // namespace lunagrad
