#include "runtime/io/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/error.h"

namespace lunagrad {

namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

constexpr char kMark[] = ".lunagrad-";  // between the name of a file and six letters of a temporary one
constexpr size_t kLetters = 6;

// Removes the temporary files that killed programs left beside `path`. A program that still writes one holds
// its lock.
void remove_leftovers(const std::string& path) {
  const std::string folder = folder_of(path), start = path.substr(path.rfind('/') + 1) + kMark;
  DIR* const listing = ::opendir(folder.c_str());
  if (!listing) return;
  while (const dirent* const entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.size() != start.size() + kLetters || name.compare(0, start.size(), start) != 0) continue;
    const std::string leftover = folder + "/" + name;
    const int file = ::open(leftover.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(leftover.c_str());
    ::close(file);
  }
  ::closedir(listing);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status;
  if (::stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    fail_as(ErrorKind::file, path_, ": cannot write: it is a folder");
  remove_leftovers(path_);
  // Another program may take the file for a leftover before its lock is there: then begin again.
  for (bool kept = false; !kept;) {
    temporary_ = path_ + kMark + "XXXXXX";
    descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
    if (descriptor_ < 0) break;
    ::flock(descriptor_, LOCK_EX | LOCK_NB);
    kept = ::fstat(descriptor_, &status) != 0 || status.st_nlink > 0;
    if (!kept) ::close(descriptor_);
  }
  if (descriptor_ < 0) fail_as(ErrorKind::file, path_, ": cannot write: ", std::strerror(errno));
  // mkostemp makes files private; give the file the permissions of the user's umask.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::give_up(const char* what) const {
  fail_as(ErrorKind::file, path_, ": cannot ", what, ": ", std::strerror(errno));
}

void AtomicFile::write(const void* bytes, size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, from, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("write");
    from += written;
    count -= size_t(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) give_up("sync");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary_.c_str());
    errno = cause;
    give_up("write");
  }
  // The new name is durable after a sync of the folder. Some file systems do not support that: ignore the
  // error.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void AtomicFile::take_up() {
  ::close(descriptor_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ >= 0) {
    ::flock(descriptor_, LOCK_EX | LOCK_NB);
    return;
  }
  const int cause = errno;
  ::unlink(temporary_.c_str());
  errno = cause;
  give_up("write");
}

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_as(ErrorKind::file, path, ": cannot open: ", std::strerror(errno));
  std::string content;
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
    content.reserve(size_t(status.st_size) + 1);
  for (;;) {
    const size_t have = content.size();
    content.resize(std::max(content.capacity(), have + 65536));
    const ssize_t got = ::read(descriptor, content.data() + have, content.size() - have);
    const int cause = errno;
    content.resize(have + size_t(std::max<ssize_t>(got, 0)));
    if (got > 0 || (got < 0 && cause == EINTR)) continue;
    ::close(descriptor);
    if (got < 0) fail_as(ErrorKind::file, path, ": cannot read: ", std::strerror(cause));
    return content;
  }
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace lunagrad
