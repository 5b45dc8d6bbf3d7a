#include "runtime/system/open_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace lunagrad {

bool OpenFile::open_to_read(const std::string& path) {
  // O_NONBLOCK: opening a pipe without a writer would block forever.
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return is_open();
}

bool OpenFile::open_to_grow(const std::string& path, Growth growth) {
  const int access = growth == Growth::append ? O_WRONLY : O_RDWR;
  const int exclusive = growth == Growth::append_new_lines ? O_EXCL : 0;
  file_ = ::open(path.c_str(), access | O_CREAT | exclusive | O_APPEND | O_CLOEXEC, 0666);
  return is_open();
}

void OpenFile::close() {
  if (is_open()) ::close(int(file_));
  file_ = -1;
}

bool OpenFile::get_status(Status& result) const {
  struct stat status;
  if (::fstat(int(file_), &status) != 0) return false;
  result = {S_ISREG(status.st_mode), uint64_t(status.st_size)};
  return true;
}

int64_t OpenFile::read_at(void* to, size_t bytes, uint64_t offset) const {
  for (;;) {
    const ssize_t got = ::pread(int(file_), to, bytes, off_t(offset));
    if (got >= 0 || errno != EINTR) return got;
  }
}

int64_t OpenFile::append(std::string_view bytes) {
  for (;;) {
    const ssize_t written = ::write(int(file_), bytes.data(), bytes.size());
    if (written >= 0 || errno != EINTR) return written;
  }
}

bool OpenFile::lock() { return ::flock(int(file_), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

bool OpenFile::drop_half_written_line() {
  const int file = int(file_);
  off_t end = ::lseek(file, 0, SEEK_END);
  const off_t whole = end;
  char last = '\n';
  while (end > 0 && ::pread(file, &last, 1, end - 1) == 1 && last != '\n') --end;
  return end == whole || ::ftruncate(file, end) == 0;
}

}  // namespace lunagrad
