#pragma once
// A regular file, read by position into memory that the caller owns. It is not mapped, so a file that shrinks
// while it is read gives an error instead of a signal. Several threads may read at the
// same time. Errors have kind file and name the file.
#include <cstdint>
#include <string>

#include "runtime/system/open_file.h"

namespace lunagrad {

class InputFile {
 public:
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // bytes at the time of opening

  // Long reads are shared by the thread pool; a stop cancels them.
  void read(void* to, uint64_t offset, uint64_t count) const;

 private:
  void read_piece(char* to, uint64_t offset, uint64_t count) const;
  std::string path_;
  OpenFile file_;
  uint64_t size_ = 0;
};

// The content of a regular file. Other files are an Error: opening a pipe would wait, and a device does not
// end.
std::string read_regular_file(const std::string& path);

}  // namespace lunagrad
