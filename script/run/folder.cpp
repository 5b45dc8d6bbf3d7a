#include "script/run/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>

#include "runtime/error.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCheckpoints = "checkpoints";

// Writes everything or returns errno.
int write_all(int file, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(file, data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    data.remove_prefix(size_t(written));
  }
  return 0;
}

// An incomplete line from a crash would end up inside the file after more lines are appended. False: errno
// says why it is still there.
bool drop_torn_line(int file) {
  off_t end = ::lseek(file, 0, SEEK_END);
  const off_t whole = end;
  char last = '\n';
  while (end > 0 && ::pread(file, &last, 1, end - 1) == 1 && last != '\n') --end;
  return end == whole || ::ftruncate(file, end) == 0;
}

}  // namespace

std::string default_run_directory(const std::string& script) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  char id[8];
  std::snprintf(id, sizeof id, "%06x", unsigned(std::random_device{}() & 0xffffff));
  std::string stem = fs::path(script).stem().string();
  if (stem.empty()) stem = "script";
  return text("runs/", stamp, "-", stem, "-", id);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail_as(ErrorKind::file, path, ": ", std::strerror(errno));
  int error = write_all(file, content);
  if (!error && ::fsync(file) != 0 && errno != EINVAL) error = errno;
  if (::close(file) != 0 && !error) error = errno;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(temporary.c_str());
    fail_as(ErrorKind::file, path, ": ", std::strerror(error));
  }
}

std::string unused_run_directory(const std::string& wanted) {
  std::error_code ignored;
  const std::string base = wanted.substr(0, wanted.find_last_not_of('/') + 1);
  std::string free = base;
  for (int copy = 2; fs::exists(fs::path(free) / "metrics.jsonl", ignored); ++copy)
    free = text(base, "-", copy);
  return free;
}

std::string latest_checkpoint(const std::string& folder) {
  std::string latest;
  int64_t latest_step = -1;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(folder) / kCheckpoints, error)) {
    const std::string name = entry.path().filename().string();
    int64_t step = 0;
    int end = 0;
    if (std::sscanf(name.c_str(), "step-%" SCNd64 ".safetensors%n", &step, &end) != 1) continue;
    if (size_t(end) != name.size() || step <= latest_step) continue;
    latest_step = step;
    latest = entry.path().string();
  }
  return latest;
}

std::string folder_of_checkpoint(const std::string& path) {
  const fs::path within = fs::path(path).parent_path();
  const fs::path folder = within.parent_path();
  std::error_code ignored;
  const bool in_run = within.filename() == kCheckpoints && fs::exists(folder / "metrics.jsonl", ignored);
  return in_run ? folder.string() : "";
}

RunFolder::RunFolder(std::string path, bool go_on, std::function<void(const std::string&)> warn)
    : path_(std::move(path)), warn_(std::move(warn)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail_as(ErrorKind::file, "run folder ", path_, ": ", error.message());
  if (!go_on && fs::exists(fs::path(path_) / "metrics.jsonl", error)) {
    fail_as(ErrorKind::file, "run folder ", path_, ": holds a run already; --resume ", path_,
            " goes on with it");
  }
  const std::string metrics = path_ + "/metrics.jsonl";
  metrics_ = ::open(metrics.c_str(), O_RDWR | O_CREAT | (go_on ? 0 : O_EXCL) | O_APPEND | O_CLOEXEC, 0666);
  if (metrics_ < 0) fail_as(ErrorKind::file, metrics, ": ", std::strerror(errno));
  if (::flock(metrics_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(metrics_);
    fail_as(ErrorKind::file, "run folder ", path_, ": another run is writing to it");
  }
  if (!drop_torn_line(metrics_)) {
    const int reason = errno;
    ::close(metrics_);
    fail_as(ErrorKind::file, metrics, ": ", std::strerror(reason));
  }
  const std::string log = path_ + "/log.txt";
  log_ = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log_ < 0) {
    const int reason = errno;
    ::close(metrics_);
    fail_as(ErrorKind::file, log, ": ", std::strerror(reason));
  }
}

RunFolder::~RunFolder() {
  if (metrics_ >= 0) ::close(metrics_);
  if (log_ >= 0) ::close(log_);
  for (const LateFile* const file : {&tape_, &files_})
    if (file->descriptor >= 0) ::close(file->descriptor);
}

void RunFolder::write_config(std::string_view json) {
  try {
    write_file_atomically(path_ + "/config.json", json);
  } catch (const Error& error) {
    warn_(error.what());
  }
}

void RunFolder::write_script(const char* name, std::string_view source) {
  try {
    write_file_atomically(path_ + "/" + name, source);
  } catch (const Error& error) {
    warn_(error.what());
  }
}

std::string RunFolder::write_module(const std::string& file, std::string_view text) {
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016zx", std::hash<std::string_view>()(text));
  const std::string name = std::string("modules/") + hash + "-" + fs::path(file).filename().string();
  std::error_code error;
  fs::create_directories(path_ + "/modules", error);
  if (error)
    warn_(path_ + "/modules: " + error.message());
  else if (!fs::exists(path_ + "/" + name, error))
    write_script(name.c_str(), text);
  return name;
}

std::string RunFolder::checkpoint_path(int64_t step) const {
  const std::string folder = path_ + "/" + kCheckpoints;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_as(ErrorKind::file, folder, ": ", error.message());
  char name[48];
  std::snprintf(name, sizeof name, "/step-%08" PRId64 ".safetensors", step);
  return folder + name;
}

std::string RunFolder::image_name(std::string_view name, int64_t step) const {
  std::error_code error;
  fs::create_directories(path_ + "/images", error);
  if (error) fail_as(ErrorKind::file, path_, "/images: ", error.message());
  std::string file = "images/";
  char piece[32];
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) || byte >= 0x80 || c == '_' || c == '-' || c == ' ' ||
                       (c == '.' && file.back() != '/');
    std::snprintf(piece, sizeof piece, plain ? "%c" : "%%%02x", plain ? c : byte);
    file += piece;
  }
  std::snprintf(piece, sizeof piece, "-%08" PRId64 ".png", step);
  return file + piece;
}

void RunFolder::append_metrics(std::string line) { append(metrics_, "metrics.jsonl", line += '\n'); }

void RunFolder::append_tape(std::string line) { append(tape_, "tape.jsonl", std::move(line)); }
void RunFolder::append_file(std::string line) { append(files_, "files.jsonl", std::move(line)); }

void RunFolder::append(LateFile& file, const char* name, std::string line) {
  if (!std::exchange(file.begun, true)) {
    const std::string path = path_ + "/" + name;
    file.descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file.descriptor < 0) warn_(text(path, ": ", std::strerror(errno), "; the run goes on without it"));
    drop_torn_line(file.descriptor);  // if that fails, readers skip the line
  }
  append(file.descriptor, name, line += '\n');
}

void RunFolder::append_log(std::string_view text) { append(log_, "log.txt", text); }

void RunFolder::append(int& file, const char* name, std::string_view data) {
  if (file < 0) return;
  if (const int error = write_all(file, data)) {
    if (&file != &log_) drop_torn_line(file);  // if that fails, readers skip the line
    ::close(file);
    file = -1;
    warn_(text(path_, "/", name, ": ", std::strerror(error), "; the run goes on without it"));
  }
}

}  // namespace lunagrad
