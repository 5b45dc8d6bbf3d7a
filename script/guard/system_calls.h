#pragma once
// seccomp: the system calls that a sandboxed script never needs are refused.
#include <string>

namespace lunagrad {

// Of the calling thread and of those that it starts, or of all threads. "" or why it failed.
std::string limit_system_calls(bool all_threads);

}  // namespace lunagrad
