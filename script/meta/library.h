#pragma once
// Where the program finds its library and keeps its state. No Lua; any thread.
#include <string>

namespace lunagrad {

// The folder that contains lunagrad/init.lua, the first of: the folder of set_library_directory();
// $LUNAGRAD_LUA; share/lunagrad/lua or lua beside the runtime's shared library, share/lunagrad/lua in its
// prefix; the same for the program; the source tree. The folders docs and examples are next to it.
const std::string& library_directory();
// The library beside a file, or in <prefix> for a file in <prefix>/bin, <prefix>/lib or
// <prefix>/lib/<architecture>; else "".
std::string library_near(const std::string& file);
// See script/session.h.
bool set_library_directory(const std::string& folder, std::string* why);
// The folder for files that outlive a run, such as histories and layouts: $XDG_STATE_HOME/lunagrad, else
// ~/.local/state/lunagrad; "" if HOME is not set. It may not exist yet.
std::string state_directory();

}  // namespace lunagrad
