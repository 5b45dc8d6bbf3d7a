#pragma once
// Runs one script for the command line: writes its output to the standard streams, shows its progress,
// handles signals and the time limit, and returns the exit code. For the main thread.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "script/cli/base/progress.h"
#include "script/guard/guard_limits.h"
#include "script/session.h"

namespace lunagrad {

// Exit codes besides the codes of Outcome.
inline constexpr int kExitTestFailed = 3;
inline constexpr int kExitDiffers = 7;
inline constexpr int kExitLeak = 9;
inline constexpr int kExitTimeout = 124;

inline constexpr int64_t kMostThreads = 1024;

struct RunRequest {
  std::string script;                    // a file
  std::string code;                      // used when `script` is empty
  std::string chunk = "(command line)";  // the name of `code`
  RunOptions options;
  bool json = false;  // events as JSON lines on stdout, everything else on stderr
  ProgressStyle progress = ProgressStyle::automatic;
  bool announce_folder = true;     // print the run folder at the end
  std::string profile;             // file for a profile of the run, "" = none
  std::string profile_target;      // the path that is actually written, "" = `profile`
  GuardLimits guard;               // of the sandbox: places in addition to those in the options
  bool kernels = false;            // at the end, list the kernels that the devices ran
  std::optional<int64_t> threads;  // on the CPU
  std::optional<int64_t> stop_at;  // stop, as by Ctrl-C, at the end of this step
  bool watch = false;              // reload the script when it changes, until a signal comes
  EventSink also;                  // also receives the run's events, on the session's thread
  // For a command that examines the run after its end; the script's output then goes to stderr.
  std::function<void(Session&)> before;
  // Gets the run's exit code and returns the program's exit code. Not called after a signal or at the time
  // limit. `wait` returns when a signal comes, or after a moment. True: a signal came, and the result no
  // longer matters.
  std::function<int(Session&, int exit_code, const std::function<bool()>& wait)> after;
};

// Runs the script and returns the exit code.
int run_and_wait(const RunRequest&);
// Runs a line of code with `lg` as a global and without a run folder.
int run_code(const std::string& code, std::vector<std::string> arguments, RunRequest = {});

}  // namespace lunagrad
