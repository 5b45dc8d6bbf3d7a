#include "script/report/run_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/system/posix/descriptor.h"

namespace lunagrad {
namespace {

bool is_plain(const std::string& part) {
  return !part.empty() && part != "." && part != ".." && part.find('/') == part.npos &&
         part.find('\0') == part.npos;
}

// O_NONBLOCK: opening a pipe must not wait.
constexpr int kFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

int open_file(const std::string& folder, const std::string& name) {
  const Descriptor in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!in) return -1;
  const size_t slash = name.find('/');
  if (slash == name.npos) return is_plain(name) ? ::openat(in.get(), name.c_str(), kFile) : -1;
  const std::string first = name.substr(0, slash), second = name.substr(slash + 1);
  if (!is_plain(first) || !is_plain(second)) return -1;
  const Descriptor inner(::openat(in.get(), first.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return inner ? ::openat(inner.get(), second.c_str(), kFile) : -1;
}

}  // namespace

std::optional<FilePart> read_run_file(const std::string& folder, const std::string& name, int64_t most,
                                      int64_t offset) {
  const Descriptor file(open_file(folder, name));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  FilePart part;
  part.size = status.st_size;
  part.offset = offset < 0 ? std::max<int64_t>(part.size + offset, 0) : std::min(offset, part.size);
  part.text.resize(size_t(std::min(most, part.size - part.offset)));
  size_t have = 0;
  while (have < part.text.size()) {
    const ssize_t got = ::pread(file.get(), part.text.data() + have, part.text.size() - have,
                                off_t(part.offset + int64_t(have)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += size_t(got);
  }
  part.text.resize(have);
  return part;
}

bool is_own_file(const std::string& folder, const std::string& name) {
  const Descriptor file(open_file(folder, name));
  struct stat status {};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

void refuse_links(const std::string& folder) {
  for (const char* name : {"config.json", "metrics.jsonl"}) {
    const std::string path = folder + "/" + name;
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
      fail_as(ErrorKind::file, path, ": not a regular file");
  }
}

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

}  // namespace lunagrad
