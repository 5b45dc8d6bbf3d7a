#pragma once
// Where the script of a sandbox may read and write files. Belongs to a Lua state; its thread alone.
#include <functional>
#include <string>
#include <vector>

namespace lunagrad {

enum class FileUse { read, write };

struct FileLimits {
  bool limited = false;
  std::vector<std::string> readable;             // folders and files, with all that is in them
  std::function<std::string()> run_folder = {};  // may be read and written; "" while there is none

  // Error of kind file when the path, with its links followed, lies elsewhere.
  void check(const std::string& path, FileUse, const char* function) const;
};

}  // namespace lunagrad
