#pragma once
// The files that a script names: which of them a sandboxed script may read and write, and which files stand
// in for others. Belongs to its Lua state's thread.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "script/files/files_aside.h"

namespace lunagrad {

struct FileLimits {
  bool limited = false;
  std::vector<std::string> readable;             // files, and folders with everything inside them
  std::function<std::string()> run_folder = {};  // may be read and written; returns "" while there is none

  std::function<void(const std::string& path, FileUse)> on_use = {};  // called for each permitted use
  // Files and folders of a bundle that are read in place of those in the script.
  std::map<std::string, std::string> stand_ins = {};
  std::shared_ptr<FilesAside> aside = {};  // where writes go; null: to the files named in the script

  // The file to use where the script names `path`. Resolves symbolic links in it. Error of kind file when
  // these limits forbid this use.
  std::string check(const std::string& path, FileUse, const char* function) const;

 private:
  std::string stand_in(const std::string& path) const;
  void refuse(const std::string& path, FileUse, const char* function) const;
};

}  // namespace lunagrad
