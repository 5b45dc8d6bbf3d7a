#include "script/guard/landlock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "runtime/system/posix/descriptor.h"

namespace lunagrad {
namespace {

// Older systems' linux/landlock.h lacks the newer of these.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1, kPathBeneath = 1;

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3,
                   kRemoveFolder = 1 << 4, kRemoveFile = 1 << 5, kMakeDevice = 1 << 6, kMakeFolder = 1 << 7,
                   kMakeFile = 1 << 8, kMakeSocket = 1 << 9, kMakePipe = 1 << 10, kMakeBlockDevice = 1 << 11,
                   kMakeLink = 1 << 12, kMoveBetween = 1 << 13, kTruncate = 1 << 14, kDeviceIoctl = 1 << 15;
constexpr uint64_t kFirstVersion = kExecute | kWriteFile | kReadFile | kReadFolder | kRemoveFolder |
                                   kRemoveFile | kMakeDevice | kMakeFolder | kMakeFile | kMakeSocket |
                                   kMakePipe | kMakeBlockDevice | kMakeLink;
constexpr uint64_t kBindTcp = 1 << 0, kConnectTcp = 1 << 1;
constexpr uint64_t kAbstractSockets = 1 << 0, kSignals = 1 << 1;

// The rights that a rule about a file, not a folder, may have.
constexpr uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceIoctl;

constexpr uint64_t kReading = kReadFile | kReadFolder;
// Without the right to make links, which a later reader of the folder would follow.
constexpr uint64_t kWriting =
    kReading | kWriteFile | kRemoveFolder | kRemoveFile | kMakeFolder | kMakeFile | kMoveBetween | kTruncate;
constexpr uint64_t kDevice = kReading | kWriteFile | kDeviceIoctl;

struct Ruleset {
  uint64_t files = 0, ports = 0, scopes = 0;
};
struct [[gnu::packed]] PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};

Ruleset handled_by(int version) {
  Ruleset handled{kFirstVersion};
  if (version >= 2) handled.files |= kMoveBetween;
  if (version >= 3) handled.files |= kTruncate;
  if (version >= 4) handled.ports = kBindTcp | kConnectTcp;
  if (version >= 5) handled.files |= kDeviceIoctl;
  if (version >= 6) handled.scopes = kAbstractSockets | kSignals;
  return handled;
}

class Rules {
 public:
  explicit Rules(int version)
      : handled_(handled_by(version)),
        ruleset_(int(syscall(kCreateRuleset, &handled_,
                             version >= 6   ? sizeof handled_
                             : version >= 4 ? 2 * sizeof(uint64_t)
                                            : sizeof(uint64_t),
                             0))) {}

  bool made() const { return bool(ruleset_); }

  // A place that does not exist needs no rule. Returns false, with errno, when the kernel rejects the rule.
  bool allow(const std::string& path, uint64_t rights) {
    Descriptor place(::open(path.empty() ? "." : path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP;
    struct stat status;
    if (::fstat(place.get(), &status) != 0) return false;
    if (!S_ISDIR(status.st_mode)) rights &= kOfFiles;
    const PathRule rule{rights & handled_.files, place.get()};
    if (rule.allowed == 0) return true;
    if (syscall(kAddRule, ruleset_.get(), kPathBeneath, &rule, 0) != 0) return false;
    // A rule belongs to an inode. /proc and /sys make new inodes when nothing uses the old ones, so the
    // descriptor stays open.
    struct statfs system;
    if (::fstatfs(place.get(), &system) == 0 &&
        (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC))
      place.release();
    return true;
  }

  bool enforce() { return syscall(kRestrictSelf, ruleset_.get(), 0) == 0; }

 private:
  Ruleset handled_;
  Descriptor ruleset_;
};

}  // namespace

int landlock_version() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? int(version) : 0;
}

std::string limit_files(int version, const GuardLimits& limits) {
  Rules rules(version);
  bool whole = rules.made();
  for (const std::string& place : limits.readable)
    whole = whole && rules.allow(place, place.starts_with("/dev/") ? kDevice : kReading);
  for (const std::string& folder : limits.writable) whole = whole && rules.allow(folder, kWriting);
  for (const std::string& folder : limits.temporary)
    whole = whole && rules.allow(folder, kWriting) &&
            rules.allow(std::filesystem::absolute(folder).parent_path().string(), kRemoveFolder);
  if (whole && rules.enforce()) return {};
  return std::strerror(errno);
}

}  // namespace lunagrad
