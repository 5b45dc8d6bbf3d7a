#pragma once
// The limits that the kernel sets for a sandboxed script. Plain values; any thread.
#include <cstddef>
#include <string>
#include <vector>

namespace lunagrad {

struct GuardLimits {
  std::vector<std::string> readable;  // files, and folders with everything inside; missing ones are left out
  std::vector<std::string> writable;  // folders with everything inside, also readable
  // Writable folders that are removed at the end. For that, empty folders beside them can be removed, too.
  std::vector<std::string> temporary;
  size_t memory = 0;  // bytes in addition to what the process uses; 0: no limit
  size_t disk = 0;    // bytes per file; 0: no limit
};

}  // namespace lunagrad
