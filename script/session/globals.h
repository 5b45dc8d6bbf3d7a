#pragma once
// Replaces functions of Lua's standard library: print and io.write send events, os.exit ends the script,
// xpcall cannot catch a stop. Called once per state, on the session's thread.
#include <lua.hpp>
#include <string>

#include "script/view/run.h"

namespace lunagrad {

// preload: the module "lunagrad" as the global `lg`.
void open_globals(lua_State*, bool preload);
// `require` finds these texts where it would look for their files, whatever is in them by now.
void use_modules(lua_State*, const Modules&);
// Makes describe, it, expect and so on globals, for `lunagrad test`.
void open_testing(lua_State*, const std::string& filter);
// The functions of lg.run. open_run calls add_run_values, which adds those that log values.
void open_run(lua_State*);
void add_run_values(lua_State*);
void open_host(lua_State*);  // lg.host
// A step has ended: runs lg.run.watch.
void tell_boundary(lua_State*);
// Writes a checkpoint of what is registered with lg.run.state, at the end of a step. `stopping`: the run ends
// here.
void write_checkpoint(lua_State*, bool stopping);
// The same without a word, in place of the last one that was written so; nothing when nothing is registered.
void write_automatic_checkpoint(lua_State*);
// Pushes the registered states for a reload, nil when nothing is registered. With a path: the states in that
// checkpoint.
void push_states(lua_State*, const std::string& checkpoint);
void push_states_to_keep(lua_State*);       // without warnings
void push_states_for_keyframe(lua_State*);  // and with the positions of data loaders

}  // namespace lunagrad
