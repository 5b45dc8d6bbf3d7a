#pragma once
// What a session changes in Lua's standard library, so that a script's output becomes events and so that
// nothing outlives a stop: print, io.write, os.exit, xpcall. Called once a state, on the session's thread.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// preload: the module "lunagrad" as the global `lg`.
void open_globals(lua_State*, bool preload);
// describe, it and their kin as globals, as `lunagrad test` gives them.
void open_testing(lua_State*);
// The functions of lg.run; the second adds those that keep values to the first's, and is called by it.
void open_run(lua_State*);
void add_run_values(lua_State*);
// A step has ended: has lg.run.watch look at it.
void tell_boundary(lua_State*);
// Has lg.run write what is registered with lg.run.state, at the end of a step. `stopping`: because the run
// ends here.
void write_checkpoint(lua_State*, bool stopping);
// Pushes what a reload hands to the next script, nil when nothing is registered. With a path: what that
// checkpoint holds in place of what is registered.
void push_states(lua_State*, const std::string& checkpoint);

}  // namespace lunagrad
