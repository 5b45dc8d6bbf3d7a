#pragma once
// A run as its owner and its viewers see it: the options that it starts with, the events that it sends, the
// parameters that the script declares and how it ended. Plain values; any thread may hold a copy.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "script/view/media.h"
#include "script/view/source_place.h"

namespace lunagrad {

// Where NaN and Inf end a run: nowhere, in the loss and gradients of a step, in each op.
enum class GuardLevel { off, step, op };

// A live parameter's new value, taken over at the end of a step.
struct ParamEdit {
  int64_t step = 0;
  std::string name, value;
};

// How a test of a script ended: its message is empty when it passed.
struct TestResult {
  std::string name, message;
  double seconds = 0;
};

// What the command line can say about a run.
struct RunOptions {
  std::vector<std::string> arguments;      // arg[1…] and `...` of the script
  std::map<std::string, std::string> set;  // --set k=v, read by lg.run.param
  std::optional<uint64_t> seed;
  std::string device;            // "" = cpu
  std::optional<int64_t> steps;  // overrides the total of lg.run.steps
  std::string run_directory;     // "" = runs/<time>-<script>-<id>
  bool write_run = true;         // false: no run folder
  std::string resume;            // a run folder or a checkpoint to go on from, "" = from the start
  std::vector<ParamEdit> edits;  // made when their steps end, as somebody at the window did in an earlier run
  std::optional<std::string> source;  // in place of what the script's file says now
  bool tensorboard = false;           // the run folder also gets an event file
  bool strict_device = false;
  bool deterministic =
      false;  // recorded with the run: no operation may add in an order that differs from time to time
  bool sandbox = false;  // the script is not trusted: sandbox.h
  size_t memory = 0;  // bytes that the script and its tensors may take, 0 = no limit (in a sandbox 256 MiB)
  GuardLevel guard = GuardLevel::off;
  bool preload = false;                            // `lg` is a global, as for -e and the REPL
  bool interactive = false;                        // somebody can resume: lg.run.breakpoint pauses
  std::string command_line;                        // for config.json
  std::function<void(const TestResult&)> on_test;  // the script holds tests; on the session's thread
};

enum class SessionState { idle, running, paused, stopping };

// How a script ended. The numbers are the exit codes of the command line.
enum class Outcome : int {
  ok = 0,
  error = 1,
  usage = 2,
  numeric = 4,
  device = 5,
  file = 6,
  memory = 8,
  stopped = 130
};

struct Event {
  enum class Kind {
    output,
    warning,
    error,
    state,
    step,
    metrics,
    param,
    run_folder,
    checkpoint,
    reload,
    break_hit,
    image,
    histogram,
    text,
    ended
  } kind;
  std::string text;  // output: what print wrote, with its newline; error: message and traceback;
                     // param: the value as text; run_folder, checkpoint: its path; reload: what was kept;
                     // break_hit: what was found, with its explanation
                     // image, histogram, text: its name
  SourcePlace
      place;  // error: where; state: of a pause, where it stands; others: the line that made the event
  SessionState state = SessionState::idle;
  int64_t step = 0, total = 0;  // step, metrics; total 0 = unknown
  double time = 0;              // seconds since the run began
  std::vector<std::pair<std::string, double>>
      metrics;                         // metrics; param: one, its name and value (NaN for text)
  Outcome outcome = Outcome::ok;       // ended
  int exit_code = 0;                   // ended: the outcome's number, or what the script gave os.exit
  uint64_t breakpoint = 0, node = 0;   // break_hit: ids; node 0: the op was not recorded
  std::shared_ptr<const Media> media;  // image, histogram, text: what lg.run was given, its name in it
};
using EventSink = std::function<void(const Event&)>;

// A parameter that the script declared with lg.run.param or lg.run.live.
struct ParamInfo {
  std::string name;
  std::string value;             // as text: "0.001", "true", "adam"
  std::optional<double> number;  // of a numeric parameter
  std::optional<double> min, max;
  bool integer = false;
  bool log = false;                  // a slider should be logarithmic
  bool live = false;                 // a handle: a change reaches the script at its next step
  std::vector<std::string> choices;  // the values that a text may have; empty: any
  std::string fallback;              // the script's own value
  SourcePlace place;
};

}  // namespace lunagrad
