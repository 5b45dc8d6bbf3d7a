#pragma once
// Redirects a script's writes away from the user's files: each file that it writes, changes or removes is a
// copy in a temporary folder, and later reads use the copy. For scripts that run again only to be examined.
// Owns its temporary folder and removes it. Belongs to its Lua state's thread.
#include <map>
#include <optional>
#include <string>

#include "runtime/io/temporary_folder.h"

namespace lunagrad {

// `write` replaces a file's content; `change` keeps it, to append to the file or to move it.
enum class FileUse { read, write, change, remove };

class FilesAside {
 public:
  // `folder`: an existing folder that its owner removes; "": a temporary folder, made when it is needed.
  explicit FilesAside(std::string folder = "") : place_(std::move(folder)) {}

  // The file to use in place of `path`: a copy, from the first use other than `read` on. Error of kind file
  // when the copy cannot be made.
  std::string use(const std::string& path, FileUse);
  bool has(const std::string& path) const;  // whether there is a copy of it

 private:
  std::string place_;
  std::optional<TemporaryFolder> folder_;
  std::map<std::string, std::string> copies_;  // the file's absolute path -> its copy
};

}  // namespace lunagrad
