#pragma once
// What the kernel lets a sandboxed script do, whatever the program's own checks (script/lua/sandbox.h,
// script/files/file_limits.h) allow by mistake: Landlock limits files and ports, seccomp refuses system
// calls, rlimits bound memory, files and descriptors. A refused call is an error of its caller. Nothing lifts
// a limit again. A kernel that lacks one of them gives the others.
#include <cstddef>
#include <string>
#include <vector>

namespace lunagrad {

struct GuardLimits {
  std::vector<std::string> readable;  // files, and folders with everything inside; missing ones are left out
  std::vector<std::string> writable;  // folders with everything inside, also readable
  // Writable folders that are removed at the end. An empty folder beside them can be removed, too.
  std::vector<std::string> temporary;
  size_t memory = 0;  // bytes on top of what the process uses; 0: no limit
  size_t disk = 0;    // bytes of a file; 0: no limit
};

// The places that any run reads: system libraries, drivers and devices of GPUs, the bundled Lua library.
std::vector<std::string> places_of_every_run();

struct GuardReport {
  int landlock = 0;                  // version of the kernel's interface; 0: there is none
  std::vector<std::string> missing;  // what could not be limited, and why, as "system calls: …"
};

// Limits the calling thread and all threads that it starts from now on. System calls are limited in every
// thread of the process, and so are memory, files and descriptors. To be called while there is one thread.
GuardReport guard_process(const GuardLimits&);
// The same without the limits of the process (memory, sizes of files, descriptors): other threads go on as
// they were.
GuardReport guard_thread(const GuardLimits&);

// What this kernel offers: "Landlock 7", and so on; "" with the reason in `why`.
struct GuardSupport {
  std::string name, found, why;
};
std::vector<GuardSupport> guard_support();

}  // namespace lunagrad
