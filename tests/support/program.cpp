#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "folders.h"
#include "tests/support/timing.h"

namespace lunagrad::test {
namespace {

using tests::eventually;

[[noreturn]] void execute(const std::vector<std::string>& arguments, const std::vector<std::string>& env) {
  for (const std::string& setting : env) putenv(const_cast<char*>(setting.c_str()));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

int wait_for(int& pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  pid = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void kill_and_wait(int& pid) {
  if (pid < 0) return;
  kill(pid, SIGKILL);
  wait_for(pid);
}

}  // namespace

std::string make_temporary_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "lunagrad-XXXXXX").string();
  return mkdtemp(path.data()) ? path : std::string();
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

Program::Program(const std::vector<std::string>& argv, const std::string& input,
                 const std::vector<std::string>& env, const std::string& directory)
    : folder_(make_temporary_folder()) {
  std::ofstream(folder_ + "/in", std::ios::binary) << input;
  pid_ = fork();
  if (pid_ != 0) return;
  dup2(open((folder_ + "/in").c_str(), O_RDONLY), STDIN_FILENO);
  dup2(open((folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDOUT_FILENO);
  dup2(open((folder_ + "/err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
  if (!directory.empty() && chdir(directory.c_str()) != 0) _exit(126);
  execute(argv, env);
}

Program::~Program() {
  kill_and_wait(pid_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Program::out() const { return read_file(folder_ + "/out"); }
std::string Program::err() const { return read_file(folder_ + "/err"); }

bool Program::wrote(const std::string& text) {
  return eventually(
      [&] { return out().find(text) != std::string::npos || err().find(text) != std::string::npos; });
}

void Program::signal(int number) {
  kill(pid_, number);
  // Signals of one kind are merged while one is pending.
  eventually([&] {
    std::istringstream status(read_file("/proc/" + std::to_string(pid_) + "/status"));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && line.find('Z') != std::string::npos) return true;
      if (line.starts_with("ShdPnd:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) == 0;
    }
    return true;
  });
}

bool Program::running() const {
  siginfo_t ended{};
  return pid_ > 0 && waitid(P_PID, id_t(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

Finished Program::finish() {
  const int code = wait_for(pid_);
  return {code, out(), err()};
}

TerminalProgram::TerminalProgram(const std::vector<std::string>& argv, const std::vector<std::string>& env) {
  winsize size{24, 80, 0, 0};
  pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ == 0) execute(argv, env);
}

TerminalProgram::~TerminalProgram() {
  kill_and_wait(pid_);
  close(terminal_);
}

void TerminalProgram::type(const std::string& keys) {
  [[maybe_unused]] const ssize_t written = write(terminal_, keys.data(), keys.size());
}

bool TerminalProgram::read_some(double seconds) {
  pollfd file{terminal_, POLLIN, 0};
  if (poll(&file, 1, int(seconds * 1000)) <= 0) return true;
  char buffer[4096];
  const ssize_t count = read(terminal_, buffer, sizeof buffer);
  if (count > 0) screen_.append(buffer, size_t(count));
  return count > 0;
}

bool TerminalProgram::wrote(const std::string& text) {
  const double limit = tests::seconds_of(CLOCK_MONOTONIC) + tests::kHangSeconds;
  for (;;) {
    const size_t found = screen_.find(text, seen_);
    if (found != std::string::npos) {
      seen_ = found + text.size();
      return true;
    }
    if (tests::seconds_of(CLOCK_MONOTONIC) > limit || !read_some(0.05)) return false;
  }
}

bool TerminalProgram::works(double seconds) {
  clockid_t clock;
  if (clock_getcpuclockid(pid_, &clock) != 0) return false;
  const double until = tests::seconds_of(clock) + seconds;
  return eventually([&] { return tests::seconds_of(clock) >= until; });
}

int TerminalProgram::finish() {
  // A program that does not end is killed: code 137.
  const double limit = tests::seconds_of(CLOCK_MONOTONIC) + tests::kHangSeconds;
  while (read_some(0.1))
    if (tests::seconds_of(CLOCK_MONOTONIC) > limit) kill(pid_, SIGKILL);
  return wait_for(pid_);
}

const std::string kProgram = LUNAGRAD_BINARY_DIR "/lunagrad";

Folder::Folder() : path_(make_temporary_folder()) {}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& content) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

Finished Folder::run(std::vector<std::string> arguments, const std::string& input,
                     const std::vector<std::string>& env) const {
  arguments.insert(arguments.begin(), kProgram);
  return Program(arguments, input, env, path_).finish();
}

}  // namespace lunagrad::test
