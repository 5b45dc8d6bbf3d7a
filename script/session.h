#pragma once
// Runs Lua scripts. A Session owns one thread, and on it one Lua state and one Context.
//
// Threads: every function may be called from any thread and, except wait(), returns at once. Requests are
// carried out at safe points: after an op called from Lua, between nodes of a backward pass, at step
// boundaries, and in a count hook every 1000 Lua instructions. Callbacks (`done`) and the event sink are
// called on the session's thread; they must not call wait(). Ownership: what functions return are copies or
// shared, immutable values; they stay valid after the session. Errors: an error in a script is an event of
// kind error; the functions themselves do not throw. No Lua type appears here.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/tensor.h"
#include "script/view/batch.h"
#include "script/view/breakpoints.h"
#include "script/view/history.h"
#include "script/view/leaks.h"
#include "script/view/node_checks.h"
#include "script/view/probe.h"
#include "script/view/profile.h"
#include "script/view/rank_profile.h"
#include "script/view/run.h"
#include "script/view/step_comparison.h"
#include "script/view/step_statistics.h"
#include "script/view/tape.h"
#include "script/view/value_slice.h"

namespace lunagrad {

struct Op;

// How long a script has reached no safe point although a request waits, and the function of Lua's own library
// that it is calling.
struct Silence {
  double seconds = 0;
  std::string call;   // "os.execute"; "" when none is known
  SourcePlace place;  // of the call
};

class SessionThread;

class Session {
 public:
  explicit Session(EventSink sink);
  ~Session();  // stops the running script and waits for its end
  Session(const Session&) = delete;

  // Each starts a run in a fresh Lua state. A running script is stopped first. A run that has not begun is
  // replaced and sends no events. A stop before the first line also ends the run, with its event of kind
  // ended.
  void run_file(const std::string& path, RunOptions = {});
  void run_text(const std::string& code, const std::string& chunk_name, RunOptions = {});
  // Evaluates code in the current Lua state (a new one if there is none), at the next safe point of a run, or
  // at once when idle. Results are output events, formatted as the REPL does. `done` says whether it
  // succeeded.
  void eval(const std::string& code, std::function<void(bool ok)> done = {});

  void pause();  // at the next safe point
  void resume();
  // When paused: run to the next step boundary. When the current step was not captured from its start, step()
  // runs the rest of that step and one whole step, because only a whole step has all its values.
  void step();
  void step_op();  // when paused: run to the end of the next op, or backward pass, that the script calls
  // When paused: run to the start of the next line of the script, or of a module outside the bundled library.
  // Steps into functions of these files. Coroutines that started earlier are not followed.
  void step_line();
  void stop();  // like the first Ctrl-C: ends the run at the next step boundary, or after 10 s without one
  void interrupt();   // like the second Ctrl-C: a Lua error now, also inside a kernel
  void checkpoint();  // writes a checkpoint at the end of the step, and the run goes on; nothing when idle
  Outcome wait();     // blocks until idle; returns how the last run ended
  // Set while a pause, stop, interrupt or new run waits for a script that reaches no safe point.
  std::optional<Silence> silence() const;
  // At the end of the step, replaces the running script by the changed script: its file read again, or
  // `source`. The new script starts at line 1 in a fresh Lua state. The values registered with lg.run.state,
  // the step number, the random number generator, edited parameters and the run folder are kept; an event of
  // kind reload lists them. A paused script is paused again before its next step. A script that does not
  // compile is an error event and changes nothing. When idle: a run that ended well starts from its first
  // step; a run that failed or was stopped continues with the state of its last step, if there is one. When
  // the new script fails before it ends a step, the state handed to it is kept for the next reload. `modules`
  // are used in place of the files of these modules.
  void reload(std::optional<std::string> source = {}, std::optional<Modules> modules = {});
  // The files that a reload reads: the script, and the modules that it required from outside the bundled
  // library.
  std::vector<std::string> files() const;
  SessionState state() const;

  // ---- lg.host: the values that the script shares with this program; any thread. Tensors are copied. Sets
  // lg.host.NAME: before a run, or during a run from its next step on.
  void set(const std::string& name, const Tensor& value);
  // The value that the script assigned to lg.host.NAME up to its last finished step, else the value of set();
  // undefined when there is neither.
  Tensor get(const std::string& name) const;
  // lg.host.NAME(tensors and numbers …) calls the function on the session's thread. Values that it computes
  // with the engine's ops have gradients. Its exceptions are errors of the script.
  void add_function(const std::string& name, std::function<TensorList(const TensorList&)> function);
  // lg.host.NAME(…) runs an op of this program. Its record (runtime/core/op.h) says how it computes and what
  // its gradient is, and must outlive the session.
  void add_op(const Op& record);

  // The parameters that the script has declared so far, in order of declaration.
  std::vector<ParamInfo> params() const;
  // Sets a parameter from the next step boundary on and records the change in the run folder. Returns false,
  // with the reason in `why`, if no parameter has that name, if the value does not fit its type, range or
  // choices, or while a run with several ranks is under way. If the script does not read the parameter in the
  // next two steps, a warning event says so.
  bool set_param(const std::string& name, const std::string& value, std::string* why = nullptr);

  // The completions of the last name in `line` (globals, fields, methods), as whole names, sorted.
  void complete(const std::string& line, std::function<void(std::vector<std::string>)> done);

  // Keeps tapes for a viewer: from the next step on, tape() is the tape of the latest backward pass.
  void watch_tape(bool on);
  std::shared_ptr<const TapeSnapshot> tape() const;
  // In steps with several backward passes, tapes show the pass with this key (PassInfo) where there is one;
  // 0: the pass of the outer loss.
  void choose_pass(uint64_t key);
  // The groups of the latest step whose calls were deferred; may be a moment old. null: no calls were
  // deferred while tapes were kept.
  std::shared_ptr<const StepPlan> plan() const;

  // Collects statistics of training steps: norms, histograms, NaN counts. With `every` > 0: at every
  // `every`-th step, whatever it costs; with 0: at as many steps as cost 2 % of the time.
  void watch_statistics(bool on, int64_t every = 0);
  // The statistics of this run whose `number` is larger than this, oldest first. Only the latest statistics
  // are kept.
  std::vector<StepStatisticsPtr> statistics(uint64_t number = 0) const;

  // Breakpoints stay across runs and take effect with the next op. A run pauses after the op, or inside the
  // backward pass, that met a breakpoint: an event of kind break_hit names it, and eval() sees the tensor as
  // `it`. add_breakpoint returns the id, or 0 if problem_of() finds a fault. The others return false for a
  // fault and for an unknown id.
  uint64_t add_breakpoint(Breakpoint);
  bool change_breakpoint(const Breakpoint&);
  bool remove_breakpoint(uint64_t id);
  std::vector<Breakpoint> breakpoints() const;
  std::vector<BreakHit> break_hits() const;  // of the run, at most the latest 1000
  // Probes stay across runs and take effect with the next step. Each value is an event of kind probe. They
  // change nothing: an expression that writes, draws random numbers or calls lg.run is an error, after which
  // the probe is gone. add_probe returns its id, or 0 with the reason in `why` when it does not compile.
  uint64_t add_probe(Probe, std::string* why = nullptr);
  bool remove_probe(uint64_t id);
  std::vector<Probe> probes() const;
  // Profiles time and memory from the next step on. Skips steps so that profiling costs at most 4 % of the
  // time.
  void watch_profile(bool on);
  void reset_profile();
  std::shared_ptr<const ProfileView> profile() const;  // null until a step was measured
  // The profile of a run with several ranks, on rank 0, while watch_profile() is on there; null until a step
  // was measured.
  std::shared_ptr<const RankProfile> rank_profile() const;

  // The graphs and tensors that outlived the steps in which they were made, for a run with RunOptions::leaks,
  // while watch_leaks() is on, and after find_leaks(); null before the first walk.
  std::shared_ptr<const LeakReport> leaks() const;
  // From the next step on, and in later runs: walks the values that the script keeps alive at the ends of
  // steps, which takes up to a fifth of the time.
  void watch_leaks(bool on);
  // Walks once, at the next safe point, and then calls `done`: leaks() has the result.
  void find_leaks(std::function<void()> done);

  // Keeps the latest batch of a data loader for batch(), which returns at most `limit` elements of each
  // tensor.
  void watch_data(bool on);
  void batch(int64_t limit, std::function<void(BatchView)> done);
  // The steps that are kept, and the tape of one of them (null if it was dropped). All values are kept of
  // steps that begin during a single step or with a pause requested, and of the next step after
  // capture_values(). While a script is paused, or has ended, other values of its latest step are recomputed
  // when they are requested. When the budget (bytes) is used up, the oldest steps are dropped first.
  History history() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  void set_history_budget(size_t bytes);
  void capture_values();
  // Reads a tensor of a kept step at a safe point. `done` gets the values, or the reason why there are none.
  // After `stop` is requested, `done` is not called. If the statistics take long, `done` is called twice: at
  // once without them, and again with them after the requests made in the meantime.
  void inspect(const TensorPlace&, const SliceQuery&, std::stop_token stop,
               std::function<void(SliceView)> done);
  void inspect_tiles(const TensorPlace&, const TileQuery&, std::stop_token stop,
                     std::function<void(TileView)> done);
  // The whole slice as text; an error if it has more than a million elements.
  void print_slice(const TensorPlace&, const SliceQuery&, SliceFormat,
                   std::function<void(std::string text, std::string error)> done);
  // Writes the whole tensor as a .npy file; `error` is empty on success.
  void save_tensor(const TensorPlace&, const std::string& path, std::function<void(std::string error)> done);
  // Runs the call of a captured node again. The run's gradients and random numbers stay unchanged.
  void check_gradient(int64_t step, uint64_t node, std::stop_token stop,
                      std::function<void(GradientCheck)> done);
  void compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                       std::function<void(DeviceComparison)> done);
  // Before a run: captures the values of one step, counted from 1, and stops the run at the end of that step.
  // In a script without lg.run.steps a step ends with an optimizer's step, or without an optimizer with each
  // backward pass.
  void stop_behind(int64_t step);
  bool reached() const;  // the run has come to that step's end
  // Computes each node of a kept step in another way and compares (step_comparison.h); -1: the step of
  // stop_behind(), else the latest. `progress` is called on the session's thread before each computation.
  void compare_step(int64_t step, const ComparisonQuery&, std::stop_token stop,
                    std::function<void(size_t done, size_t all, std::string_view name)> progress,
                    std::function<void(StepComparison)> done);

  // Bytes allocated on the device of the latest script.
  struct Memory {
    size_t in_use = 0, peak = 0;
  };
  Memory memory() const;

 private:
  std::unique_ptr<SessionThread> impl_;
};

}  // namespace lunagrad
