#include "script/sweep/heartbeat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "runtime/core/error.h"

namespace lunagrad::sweep {
namespace {

using Duration = std::chrono::steady_clock::duration;

Duration seconds(double count) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(count));
}

std::string content_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The start of a process, in ticks since the machine started; "" when there is no such process, or only a
// zombie.
std::string start_of(const std::string& pid) {
  const std::string stat = content_of("/proc/" + pid + "/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field, state;
  fields >> state;
  for (int i = 4; i <= 22; ++i) fields >> field;
  return state == "Z" || state == "X" ? "" : field;
}

// Identifies the space in which process ids are unique: one start of a machine, and a container on it.
std::string process_space() {
  std::string boot = content_of("/proc/sys/kernel/random/boot_id");
  boot = boot.substr(0, boot.find('\n'));
  char space[64];
  const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space);
  return boot.empty() || length <= 0 ? "" : boot + "," + std::string(space, size_t(length));
}

// What this machine knows of the process that wrote a worker's file.
enum class Process { elsewhere, there, ended };

Process process_of(const std::string& content) {
  std::istringstream fields(content);
  std::string count, space, pid, start;
  if (!(fields >> count >> space >> pid >> start) || space != process_space()) return Process::elsewhere;
  return start_of(pid) == start ? Process::there : Process::ended;
}

}  // namespace

Heartbeat::Heartbeat(const std::string& sweep, double patience) : interval_(seconds(patience / 10)) {
  std::random_device random;
  char name[20];
  std::snprintf(name, sizeof name, "%08x%08x", unsigned(random()), unsigned(random()));
  worker_ = name;
  path_ = sweep + "/workers/" + worker_;
  const std::string pid = std::to_string(getpid());
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string space = process_space();
  identity_ = " " + (space.empty() ? "-" : space) + " " + pid + " " + start_of(pid) + " " + host + "\n";
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) fail_as(ErrorKind::file, path_, ": ", std::strerror(errno));
  beat();
}

Heartbeat::~Heartbeat() {
  ::close(file_);
  ::unlink(path_.c_str());
}

void Heartbeat::beat() {
  const Clock::time_point now = Clock::now();
  if (count_ > 0 && now - last_ < interval_) return;
  last_ = now;
  char count[24];
  std::snprintf(count, sizeof count, "%012lld", static_cast<long long>(++count_));
  const std::string content = count + identity_;
  // Written in place with constant length, so that it needs no room on a full disk. If it fails, other
  // workers take over this worker's trial, and this worker then notices that.
  [[maybe_unused]] const ssize_t written = ::pwrite(file_, content.data(), content.size(), 0);
  ::fsync(file_);
}

Watcher::Watcher(std::string sweep, double patience)
    : sweep_(std::move(sweep)), patience_(seconds(patience)) {}

Watcher::Liveness Watcher::look(const std::string& worker, Clock::time_point now) {
  const std::string content = content_of(sweep_ + "/workers/" + worker);
  const Process process = process_of(content);
  if (process == Process::ended) return Liveness::dead;
  const auto [found, is_new] = seen_.try_emplace(worker, Seen{content, now});
  Seen& seen = found->second;
  if (!is_new && seen.content != content) seen = {content, now, true};
  if (now - seen.since >= patience_) return Liveness::dead;
  return seen.moved || process == Process::there ? Liveness::alive : Liveness::unknown;
}

}  // namespace lunagrad::sweep
