#pragma once
// Keeps what a script writes away from the user's files: each file that it writes, changes or removes is a
// copy in a temporary folder, which later reads find. For scripts that run again only to be looked at. Owns
// its temporary folder and removes it. Belongs to the thread of its Lua state.
#include <map>
#include <optional>
#include <string>

#include "runtime/io/temporary_folder.h"

namespace lunagrad {

// `write` replaces what a file holds, `change` keeps it: to append to it or to move it.
enum class FileUse { read, write, change, remove };

class FilesAside {
 public:
  // `folder`: one that exists and that its owner removes; "": a temporary one, made when it is needed.
  explicit FilesAside(std::string folder = "") : place_(std::move(folder)) {}

  // The file to use in place of `path`: a copy from the first use on that is not `read`. Error of kind file
  // when the copy cannot be made.
  std::string use(const std::string& path, FileUse);
  bool has(const std::string& path) const;  // a copy of it

 private:
  std::string place_;
  std::optional<TemporaryFolder> folder_;
  std::map<std::string, std::string> copies_;  // the file's absolute path -> its copy
};

}  // namespace lunagrad
