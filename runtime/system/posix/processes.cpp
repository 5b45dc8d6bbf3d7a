#include "runtime/system/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

extern char** environ;

namespace lunagrad {
namespace {

// A file in memory, closed by the destructor.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  int descriptor() const { return descriptor_; }

  bool fill(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(size_t(written));
    }
    return lseek(descriptor_, 0, SEEK_SET) == 0;
  }
  std::string content() const {
    std::string text(size_t(std::max<off_t>(lseek(descriptor_, 0, SEEK_END), 0)), '\0');
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t got = pread(descriptor_, text.data() + done, text.size() - done, off_t(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += size_t(got);
    }
    text.resize(done);
    return text;
  }

 private:
  int descriptor_;
};

// Waits for the child and returns its status; kills it when `stop` returns true.
int wait_for(pid_t child, const std::function<bool()>& stop, bool& stopped) {
  int status = 0;
  for (int pause = 1;;) {
    const pid_t ended = waitpid(child, &status, stop ? WNOHANG : 0);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (ended < 0) continue;
    if (!stopped && stop()) {
      stopped = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    pause = std::min(pause + 1, 5);
  }
}

// What posix_spawn takes. The words must live as long.
std::vector<char*> arguments_of(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

int64_t process_id() { return ::getpid(); }

std::string host_name() {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return host;
}

void set_variable(const char* name, const char* value) { ::setenv(name, value, 1); }
void unset_variable(const char* name) { ::unsetenv(name); }

FilterRun run_filter(const std::string& program, const std::vector<std::string>& options,
                     const std::string& text, const std::function<bool()>& stop) {
  FilterRun run;
  const MemoryFile input("input"), output("output");
  if (input.descriptor() < 0 || output.descriptor() < 0 || !input.fill(text)) {
    run.reason = std::strerror(errno);
    return run;
  }
  std::vector<std::string> words{program};
  words.insert(words.end(), options.begin(), options.end());
  const std::vector<char*> arguments = arguments_of(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), 0);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), 1);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    run.end = error == ENOENT ? FilterRun::End::missing : FilterRun::End::failed;
    run.reason = std::strerror(error);
    return run;
  }
  bool stopped = false;
  const int status = wait_for(child, stop, stopped);
  if (stopped) {
    run.end = FilterRun::End::stopped;
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    run.end = FilterRun::End::done;
    run.output = output.content();
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    run.end = FilterRun::End::missing;
  } else {
    run.reason = "it failed";
  }
  return run;
}

void BackgroundProgram::start(std::vector<std::string> words, const std::string& output) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> arguments = arguments_of(words);
  pid_t child = -1;
  const bool started =
      posix_spawnp(&child, words[0].c_str(), &files, &attributes, arguments.data(), environ) == 0;
  child_ = started ? child : -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

bool BackgroundProgram::wait() {
  int status = 0;
  while (child_ > 0 && ::waitpid(pid_t(child_), &status, 0) < 0 && errno == EINTR) {
  }
  return std::exchange(child_, -1) <= 0 || status == 0;
}

}  // namespace lunagrad
