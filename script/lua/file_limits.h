#pragma once
// The paths that a sandboxed script may read and write. Belongs to the thread of its Lua state.
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

enum class FileUse { read, write };

struct FileLimits {
  bool limited = false;
  std::vector<std::string> readable;             // files, and folders with everything inside them
  std::function<std::string()> run_folder = {};  // may be read and written; "" while there is none

  // Resolves symbolic links in the path. Error of kind file when these limits forbid that use of it.
  void check(const std::string& path, FileUse, const char* function) const;
};

}  // namespace lunagrad
