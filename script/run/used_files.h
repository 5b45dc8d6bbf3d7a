#pragma once
// The files that a script read, for the run's folder: files.jsonl has a line for each file, with its size and
// time of change at the first read. The content of data is hashed only on request, as by `lunagrad bundle`.
// Belongs to the session's thread.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lunagrad {

struct UsedFile {
  enum class Kind : uint8_t { data, folder, module } kind = Kind::data;
  std::string path;      // path in the script
  std::string absolute;  // path at that time
  uint64_t bytes = 0;
  int64_t changed = 0;    // nanoseconds since 1970
  std::string copy;       // module: its copy in the run's folder; "" when there is none
  std::string line = {};  // line of files.jsonl
};

class UsedFiles {
 public:
  // The line for files.jsonl, without its newline. `copy`: for a module, the name of its copy within the
  // folder. Empty for a file that is already listed, that the script itself wrote, or that does not exist.
  std::optional<std::string> read(const std::string& path, const std::string& copy = "");
  void written(const std::string& path) { written_.insert(path); }

 private:
  std::set<std::string> read_, written_;
};

// Sets size and time of change to the present values; false when there is no such file or folder.
bool look_at_file(UsedFile&);
// The lines of files.jsonl in a run's folder; empty if the run read nothing.
struct UsedFileList {
  std::vector<UsedFile> files;
  int64_t damaged = 0;  // skipped lines
};
UsedFileList used_files(const std::string& run_folder);
// The paths, as the script named them, of data files that are missing or have another size or time of change.
std::vector<std::string> changed_data(const std::vector<UsedFile>&);

}  // namespace lunagrad
