#pragma once
// Replaces functions of Lua's standard library: print and io.write send events, os.exit ends the script,
// xpcall cannot catch a stop. Called once per state, on the session's thread.
#include <lua.hpp>
#include <string>

#include "script/view/run.h"

namespace lunagrad {

// preload: sets the global `lg` to the module "lunagrad".
void open_globals(lua_State*, bool preload);
// `require` finds these texts in place of the files, whatever the files contain now.
void use_modules(lua_State*, const Modules&);
// Makes describe, it, expect and so on globals, for `lunagrad test`.
void open_testing(lua_State*, const std::string& filter);
// Adds the functions of lg.run. open_run calls add_run_values, which adds the functions that log values.
void open_run(lua_State*);
void add_run_values(lua_State*);
void open_host(lua_State*);  // lg.host
// Called when a step has ended: runs lg.run.watch.
void tell_boundary(lua_State*);
// Writes a checkpoint of what is registered with lg.run.state, at the end of a step. `stopping`: the run ends
// here.
void write_checkpoint(lua_State*, bool stopping);
// write_checkpoint without messages; replaces the last automatic checkpoint. Does nothing when nothing is
// registered.
void write_automatic_checkpoint(lua_State*);
// Pushes the registered states for a reload; nil when nothing is registered. With a path: pushes the states
// in that checkpoint.
void push_states(lua_State*, const std::string& checkpoint);
void push_states_to_keep(lua_State*);       // push_states without warnings
void push_states_for_keyframe(lua_State*);  // also with the positions of data loaders

}  // namespace lunagrad
