#pragma once
// The functions of script/bind/run that a session calls: they add lg.run and lg.host to a Lua state, and read
// and write the states that lg.run.state registered. On the session's thread.
#include <lua.hpp>
#include <string>

namespace lunagrad {

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
