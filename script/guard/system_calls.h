#pragma once
// seccomp: refuses the system calls that a sandboxed script never needs.
#include <string>

namespace lunagrad {

// Limits the calling thread and the threads that it starts, or all threads. Returns "" or why it failed.
std::string limit_system_calls(bool all_threads);

}  // namespace lunagrad
