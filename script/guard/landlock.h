#pragma once
// Landlock: which files a thread may use, and that it opens no port. Any thread; the limits are those of the
// thread that calls and of the threads that it starts.
#include <string>

#include "script/guard/guard.h"

namespace lunagrad {

int landlock_version();  // of the kernel's interface; 0: there is none, and errno says why
// "" or why it failed.
std::string limit_files(int version, const GuardLimits&);

}  // namespace lunagrad
