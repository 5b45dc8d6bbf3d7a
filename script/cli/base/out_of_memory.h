#pragma once
// Exit code 8 for a program that runs out of memory outside of a script: at start-up, in a constructor of a
// static object, at the end of a thread. For main programs. No Lua.
#include <exception>

namespace lunagrad {

// 8 when memory was lacking, also for a thread; else 1.
int exit_code_of(const std::exception&);

}  // namespace lunagrad
