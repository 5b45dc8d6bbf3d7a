#include "script/guard/guard.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/products/cpu/blas.h"
#include "script/guard/landlock.h"
#include "script/guard/sanitizers.h"
#include "script/guard/system_calls.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

constexpr rlim_t kDescriptors = 1024;
// Memory that the process needs besides the script's: a stack for each CPU thread and, since drivers start
// threads, for each core; memory of the program, drivers and kernels; and buffers of a BLAS library that
// cannot be reserved in advance.
constexpr size_t kBlasBuffer = size_t(128) << 20, kStack = size_t(8) << 20, kOwnMemory = size_t(256) << 20;

int threads_of_process() {
  std::error_code none;
  int count = 0;
  for ([[maybe_unused]] const auto& task : fs::directory_iterator("/proc/self/task", none)) ++count;
  return count;
}

// Bytes of private writable memory, which RLIMIT_DATA limits.
size_t data_in_use() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key; status.ignore(1 << 12, '\n')) {
    size_t kib = 0;
    if (key == "VmData:" && status >> kib) return kib << 10;
  }
  return 0;
}

std::string set_limit(int which, rlim_t most) {
  rlimit limit{};
  if (getrlimit(__rlimit_resource(which), &limit) != 0) return std::strerror(errno);
  limit.rlim_max = std::min(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return setrlimit(__rlimit_resource(which), &limit) == 0 ? "" : std::strerror(errno);
}

class Guarding {
 public:
  void note(const char* what, const std::string& why) {
    if (!why.empty()) report.missing.push_back(text(what, ": ", why));
  }

  // Keeps the program and programs that it starts from gaining other users' rights. Landlock and seccomp need
  // this.
  void keep_rights() {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) note("new rights", std::strerror(errno));
  }

  void limit_resources(const GuardLimits& limits) {
    note("core dumps", set_limit(RLIMIT_CORE, 0));
    note("open files", set_limit(RLIMIT_NOFILE, kDescriptors));
    if (limits.disk) note("sizes of files", set_limit(RLIMIT_FSIZE, limits.disk));
    if (kSanitizedBuild) return;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // other programs of this user cannot trace it
    if (!limits.memory) return;
    const size_t threads = size_t(thread_count()),
                 cores = size_t(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    const size_t buffers = blas::reserve_buffers(int(threads)) ? 0 : threads * kBlasBuffer;
    const size_t used = data_in_use();
    if (used == 0) return note("memory", "/proc/self/status cannot be read");
    const size_t own = kOwnMemory + (threads + cores) * kStack + buffers;
    note("memory", set_limit(RLIMIT_DATA, used + limits.memory + own));
  }

  void limit_paths(const GuardLimits& limits) {
    report.landlock = landlock_version();
    note("files", report.landlock ? limit_files(report.landlock, limits)
                                  : text("this kernel has no Landlock (", std::strerror(errno), ")"));
  }

  GuardReport report;
};

}  // namespace

GuardReport guard_process(const GuardLimits& limits) {
  Guarding guarding;
  if (const int others = threads_of_process() - 1; others > 0)
    guarding.note("files", text(others, " threads began before"));
  guarding.keep_rights();
  guarding.limit_resources(limits);
  guarding.limit_paths(limits);
  guarding.note("system calls", limit_system_calls(true));
  return guarding.report;
}

GuardReport guard_thread(const GuardLimits& limits) {
  Guarding guarding;
  guarding.keep_rights();
  guarding.limit_paths(limits);
  guarding.note("system calls", limit_system_calls(false));
  return guarding.report;
}

std::vector<GuardSupport> guard_support() {
  std::vector<GuardSupport> support;
  const int version = landlock_version();
  support.push_back(
      {"Landlock", version ? text("version ", version) : "", version ? "" : std::strerror(errno)});
  const uint32_t action = SECCOMP_RET_ERRNO;
  const bool filters = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  support.push_back(
      {"seccomp", filters ? "filters of system calls" : "", filters ? "" : std::strerror(errno)});
  const size_t used = data_in_use();
  support.push_back({"rlimits", used ? "memory, sizes of files, open files" : "",
                     used ? "" : "/proc/self/status cannot be read"});
  return support;
}

}  // namespace lunagrad
