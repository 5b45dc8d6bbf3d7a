#pragma once
// Where the program finds what belongs to it and keeps what it remembers. No Lua; any thread.
#include <string>

namespace lunagrad {

// Folder that holds lunagrad/init.lua: $LUNAGRAD_LUA, <prefix>/share/lunagrad/lua, or the source tree. Beside
// it lie docs and examples.
const std::string& library_directory();
// What outlives a run, as histories and layouts: $XDG_STATE_HOME/lunagrad, else ~/.local/state/lunagrad; ""
// without a home. It need not exist.
std::string state_directory();

}  // namespace lunagrad
