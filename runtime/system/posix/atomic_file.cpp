#include "runtime/io/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/io/disk_limit.h"
#include "runtime/system/posix/descriptor.h"
#include "runtime/system/posix/write_target.h"

namespace lunagrad {

namespace {

// between a file's name and the random letters of its temporary file
constexpr std::string_view kMark = ".lunagrad-";
constexpr size_t kLetters = 6;
// The longest part of the file's name that goes into the temporary name. libzip adds seven letters of its
// own.
constexpr size_t kLongestStem = 200;

constexpr int kPollMilliseconds = 20;

std::string stem_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1).substr(0, kLongestStem) + std::string(kMark);
}

// Removes the temporary files that killed programs left in the folder. A program that still writes a file
// holds its lock.
void remove_leftovers(const std::string& folder, const std::string& start) {
  DIR* const listing = ::opendir(folder.c_str());
  if (!listing) return;
  while (const dirent* const entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.size() != start.size() + kLetters || name.compare(0, start.size(), start) != 0) continue;
    const std::string leftover = folder + "/" + name;
    const int file = ::open(leftover.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(leftover.c_str());
    ::close(file);
  }
  ::closedir(listing);
}

std::string random_letters() {
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::random_device random;
  std::string letters(kLetters, ' ');
  for (char& letter : letters) letter = kAlphabet[random() % kAlphabet.size()];
  return letters;
}

// Makes a new, locked file in the folder and puts its name into `name`. Returns its descriptor, or -1 with
// errno.
int make_temporary(const std::string& folder, const std::string& start, mode_t mode, std::string& name) {
  remove_leftovers(folder, start);
  for (;;) {
    name = folder + "/" + start + random_letters();
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return file;
    ::flock(file, LOCK_EX | LOCK_NB);
    // Another program may have removed the file as a leftover before it was locked: then try again.
    struct stat status;
    if (::fstat(file, &status) != 0 || status.st_nlink > 0) return file;
    ::close(file);
  }
}

// During the life of the object a write to a pipe without a reader is an error instead of the program's end.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &previous_);
  }
  ~NoPipeSignal() {
    const timespec now{0, 0};
    const int cause = errno;
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    errno = cause;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, previous_;
  bool was_pending_ = false;
};

// Opens an existing file without blocking. A pipe that has no reader yet is tried again, so that a stop is
// noticed.
int open_for_writing(const std::string& path, int flags) {
  for (;;) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
    struct stat status;
    const bool unread =
        file < 0 && errno == ENXIO && ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (unread || (file < 0 && errno == EINTR)) {
      context().check_stop();
      ::poll(nullptr, 0, kPollMilliseconds);
      continue;
    }
    if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
  }
}

// Syncs the file. A file system that cannot sync counts as synced.
bool is_synced(int file) {
  return ::fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

bool is_regular(int file) {
  struct stat status;
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// Writes the bytes. Returns false, with errno, when not all could be written.
bool put(int file, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    count -= size_t(written);
  }
  return true;
}

// put() for a pipe, terminal or socket: waits until there is room for a piece, so that a stop is noticed.
bool stream(int file, const char* bytes, size_t count) {
  const NoPipeSignal guard;
  while (count > 0) {
    pollfd ready{file, POLLOUT, 0};
    const int found = ::poll(&ready, 1, kPollMilliseconds);
    if (found == 0 || (found < 0 && errno == EINTR)) {
      context().check_stop();
      continue;
    }
    const ssize_t written = ::write(file, bytes, std::min(count, size_t(PIPE_BUF)));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    bytes += written;
    count -= size_t(written);
  }
  return true;
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), target_(std::make_unique<WriteTarget>(write_target(path_))) {
  if (target_->exists && (target_->in_proc || !S_ISREG(target_->status.st_mode)))
    open_through();
  else
    make_temporary_beside();
}

void AtomicFile::make_temporary_beside() {
  if (target_->exists && ::faccessat(AT_FDCWD, target_->path.c_str(), W_OK, AT_EACCESS) != 0)
    give_up("write");
  // A file that will replace another is private until commit(); a new file has the permissions of the umask.
  const mode_t mode = target_->exists ? 0600 : 0666;
  descriptor_ = make_temporary(folder_of(target_->path), stem_of(target_->path), mode, temporary_);
  const bool closed_folder = descriptor_ < 0 && (errno == EACCES || errno == EPERM || errno == EROFS);
  if (target_->exists && closed_folder) return make_temporary_elsewhere();
  if (descriptor_ < 0) {
    temporary_.clear();
    give_up("write");
  }
  struct stat status;
  if (!target_->exists && ::fstat(descriptor_, &status) == 0) target_->status.st_mode = status.st_mode;
}

AtomicFile::~AtomicFile() {
  if (through_ >= 0) ::close(through_);
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  freed_on_disk(counted_);
}

void AtomicFile::give_up(const char* what) const {
  fail_as(ErrorKind::file, path_, ": cannot ", what, ": ", std::strerror(errno));
}

void AtomicFile::open_through() {
  if (target_->own_descriptor >= 0) {
    // Text printed earlier must come first.
    if (target_->own_descriptor == STDOUT_FILENO) std::fflush(stdout);
    through_ = ::fcntl(target_->own_descriptor, F_DUPFD_CLOEXEC, 0);
  } else {
    through_ = open_for_writing(target_->path, O_TRUNC);
  }
  if (through_ < 0) give_up("write");
  streams_ = !is_regular(through_);
}

void AtomicFile::make_temporary_elsewhere() {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  elsewhere_ = true;
  descriptor_ = make_temporary(error ? "/tmp" : folder, stem_of(target_->path), 0600, temporary_);
  if (descriptor_ >= 0) return;
  const int cause = errno;
  fail_as(ErrorKind::file, path_, ": cannot write: no room in ", std::exchange(temporary_, {}), ": ",
          std::strerror(cause));
}

const std::string& AtomicFile::temporary_name() {
  if (temporary_.empty()) make_temporary_elsewhere();
  return temporary_;
}

void AtomicFile::write(const void* bytes, size_t count) {
  if (!streams_) count_on_disk(count);
  put_bytes(bytes, count);
}

void AtomicFile::count_on_disk(size_t bytes) {
  if (!may_write(bytes)) fail_as(ErrorKind::file, path_, ": cannot write: ", disk_limit_sentence());
  counted_ += bytes;
}

void AtomicFile::put_bytes(const void* bytes, size_t count) {
  const char* const from = static_cast<const char*>(bytes);
  const bool whole = descriptor_ >= 0 ? put(descriptor_, from, count)
                     : streams_       ? stream(through_, from, count)
                                      : put(through_, from, count);
  if (!whole) give_up("write");
}

bool AtomicFile::has_positions() const { return ::lseek(descriptor_, 0, SEEK_CUR) >= 0; }

void AtomicFile::rewrite(size_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), off_t(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up("write");
    text.remove_prefix(size_t(written));
    offset += size_t(written);
  }
}

void AtomicFile::commit(Sync sync) {
  if (target_->exists && S_ISREG(target_->status.st_mode)) freed_on_disk(size_t(target_->status.st_size));
  counted_ = 0;
  if (through_ >= 0 || elsewhere_ || target_->status.st_nlink > 1 || !take_over_owner()) return copy(sync);
  if (sync != Sync::none && !is_synced(descriptor_)) give_up("sync");
  if (::rename(temporary_.c_str(), target_->path.c_str()) != 0) {
    // A file that is itself a mount point cannot be replaced.
    if (target_->exists && (errno == EBUSY || errno == EXDEV || errno == EPERM)) return copy(sync);
    give_up("write");
  }
  temporary_.clear();
  if (::close(std::exchange(descriptor_, -1)) != 0) give_up("write");
  if (sync != Sync::name) return;
  // The new name is durable after a sync of the folder. Some file systems do not support this: the error is
  // ignored.
  const int folder = ::open(folder_of(target_->path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

// Gives the temporary file the owner, group and permissions of the file that it replaces. Returns false when
// this user may not.
bool AtomicFile::take_over_owner() {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) give_up("write");
  const struct stat& wanted = target_->status;
  const bool same = status.st_uid == wanted.st_uid && status.st_gid == wanted.st_gid;
  if (target_->exists && !same && ::fchown(descriptor_, wanted.st_uid, wanted.st_gid) != 0) return false;
  if (status.st_mode == wanted.st_mode && (same || !target_->exists)) return true;
  return ::fchmod(descriptor_, wanted.st_mode & 07777) == 0;
}

// Copies the temporary file, if there is one, into the existing file or device.
void AtomicFile::copy(Sync sync) {
  const bool in_place = through_ < 0;
  if (in_place) through_ = open_for_writing(target_->path, 0);
  if (through_ < 0) give_up("write");
  if (descriptor_ >= 0) {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) give_up("write");
    // Makes room for everything before the old content is overwritten.
    if (in_place && status.st_size > 0 &&
        ::fallocate(through_, FALLOC_FL_KEEP_SIZE, 0, status.st_size) != 0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
      give_up("write");
    const int from = std::exchange(descriptor_, -1);
    const Descriptor closed(from);
    std::string piece(size_t(1) << 20, '\0');
    for (off_t at = 0; at < status.st_size;) {
      const ssize_t got = ::pread(from, piece.data(), piece.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) give_up("write");
      put_bytes(piece.data(), size_t(got));
      at += got;
    }
    if (in_place && ::ftruncate(through_, status.st_size) != 0) give_up("write");
  }
  if (!streams_ && sync != Sync::none && !is_synced(through_)) give_up("sync");
  if (::close(std::exchange(through_, -1)) != 0) give_up("write");
}

void AtomicFile::take_up() {
  ::close(descriptor_);
  descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) give_up("write");
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
  struct stat status;
  if (::fstat(descriptor_, &status) == 0) count_on_disk(size_t(status.st_size));
}

bool replaces_file(const std::string& path) {
  const WriteTarget target = write_target(path);
  return target.exists && !target.in_proc && S_ISREG(target.status.st_mode);
}

bool is_temporary(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const size_t mark = name.rfind(kMark);
  return mark != std::string::npos && name.size() >= mark + kMark.size() + kLetters;
}

void AtomicFile::part_from_links(const std::string& path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink < 2) return;
  AtomicFile file(path);
  file.target_->status.st_nlink = 1;
  file.write(read_file(path));
  file.commit();
}

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_as(ErrorKind::file, path, ": cannot open: ", std::strerror(errno));
  std::string content;
  struct stat status;
  const bool is_regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  try {
    if (is_regular) HeldMemory().add(size_t(status.st_size), path);
    if (is_regular) content.reserve(size_t(status.st_size) + 1);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
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

void write_file(const std::string& path, std::string_view content, Sync sync) {
  AtomicFile file(path);
  file.write(content);
  file.commit(sync);
}

}  // namespace lunagrad
