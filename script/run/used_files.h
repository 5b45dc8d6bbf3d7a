#pragma once
// The files that a script read, for the run's folder: files.jsonl has a line for each, with its size and the
// time of its last change when it was read first. The content of data is hashed only when somebody asks for
// it, as `lunagrad bundle` does. Belongs to the session's thread.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lunagrad {

struct UsedFile {
  enum class Kind : uint8_t { data, folder, module } kind = Kind::data;
  std::string path;      // as the script named it
  std::string absolute;  // where it was
  uint64_t bytes = 0;
  int64_t changed = 0;    // nanoseconds since 1970
  std::string copy;       // of a module: its copy in the run's folder; "" when there is none
  std::string line = {};  // of files.jsonl
};

class UsedFiles {
 public:
  // The line of files.jsonl, without its newline; `copy`: of a module, the name of its copy within the
  // folder. Nothing for a file that is known, that the script wrote itself, or that is not there.
  std::optional<std::string> read(const std::string& path, const std::string& copy = "");
  void written(const std::string& path) { written_.insert(path); }

 private:
  std::set<std::string> read_, written_;
};

// Now; false when there is no such file or folder.
bool look_at_file(UsedFile&);
// The lines of files.jsonl in a run's folder; none in a run that read nothing.
struct UsedFileList {
  std::vector<UsedFile> files;
  int64_t damaged = 0;  // lines that were skipped
};
UsedFileList used_files(const std::string& run_folder);
// Of these the data, as the script named them, that are gone or have another size or time of change.
std::vector<std::string> changed_data(const std::vector<UsedFile>&);

}  // namespace lunagrad
