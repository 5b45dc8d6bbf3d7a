#pragma once
// Starts, pauses, steps and stops the script, and sets its parameters. Owns the script's path, the options of
// the next run, and the edited parameters. An action that fails reports the reason in the console. Drawing
// thread only; the script runs on the session's thread, and no action waits for it.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "script/session.h"
#include "ui/actions/curve_controller.h"
#include "ui/actions/shell.h"
#include "ui/actions/shown_step.h"
#include "ui/actions/text_controller.h"
#include "ui/runs/journal.h"
#include "ui/runs/param_controller.h"
#include "ui/time/fork_controller.h"
#include "ui/time/run_timer.h"
#include "ui/time/trust_controller.h"

namespace lunagrad {

class RunActions {
 public:
  // Used by the run control; all of it outlives the run control.
  struct Uses {
    Session& session;
    Journal& journal;
    TextController& texts;
    ShownStep& shown;
    CurveController& curves;
    Shell& shell;
  };
  // `cleared` is called when a run begins, to remove what belongs to the previous run. `wake` requests a
  // frame; it is called on any thread.
  RunActions(Uses, std::string script, RunOptions, std::function<void()> cleared,
             const std::function<void()>& wake);

  // Shows the line of a pause that step_line() led to, and starts a fork that is ready. Once a frame.
  void update();

  const std::string& script() const { return script_; }
  // Makes this file, or the untitled text with this title, the script that run() starts, and shows it in the
  // editor. A current run continues.
  void open(const std::string& path);
  // Shows the curves of the run in this folder or bundle, or the trials of the sweep, read only; run() then
  // starts its script. If somebody else made it, the window asks first.
  void open_run(const std::string& folder);

  void run();  // from the start; resumes a paused run
  // Starts from the beginning as soon as modified texts are saved; ends the current run. `paused`: pauses
  // after the first step.
  void restart(bool paused = false);
  // Runs the script again with the same options and edits, up to the first NaN or Inf of this run, and pauses
  // at the op that makes it.
  void run_to_not_finite();
  // Saves the texts and continues with the changed script after the last good step of the run that has ended.
  void go_on_after_failure();
  void dismiss_failure() { shell_.actions().act("dismiss_failure"); }
  // Sets arguments, parameters, device, seed, steps and limits of the next run to the values of an earlier
  // window. Limits from this window's command line take precedence.
  void restore_options(const RunOptions&);
  // Continues the run of an earlier window, from the newest checkpoint in its folder.
  void resume(const std::string& folder, const RunOptions&);
  // The options with which the current run, or the last one, began.
  const RunOptions& options_of_run() const { return options_of_run_; }
  void rerun_with(const std::map<std::string, std::string>& values);  // restarts with these parameters
  // Continues after a step of the run in this folder ("": the window's own run) in a new run, which ends the
  // current run as soon as the states are there. `values`: new values of parameters; `edited`: uses the
  // script as it is now in its file.
  void fork(const std::string& folder, int64_t step, const std::map<std::string, std::string>& values,
            bool edited);
  // The time limit stopped the current run, or the last one.
  bool time_is_over() const { return timer_.over(); }
  ForkController& forks() { return forks_; }
  TrustController& trust() { return trust_; }
  void pause_or_resume();
  void step();       // to the next step boundary, then pauses; starts a run if there is none
  void step_op();    // when paused: to the end of the next op
  void step_line();  // when paused: to the script's next line, which the editor then shows
  bool single_step() const { return single_step_; }  // the run was last asked for one step, op or line
  void stop();                                       // at the end of the step; a second call interrupts
  void interrupt() { session_.interrupt(); }         // immediately
  void stop_at_step_boundary() { session_.stop(); }  // works also when the journal is not up to date
  void evaluate(const std::string& code);            // as a line of the console

  const RunOptions& options() const { return options_; }  // of the next run
  void set_device(const std::string& device) { shell_.actions().act("set_device", {device}); }
  void set_arguments(const std::vector<std::string>& arguments) {
    shell_.actions().act("set_arguments", {arguments}, true);
  }
  void set_seed(uint64_t seed);
  bool new_seed() const { return new_seed_; }  // each run draws its own seed
  void set_new_seed(bool on) { shell_.actions().act("set_new_seed", {on}); }

  const ParamController& params() const { return params_; }
  void update_params(const std::vector<ParamInfo>& infos) { params_.update(infos); }  // once a frame
  void set_param(const ParamInfo&, const std::string& value, bool part_of_drag = false);
  void end_param_drag();
  void undo_param() { shell_.actions().act("undo_param"); }

 private:
  bool single_step_ = false;
  void add_actions();
  void add_param_actions();
  void add_fork_actions();
  void begin_fork(ForkController::Made);
  void take_script(const std::string& path);
  void take_run(const std::string& folder);
  void watch_time();
  void limit(RunOptions&) const;
  enum class Awaited { nothing, run, paused_run, reload };
  // A run with options of its own, such as a repeat of the last run.
  struct Once {
    RunOptions options;
    std::string script = {};      // "": the window's script
    int64_t not_finite_from = 0;  // pauses at the first NaN or Inf from this step on; 0: does not
  };
  void tell_drag_end();
  void begin(bool paused);  // starts a run, with once_ if it is set
  void begin_trusted(bool paused);
  void complain(const std::string& problem);
  void begin_run();
  void begin_awaited();
  void await(Awaited);

  Session& session_;
  Journal& journal_;
  TextController& texts_;
  ShownStep& shown_;
  CurveController& curves_;
  Shell& shell_;
  std::string script_;
  RunOptions options_, options_of_run_;
  const std::function<void()> cleared_;
  bool new_seed_ = false;
  bool dragging_ = false;        // while set_param() is called for a part of a drag
  uint64_t nan_breakpoint_ = 0;  // set by run_to_not_finite(), until it is hit or the run has ended
  std::optional<Once> once_;     // set while modified texts are saved
  CodeLimits limits_;            // limits of the run that is about to begin
  bool opening_ = false;         // a run, bundle or sweep is being opened; its script is not known yet
  uint64_t openings_ = 0;        // the number of openings so far
  std::optional<bool> begins_;   // a start requested during the opening; its value: paused
  RunTimer timer_;
  ParamController params_;
  TrustController trust_;
  ForkController forks_;
  Awaited awaited_ = Awaited::nothing;         // what begins when modified texts are saved
  std::optional<uint64_t> follows_line_from_;  // the number of pauses when step_line() was called
};

}  // namespace lunagrad
