#include "runtime/io/filter.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

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

}  // namespace

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
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
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

}  // namespace lunagrad
