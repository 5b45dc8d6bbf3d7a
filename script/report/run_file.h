#pragma once
// Reads a file of a run's folder for a report. Follows no symbolic link, opens only regular files, and reads
// a bounded part: a run's folder may come from anywhere, and a server shows the result. Any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lunagrad {

struct FilePart {
  std::string text;
  int64_t offset = 0;  // where `text` begins in the file
  int64_t size = 0;    // of the whole file
};

// At most `most` bytes from `offset` on; a negative offset means the last -offset bytes. `name` is a path of
// one or two parts inside the folder, such as "log.txt" or "images/x.png". Empty if there is no such file.
std::optional<FilePart> read_run_file(const std::string& folder, const std::string& name, int64_t most,
                                      int64_t offset = 0);
// Whether it is a regular file and no symbolic link.
bool is_own_file(const std::string& folder, const std::string& name);
// For the files that are read by path, which would follow links: Error of kind file if one is not a regular
// file.
void refuse_links(const std::string& folder);
bool is_png(std::string_view bytes);

}  // namespace lunagrad
