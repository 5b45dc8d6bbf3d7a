#pragma once
// Limits set by the kernel for a sandboxed script, in case the program's own checks (script/lua/sandbox.h,
// script/files/file_limits.h) allow something by mistake. Landlock limits files and ports, seccomp refuses
// system calls, rlimits bound memory, files and descriptors. A refused call is an error for its caller.
// Limits cannot be lifted again. A kernel that lacks one of these still applies the others.
#include <string>
#include <vector>

#include "script/guard/guard_limits.h"

namespace lunagrad {

struct GuardReport {
  int landlock = 0;                  // version of the kernel's interface; 0: there is none
  std::vector<std::string> missing;  // what could not be limited, and why: "system calls: …"
};

// Limits the calling thread and all threads that it starts from now on. System calls, memory, files and
// descriptors are limited in every thread of the process. Call it while there is only one thread.
GuardReport guard_process(const GuardLimits&);
// The same without the process-wide limits (memory, file sizes, descriptors): other threads are unaffected.
GuardReport guard_thread(const GuardLimits&);

// What this kernel supports: "Landlock 7", and so on; "" with the reason in `why`.
struct GuardSupport {
  std::string name, found, why;
};
std::vector<GuardSupport> guard_support();

}  // namespace lunagrad
