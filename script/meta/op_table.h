#pragma once
// The page of all ops, as Markdown: `lunagrad help operations` shows it. No Lua; any thread.
#include <string>

namespace lunagrad {

// Every visible op: name, arguments, sentence; from the op records.
std::string op_table();

}  // namespace lunagrad
