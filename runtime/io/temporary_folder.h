#pragma once
// A folder for temporary files, removed with its content at the end of its scope. One thread at a time.
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "runtime/core/error.h"
#include "runtime/system/folders.h"

namespace lunagrad {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lunagrad-XXXXXX").string();
    if (!make_unique_folder(name)) fail_as(ErrorKind::file, name, ": cannot be made");
    path_ = name;
    const std::lock_guard lock(mutex_);
    all_.insert(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    // in a sandbox remove_all fails, because it cannot remove files beside the folder
    remove_empty_folder(path_);
    const std::lock_guard lock(mutex_);
    all_.erase(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Removes all folders, for a program that ends without leaving its scopes. Any thread.
  static void remove_all() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    for (const std::string& path : all_) std::filesystem::remove_all(path, ignored);
  }

 private:
  std::string path_;
  static inline std::mutex mutex_;
  static inline std::set<std::string> all_;
};

}  // namespace lunagrad
