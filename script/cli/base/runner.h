#pragma once
// Runs one script for the command line: its output on the standard streams, progress, signals and the time
// limit, and its exit code.
#include <string>
#include <vector>

#include "script/cli/base/progress.h"
#include "script/session.h"

namespace lunagrad {

// Exit codes that are not an Outcome.
inline constexpr int kExitTestFailed = 3;
inline constexpr int kExitTimeout = 124;

struct RunRequest {
  std::string script;  // a file …
  std::string code;    // … or a text, when `script` is empty
  std::string chunk = "(command line)";
  RunOptions options;
  double timeout = 0;  // seconds, 0 = none
  bool json = false;   // events as JSON lines on stdout, all else on stderr
  ProgressStyle progress = ProgressStyle::automatic;
  bool announce_folder = true;  // at the end: where the run was saved
  std::string profile;          // where a profile of the run is written, "" = nowhere
  bool kernels = false;         // at the end: which kernels devices ran
  bool watch = false;           // reload the script when it changes; only a signal ends
};

// The exit code.
int run_and_wait(const RunRequest&);
// Runs a line of code with `lg` as a global and without a run folder.
int run_code(const std::string& code, std::vector<std::string> arguments, RunRequest = {});

}  // namespace lunagrad
