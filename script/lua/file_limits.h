#pragma once
// The paths that a sandboxed script may read and write. Belongs to the thread of its Lua state.
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

enum class FileUse { read, write };

struct FileLimits {
  bool limited = false;
  std::vector<std::string> readable;             // folders and files, with all that is in them
  std::function<std::string()> run_folder = {};  // may be read and written; "" while there is none

  // Error of kind file if the path, with symbolic links resolved, is outside of these.
  void check(const std::string& path, FileUse, const char* function) const;
};

}  // namespace lunagrad
