#pragma once
// Reads a file of a run's folder for a report. Follows no symbolic link, opens nothing but regular files, and
// reads a bounded part: a run's folder may come from anywhere, and a server shows what this returns. Any
// thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lunagrad {

struct FilePart {
  std::string text;
  int64_t offset = 0;  // of the text in the file
  int64_t size = 0;    // of the whole file
};

// At most `most` bytes from `offset` on; negative: the last -offset bytes. `name` is a path inside the folder
// of one or two parts, such as "log.txt" and "images/x.png". Empty: there is no such file.
std::optional<FilePart> read_run_file(const std::string& folder, const std::string& name, int64_t most,
                                      int64_t offset = 0);
// Whether it is a regular file, and no link to one.
bool is_own_file(const std::string& folder, const std::string& name);
// The files that are read by their paths, which would follow links: Error of kind file if one is no regular
// file.
void refuse_links(const std::string& folder);
bool is_png(std::string_view bytes);

}  // namespace lunagrad
