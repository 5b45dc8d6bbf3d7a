#include "runtime/io/input_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/cpu/parallel.h"

namespace lunagrad {

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  OpenFile::Status status;
  if (!file_.open_to_read(path_) || !file_.get_status(status))
    fail_as(ErrorKind::file, path_, ": cannot open: ", std::strerror(errno));
  if (!status.is_regular) fail_as(ErrorKind::file, path_, ": cannot open: it is not a regular file");
  size_ = status.size;
}

void InputFile::read(void* to, uint64_t offset, uint64_t count) const {
  char* const start = static_cast<char*>(to);
  parallel_for(int64_t(count), int64_t(1) << 17, [&](int64_t begin, int64_t end) {
    read_piece(start + begin, offset + uint64_t(begin), uint64_t(end - begin));
  });
}

std::string read_regular_file(const std::string& path) {
  const InputFile file(path);
  HeldMemory().add(size_t(file.size()), path);
  std::string content(size_t(file.size()), '\0');
  file.read(content.data(), 0, file.size());
  return content;
}

void InputFile::read_piece(char* to, uint64_t offset, uint64_t count) const {
  while (count > 0) {
    const int64_t got = file_.read_at(to, size_t(count), offset);
    if (got < 0) fail_as(ErrorKind::file, path_, ": cannot read: ", std::strerror(errno));
    if (got == 0) fail_as(ErrorKind::file, path_, ": became shorter while it was read");
    to += got;
    offset += uint64_t(got);
    count -= uint64_t(got);
  }
}

}  // namespace lunagrad
