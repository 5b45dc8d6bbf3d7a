#include "script/cli/sweep/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"
#include "runtime/dist/world.h"
#include "runtime/io/json_text.h"

namespace lunagrad::sweep {
namespace {

constexpr size_t kMessages = 4096;  // bytes of standard error to keep
constexpr int kLastReads = 64;      // reads after the process has ended; a pipe holds less than that
// Between two checks of whether a process with closed streams has ended.
constexpr useconds_t kEndPoll = 2000;

// The environment without the variables that make a process a rank.
std::vector<char*> own_environment() {
  std::vector<char*> kept;
  const std::vector<std::string>& dropped = dist::launcher_variables();
  for (char** entry = environ; *entry; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (std::find(dropped.begin(), dropped.end(), name) == dropped.end()) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_as(ErrorKind::file, "a pipe: ", std::strerror(errno));
  return ends;
}

// Runs between fork and exec, where only system calls are allowed.
[[noreturn]] void become(char** argv, char** environment, const char* directory, int out, int err,
                         pid_t worker) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != worker) _exit(1);  // the worker was killed before the line above
  setpgid(0, 0);
  const int none = open("/dev/null", O_RDONLY);
  dup2(none, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  if (chdir(directory) == 0) execve(argv[0], argv, environment);
  const char* const why = std::strerror(errno);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why, std::strlen(why));
  _exit(127);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Child::Child(std::vector<std::string> words, const std::string& directory, std::string metric)
    : metric_(std::move(metric)) {
  if (access(directory.c_str(), X_OK) != 0)
    fail_as(ErrorKind::file, directory, ": ", std::strerror(errno), "; the trials of this sweep run there");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::vector<char*> environment = own_environment();
  const auto out = make_pipe(), err = make_pipe();
  const pid_t worker = getpid();
  pid_ = fork();
  if (pid_ == 0)
    become(argv.data(), const_cast<char**>(environment.data()), directory.c_str(), out[1], err[1], worker);
  const int reason = errno;
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
  if (pid_ < 0) fail_as(ErrorKind::file, "a trial cannot be started: ", std::strerror(reason));
}

Child::~Child() {
  if (pid_ > 0) {
    kill();
    waitpid(pid_, nullptr, 0);
  }
  for (const int file : {out_, err_})
    if (file >= 0) close(file);
}

void Child::stop() {
  if (pid_ > 0) ::kill(pid_, SIGUSR2);
}

void Child::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

bool Child::hear(int milliseconds) {
  std::array<pollfd, 2> files{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};  // closed streams, -1, are ignored
  poll(files.data(), files.size(), out_ < 0 && err_ < 0 ? 0 : milliseconds);
  if (files[0].revents) read_some(out_, lines_);
  if (files[1].revents) read_some(err_, messages_);
  size_t begin = 0;
  for (size_t end; (end = lines_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(lines_.substr(begin, end - begin));
  lines_.erase(0, begin);
  if (messages_.size() > kMessages) messages_.erase(0, messages_.size() - kMessages);
  return files[0].revents || files[1].revents;
}

bool Child::listen(int milliseconds) {
  if (pid_ < 0) return false;
  // The streams may stay open after the process ends, in a process that the script started. The script may
  // also close them early.
  if (hear(milliseconds)) return true;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) {
    if (out_ < 0 && err_ < 0) usleep(kEndPoll);
    return true;
  }
  pid_ = -1;
  // Reads the rest of the output. The number of reads is limited, since a process that the script started may
  // go on writing.
  for (int i = 0; i < kLastReads && hear(0); ++i) {
  }
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) signal_ = WTERMSIG(status);
  if (error_.empty() && exit_code_ != 0) {  // for example after a wrong option
    while (messages_.ends_with('\n')) messages_.pop_back();
    error_ = messages_.substr(messages_.rfind('\n') + 1);
  }
  return false;
}

void Child::read_some(int& file, std::string& text) {
  char block[1 << 14];
  const ssize_t size = read(file, block, sizeof block);
  if (size > 0) {
    text.append(block, size_t(size));
  } else if (size == 0 || errno != EINTR) {
    close(file);
    file = -1;
  }
}

void Child::take_line(const std::string& line) {
  const auto json = read_json<nlohmann::json>(line);
  if (!json.is_object()) return;  // a line that the script itself printed
  const std::string event = json.value("event", "");
  if (event == "step") {
    step_ = json.value("step", step_);
    total_ = json.value("total", int64_t(0));
  } else if (event == "log") {
    const auto metrics = json.find("metrics");
    if (metrics == json.end() || !metrics->contains(metric_)) return;
    ++rows_;
    if ((*metrics)[metric_].is_number()) latest_ = (*metrics)[metric_].get<double>();
  } else if (event == "error" && error_.empty()) {
    error_ = first_line(json.value("message", ""));
  } else if (event == "end") {
    incomplete_ = json.contains("incomplete");
  }
}

}  // namespace lunagrad::sweep
