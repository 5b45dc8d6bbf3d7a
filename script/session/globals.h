#pragma once
// Replaces functions of Lua's standard library: print, io.write and the standard streams send events, os.exit
// ends the script, os.setlocale leaves the numbers alone, xpcall cannot catch a stop, and functions that may
// wait record their name. Also adds lg.run and lg.host. Must outlive the Lua states that it opens. For the
// session's thread; it has no lock. native_calls().current() may be called from any thread.
#include <lua.hpp>
#include <string>

#include "script/host/host_calls.h"
#include "script/lua/native_calls.h"
#include "script/session/current_run.h"
#include "script/session/events.h"
#include "script/session/run_control.h"
#include "script/session/script_state.h"

namespace lunagrad {

class Globals {
 public:
  Globals(SessionOptions options, HostCalls& calls, RunControl& control, CurrentRun& run, Events& events,
          ScriptState& script)
      : options_(std::move(options)),
        calls_(calls),
        control_(control),
        run_(run),
        events_(events),
        script_(script) {}
  Globals(const Globals&) = delete;

  // Called once per state. RunOptions::preload: sets the global `lg` to the module "lunagrad". `require`
  // finds the texts of RunOptions::modules in place of the files, whatever the files contain now.
  void open(lua_State*, const RunOptions&);
  // Makes describe, it, expect and so on globals, for `lunagrad test`.
  void open_testing(lua_State*, const std::string& filter);
  const NativeCalls& native_calls() const { return native_calls_; }

 private:
  // Functions of Lua; the first upvalue is the Globals.
  static int print(lua_State*);
  static int write(lua_State*);
  static int write_file(lua_State*);
  static int set_locale(lua_State*);
  static int search_given(lua_State*);
  static int exit(lua_State*);
  static int handle_unless_unwinding(lua_State*);
  static int interruptible_xpcall(lua_State*);
  static int search_and_warn(lua_State*);
  static int report_test(lua_State*);
  // Pushes one of them, with the `count` values at the top as its further upvalues.
  void push(lua_State*, lua_CFunction, int count = 0);
  // Whether what the script writes to the stream becomes events.
  bool takes(const luaL_Stream*, bool by_io_write) const;
  // Emits the texts from stack index `first` to `last`.
  void emit_written(lua_State*, int first, int last, bool to_stderr);
  void emit_output(lua_State*, std::string text, bool to_stderr = false);
  void offer_modules(lua_State*);
  void take_streams(lua_State*);

  const SessionOptions options_;
  HostCalls& calls_;
  RunControl& control_;
  CurrentRun& run_;
  Events& events_;
  ScriptState& script_;
  NativeCalls native_calls_;
};

}  // namespace lunagrad
