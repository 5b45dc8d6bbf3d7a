#pragma once
// Runs one script for the command line: writes its output to the standard streams, shows its progress,
// handles signals and the time limit, and returns the exit code. For the main thread.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "script/cli/base/progress.h"
#include "script/guard/guard.h"
#include "script/session.h"

namespace lunagrad {

// Exit codes that are not an Outcome.
inline constexpr int kExitTestFailed = 3;
inline constexpr int kExitLeak = 9;
inline constexpr int kExitTimeout = 124;

inline constexpr int64_t kMostThreads = 1024;

struct RunRequest {
  std::string script;                    // a file
  std::string code;                      // the text to run when `script` is empty
  std::string chunk = "(command line)";  // the name of that text
  RunOptions options;
  bool json = false;  // events as JSON lines on stdout, everything else on stderr
  ProgressStyle progress = ProgressStyle::automatic;
  bool announce_folder = true;     // print the run folder at the end
  std::string profile;             // file for a profile of the run, "" = none
  std::string profile_target;      // the file that is written under its name, "" = itself
  GuardLimits guard;               // of a sandbox: places besides those that the options name
  bool kernels = false;            // at the end, list the kernels that the devices ran
  std::optional<int64_t> threads;  // of the CPU
  std::optional<int64_t> stop_at;  // a stop, as by Ctrl-C, at the end of this step
  bool watch = false;              // reload the script when it changes, until a signal comes
  EventSink also;                  // sees the run's events as well, on the session's thread
  // Of a command that looks at the run when it is over: what the script prints goes to stderr.
  std::function<void(Session&)> before;
  // `wait` returns at a signal, at the latest after a moment, and says whether one came: the answer does not
  // matter any more. Not called after a signal or at the time limit. Gets the run's exit code, returns that
  // of the program.
  std::function<int(Session&, int exit_code, const std::function<bool()>& wait)> after;
};

// Runs the script and returns the exit code.
int run_and_wait(const RunRequest&);
// Runs a line of code with `lg` as a global and without a run folder.
int run_code(const std::string& code, std::vector<std::string> arguments, RunRequest = {});

}  // namespace lunagrad
