#pragma once
// A Session owns one script: a Lua state and a Context on a thread of its own that it keeps for life.
// Commands may come from any thread; they are carried out at safe points (after an op called from Lua,
// between nodes of backward, at step boundaries, and in a count hook every 1000 Lua instructions). Events go
// to one sink, called on the session's thread. No Lua type appears here.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/breakpoints.h"
#include "script/step_statistics.h"
#include "script/media.h"
#include "script/profile_view.h"
#include "script/source_place.h"
#include "script/history.h"
#include "script/node_checks.h"
#include "script/value_slice.h"

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
  bool deterministic = false;  // recorded with the run: no operation may add in an order that differs from time to time
  bool sandbox = false;  // the script is not trusted: sandbox.h
  size_t memory = 0;     // bytes that the script and its tensors may take, 0 = no limit (in a sandbox 256 MiB)
  GuardLevel guard = GuardLevel::off;
  bool preload = false;      // `lg` is a global, as for -e and the REPL
  bool interactive = false;  // somebody can resume: lg.run.breakpoint pauses
  std::string command_line;  // for config.json
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
  std::string text;   // output: what print wrote, with its newline; error: message and traceback;
                      // param: the value as text; run_folder, checkpoint: its path; reload: what was kept;
                      // break_hit: what was found, with its explanation
                      // image, histogram, text: its name
  SourcePlace place;  // error: where; state: of a pause, where it stands; others: the line that made the event
  SessionState state = SessionState::idle;
  int64_t step = 0, total = 0;  // step, metrics; total 0 = unknown
  double time = 0;              // seconds since the run began
  std::vector<std::pair<std::string, double>>
      metrics;                    // metrics; param: one, its name and value (NaN for text)
  Outcome outcome = Outcome::ok;  // ended
  int exit_code = 0;              // ended: the outcome's number, or what the script gave os.exit
  uint64_t breakpoint = 0, node = 0;  // break_hit: ids; node 0: the op was not recorded
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
  bool log = false;   // a slider should be logarithmic
  bool live = false;  // a handle: a change reaches the script at its next step
  std::vector<std::string> choices;  // the values that a text may have; empty: any
  std::string fallback;              // the script's own value
  SourcePlace place;
};

// One tensor as a node shows it: text, so that a viewer needs no engine type.
struct OperandInfo {
  uint64_t node = 0;    // id of the node that made it, 0 for none
  uint64_t tensor = 0;  // id
  std::string name;     // of the op's operand ("input", "weight") or of the parameter ("fc1.weight")
  std::vector<int64_t> shape, strides;
  std::string dtype;
  bool saved = false;  // the gradient reads this value
  uint32_t saved_version = 0, version_now = 0;
};

// One node of the tape.
struct NodeInfo {
  uint64_t id = 0;
  std::string op;  // "matmul"; "leaf" for a parameter or input
  std::string device;
  std::string module;  // "net.1"
  SourcePlace place;
  std::vector<std::pair<std::string, std::string>> attributes;  // the op's parameters, printed
  std::vector<OperandInfo> inputs, outputs;
  double forward_ns = 0, backward_ns = 0;
  int64_t bytes = 0;  // of the outputs
  std::optional<Summary> output_summary, gradient_summary;  // of the first output, while statistics are watched
};

// The tape of one backward pass, newest node first. Immutable; any thread may read it.
struct TapeSnapshot {
  int64_t step = 0;
  std::vector<NodeInfo> nodes;
  int64_t statistics_step = 0;  // the step that the nodes' summaries are of, 0 when they have none
};

// A tensor of a kept step: what a node made or read, or the gradient that arrived for it.
struct TensorPlace {
  int64_t step = -1;  // -1: the latest
  uint64_t node = 0;
  bool input = false;  // operand `index` of the node instead of its output
  int index = 0;
  Which which = Which::output;
  bool operator==(const TensorPlace&) const = default;
};

// One tensor of a batch: statistics over all elements, and the first of them.
struct ColumnView {
  std::string note;  // "written to since the loader gave it, by add_ (train.lua:12)"
  std::vector<int64_t> shape;
  std::string dtype;
  std::vector<float> values;  // row-major, as many as were asked for
  Statistics statistics;
};

// The batch that a data loader gave last.
struct BatchView {
  bool available = false;
  std::string loader;               // "DataLoader(1,000 samples, …)"
  int64_t epoch = 0, batch = 0, batches = 0;  // batches: of an epoch
  int64_t step = 0;                 // the step that was going on
  std::vector<ColumnView> columns;
};

// How long a script has not looked up while it should, and the call of Lua's own library that it is in.
struct Silence {
  double seconds = 0;
  std::string call;   // "os.execute", "" for none that is known
  SourcePlace place;  // of that call
};

class Session {
 public:
  explicit Session(EventSink sink);
  ~Session();  // stops what runs, waits for it
  Session(const Session&) = delete;

  // Each starts a run in a fresh Lua state; returns at once. A run that is going on is stopped first.
  void run_file(const std::string& path, RunOptions = {});
  void run_text(const std::string& code, const std::string& chunk_name, RunOptions = {});
  // Evaluates code in the Lua state there is (made when there is none), at the next safe point of a run or at
  // once when idle; the values are printed as the REPL does, as output events. `done` is called on the
  // session's thread.
  void eval(const std::string& code, std::function<void(bool ok)> done = {});

  void pause();  // at the next safe point
  void resume();
  // When paused: to the next step boundary. While the tape is watched, a pause() amid a step is left by the rest of that
  // step and a whole one, whose values can be shown.
  void step();
  void step_op();  // when paused: to the end of the next op, or backward pass, that the script calls
  // When paused: to the beginning of the next line, other than this one, that runs in the script or in what it required
  // from outside the bundled library. Calls are followed into such functions; coroutines that had begun before are not.
  void step_line();
  void stop();  // as the first Ctrl-C: at the next step boundary, at the latest after `grace` of no boundary
  void interrupt();  // as the second: a Lua error now, also inside a kernel
  Outcome wait();    // until idle; how the last run ended
  // What a script is in that leaves a pause, a stop, an interrupt or another run waiting: nothing while it looks up.
  std::optional<Silence> silence() const;
  // The changed script, its file read again or `source`, takes the place of the one that runs, at the end of the step.
  // It begins with line 1 in a fresh Lua state; what lg.run.state registered, the step, the random numbers, edited
  // parameters and the run's folder are kept, and an event of kind reload says what was. A script that was paused is
  // paused again before its next step. What does not compile is an error event and changes nothing.
  // When idle: a run that ended well starts anew; one that failed or was stopped goes on with the state of its last
  // step, if there is one. A state that was handed to a script that failed before it ended a step is kept for the next.
  void reload(std::optional<std::string> source = {});
  // The files that a reload reads: the script's, and those that it required from outside the bundled library.
  std::vector<std::string> files() const;
  SessionState state() const;

  // What the script declared so far, in order.
  std::vector<ParamInfo> params() const;
  // Gives a parameter a value from the next step boundary on; false when there is none of that name or the
  // value does not fit its type, range or choices: `why` then says which. Recorded in the run folder. A script that does not read it in the next two
  // steps, since it is not live, is reported in a warning.
  bool set_param(const std::string& name, const std::string& value, std::string* why = nullptr);

  // What could follow the last name in `line` (globals, fields, methods): whole names. `done` is called on
  // the session's thread, at once when idle.
  void complete(const std::string& line, std::function<void(std::vector<std::string>)> done);

  // Keep tapes for a viewer: from the next step on, tape() is that of the latest backward.
  void watch_tape(bool on);
  std::shared_ptr<const TapeSnapshot> tape() const;

  // Looks at the numbers of training steps: norms, histograms, NaN. With `every`, at each such step whatever it costs;
  // else at as many as cost a fiftieth of the time.
  void watch_statistics(bool on, int64_t every = 0);
  // Those of the run with a `number` above this, oldest first. The latest of them are kept.
  std::vector<StepStatisticsPtr> statistics(uint64_t number = 0) const;

  // Breakpoints outlast runs. A run pauses behind the op, or amid the backward pass, that met one: an event of kind
  // break_hit says which, and `it` is the tensor in what is evaluated. They count from the next op on. Ids are those
  // of breakpoints(); 0 and false: it was refused, problem_of() says why, or there is none.
  uint64_t add_breakpoint(Breakpoint);
  bool change_breakpoint(const Breakpoint&);
  bool remove_breakpoint(uint64_t id);
  std::vector<Breakpoint> breakpoints() const;
  std::vector<BreakHit> break_hits() const;  // of the run, the latest thousand
  // Measures where time and memory go, from the next step on: passes over steps so that it costs a run at most 4 %.
  void watch_profile(bool on);
  void reset_profile();
  std::shared_ptr<const ProfileView> profile() const;  // null until a step was measured

  // Keep hold of the latest batch of a data loader, for batch(): at most `limit` elements of each of its tensors.
  void watch_data(bool on);
  void batch(int64_t limit, std::function<void(BatchView)> done);
  // The steps that are kept, and the tape of one of them; null when it was dropped. Values are captured in steps that
  // begin while a step is asked for or a pause is near, and in the next one after capture_values(). The oldest steps go
  // first when the budget is used up.
  History history() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  void set_history_budget(size_t bytes);
  void capture_values();
  // Looks at a tensor of a kept step, on the session's thread at a safe point, where `done` is called: with what there
  // is, or with the reason why there is nothing. Once `stop` is requested the answer is not made. A tensor whose
  // statistics take long is answered twice: at once, and with them behind what was asked in the meantime.
  void inspect(const TensorPlace&, const SliceQuery&, std::stop_token stop, std::function<void(SliceView)> done);
  void inspect_tiles(const TensorPlace&, const TileQuery&, std::stop_token stop, std::function<void(TileView)> done);
  // The slice as text, every element; an error when it has more than a million.
  void print_slice(const TensorPlace&, const SliceQuery&, SliceFormat,
                   std::function<void(std::string text, std::string error)> done);
  // The whole tensor as a .npy file.
  void save_tensor(const TensorPlace&, const std::string& path, std::function<void(std::string error)> done);
  // Run the call of a captured node again, without a trace in the run: its gradients and random numbers stay as they
  // are. `done` is called on the session's thread.
  void check_gradient(int64_t step, uint64_t node, std::stop_token stop, std::function<void(GradientCheck)> done);
  void compare_devices(int64_t step, uint64_t node, std::stop_token stop, std::function<void(DeviceComparison)> done);

  // The engine's memory, for a status line.
  struct Memory {
    size_t in_use = 0, peak = 0;
  };
  Memory memory() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace lunagrad
