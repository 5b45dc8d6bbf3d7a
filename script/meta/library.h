#pragma once
// Where the program finds its library and keeps its state. No Lua; any thread.
#include <string>

namespace lunagrad {

// The folder that contains lunagrad/init.lua, the first of: $LUNAGRAD_LUA; share/lunagrad/lua in the prefix
// of the runtime's shared library; the same in the program's prefix; the source tree. The folders docs and
// examples are next to it.
const std::string& library_directory();
// The folder for files that outlive a run, such as histories and layouts: $XDG_STATE_HOME/lunagrad, else
// ~/.local/state/lunagrad; "" if HOME is not set. It may not exist yet.
std::string state_directory();

}  // namespace lunagrad
