#include "runtime/system/posix/write_target.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

constexpr int kMostLinks = 40;  // the kernel's limit

[[noreturn]] void refuse(const std::string& path, const char* why) {
  fail_as(ErrorKind::file, path, ": cannot write: ", why);
}

bool lies_in_proc(const std::string& path) {
  struct statfs system;
  return ::statfs(folder_of(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

std::string resolved(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) ? real : "";
}

// The descriptor of a link such as /proc/self/fd/1; -1 when it is not one of this process.
int own_descriptor(const std::string& link) {
  const std::string name = link.substr(link.rfind('/') + 1), folder = resolved(folder_of(link));
  const std::string own = resolved("/proc/self") + "/";
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return -1;
  return folder.starts_with(own) && folder.ends_with("/fd") ? std::atoi(name.c_str()) : -1;
}

std::string content_of_link(const std::string& link, const std::string& asked) {
  char text[PATH_MAX];
  const ssize_t length = ::readlink(link.c_str(), text, sizeof text);
  if (length < 0) refuse(asked, std::strerror(errno));
  return {text, size_t(length)};
}

}  // namespace

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

WriteTarget write_target(const std::string& path) {
  WriteTarget target;
  target.path = path;
  for (int links = 0;; ++links) {
    if (::lstat(target.path.c_str(), &target.status) != 0) {
      if (errno != ENOENT) refuse(path, std::strerror(errno));
      if (target.path.ends_with('/')) refuse(path, "it names a folder");
      return target;  // a new file
    }
    if (!S_ISLNK(target.status.st_mode)) break;
    if (links == kMostLinks) refuse(path, std::strerror(ELOOP));
    if (lies_in_proc(target.path)) {
      target.in_proc = true;
      target.own_descriptor = own_descriptor(target.path);
      if (::stat(target.path.c_str(), &target.status) != 0) refuse(path, std::strerror(errno));
      break;
    }
    const std::string content = content_of_link(target.path, path);
    target.path = content.starts_with('/') ? content : folder_of(target.path) + "/" + content;
  }
  if (S_ISDIR(target.status.st_mode)) refuse(path, "it is a folder");
  target.exists = true;
  return target;
}

}  // namespace lunagrad
