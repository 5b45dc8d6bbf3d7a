#pragma once
// A folder for files that nobody else needs, removed with its content at the end of its scope. One thread at
// a time.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runtime/error.h"

namespace lunagrad {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lunagrad-XXXXXX").string();
    if (!mkdtemp(name.data())) fail_as(ErrorKind::file, name, ": cannot be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::rmdir(path_.c_str());  // in a sandbox that cannot remove files beside it, where remove_all fails
  }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lunagrad
