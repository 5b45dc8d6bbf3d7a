#pragma once
// A Session owns one script: a Lua state and a Context on a thread of its own that it keeps for life.
// Commands may come from any thread; they are carried out at safe points (after an op called from Lua,
// between nodes of backward, at step boundaries, and in a count hook every 1000 Lua instructions). Events go
// to one sink, called on the session's thread. No Lua type appears here.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "script/view/batch.h"
#include "script/view/breakpoints.h"
#include "script/view/history.h"
#include "script/view/node_checks.h"
#include "script/view/profile.h"
#include "script/view/run.h"
#include "script/view/step_statistics.h"
#include "script/view/tape.h"
#include "script/view/value_slice.h"

namespace lunagrad {

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
  // When paused: to the next step boundary. While the tape is watched, a pause() amid a step is left by the
  // rest of that step and a whole one, whose values can be shown.
  void step();
  void step_op();  // when paused: to the end of the next op, or backward pass, that the script calls
  // When paused: to the beginning of the next line, other than this one, that runs in the script or in what
  // it required from outside the bundled library. Calls are followed into such functions; coroutines that had
  // begun before are not.
  void step_line();
  void stop();  // as the first Ctrl-C: at the next step boundary, at the latest after `grace` of no boundary
  void interrupt();  // as the second: a Lua error now, also inside a kernel
  Outcome wait();    // until idle; how the last run ended
  // What a script is in that leaves a pause, a stop, an interrupt or another run waiting: nothing while it
  // looks up.
  std::optional<Silence> silence() const;
  // The changed script, its file read again or `source`, takes the place of the one that runs, at the end of
  // the step. It begins with line 1 in a fresh Lua state; what lg.run.state registered, the step, the random
  // numbers, edited parameters and the run's folder are kept, and an event of kind reload says what was. A
  // script that was paused is paused again before its next step. What does not compile is an error event and
  // changes nothing. When idle: a run that ended well starts anew; one that failed or was stopped goes on
  // with the state of its last step, if there is one. A state that was handed to a script that failed before
  // it ended a step is kept for the next.
  void reload(std::optional<std::string> source = {});
  // The files that a reload reads: the script's, and those that it required from outside the bundled library.
  std::vector<std::string> files() const;
  SessionState state() const;

  // What the script declared so far, in order.
  std::vector<ParamInfo> params() const;
  // Gives a parameter a value from the next step boundary on; false when there is none of that name or the
  // value does not fit its type, range or choices: `why` then says which. Recorded in the run folder. A
  // script that does not read it in the next two steps, since it is not live, is reported in a warning.
  bool set_param(const std::string& name, const std::string& value, std::string* why = nullptr);

  // What could follow the last name in `line` (globals, fields, methods): whole names. `done` is called on
  // the session's thread, at once when idle.
  void complete(const std::string& line, std::function<void(std::vector<std::string>)> done);

  // Keep tapes for a viewer: from the next step on, tape() is that of the latest backward.
  void watch_tape(bool on);
  std::shared_ptr<const TapeSnapshot> tape() const;

  // Looks at the numbers of training steps: norms, histograms, NaN. With `every`, at each such step whatever
  // it costs; else at as many as cost a fiftieth of the time.
  void watch_statistics(bool on, int64_t every = 0);
  // Those of the run with a `number` above this, oldest first. The latest of them are kept.
  std::vector<StepStatisticsPtr> statistics(uint64_t number = 0) const;

  // Breakpoints outlast runs. A run pauses behind the op, or amid the backward pass, that met one: an event
  // of kind break_hit says which, and `it` is the tensor in what is evaluated. They count from the next op
  // on. Ids are those of breakpoints(); 0 and false: it was refused, problem_of() says why, or there is none.
  uint64_t add_breakpoint(Breakpoint);
  bool change_breakpoint(const Breakpoint&);
  bool remove_breakpoint(uint64_t id);
  std::vector<Breakpoint> breakpoints() const;
  std::vector<BreakHit> break_hits() const;  // of the run, the latest thousand
  // Measures where time and memory go, from the next step on: passes over steps so that it costs a run at
  // most 4 %.
  void watch_profile(bool on);
  void reset_profile();
  std::shared_ptr<const ProfileView> profile() const;  // null until a step was measured

  // Keep hold of the latest batch of a data loader, for batch(): at most `limit` elements of each of its
  // tensors.
  void watch_data(bool on);
  void batch(int64_t limit, std::function<void(BatchView)> done);
  // The steps that are kept, and the tape of one of them; null when it was dropped. Values are captured in
  // steps that begin while a step is asked for or a pause is near, and in the next one after
  // capture_values(). The oldest steps go first when the budget is used up.
  History history() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  void set_history_budget(size_t bytes);
  void capture_values();
  // Looks at a tensor of a kept step, on the session's thread at a safe point, where `done` is called: with
  // what there is, or with the reason why there is nothing. Once `stop` is requested the answer is not made.
  // A tensor whose statistics take long is answered twice: at once, and with them behind what was asked in
  // the meantime.
  void inspect(const TensorPlace&, const SliceQuery&, std::stop_token stop,
               std::function<void(SliceView)> done);
  void inspect_tiles(const TensorPlace&, const TileQuery&, std::stop_token stop,
                     std::function<void(TileView)> done);
  // The slice as text, every element; an error when it has more than a million.
  void print_slice(const TensorPlace&, const SliceQuery&, SliceFormat,
                   std::function<void(std::string text, std::string error)> done);
  // The whole tensor as a .npy file.
  void save_tensor(const TensorPlace&, const std::string& path, std::function<void(std::string error)> done);
  // Run the call of a captured node again, without a trace in the run: its gradients and random numbers stay
  // as they are. `done` is called on the session's thread.
  void check_gradient(int64_t step, uint64_t node, std::stop_token stop,
                      std::function<void(GradientCheck)> done);
  void compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                       std::function<void(DeviceComparison)> done);

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
