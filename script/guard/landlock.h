#pragma once
// Landlock: which files a thread may use, and that it opens no port. Any thread; the limits apply to the
// calling thread and to threads that it starts.
#include <string>

#include "script/guard/guard_limits.h"

namespace lunagrad {

int landlock_version();  // version of the kernel's interface; 0: there is none, errno says why
// Returns "" or why it failed.
std::string limit_files(int version, const GuardLimits&);

}  // namespace lunagrad
