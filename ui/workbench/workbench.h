#pragma once
// Shared by the panels: a session, what the window knows about its run (state), and what a panel can do
// (actions). The workbench owns all of it and passes on the session's news once a frame. A panel reads the
// state through const references and changes it only through the actions, each of which is a separate class.
// Nothing here waits for the script. Drawing thread only; the session runs the script on its own thread and
// calls only Journal::push().
#include <functional>
#include <optional>
#include <string>

#include "script/session.h"
#include "ui/actions/breakpoint_actions.h"
#include "ui/actions/curve_controller.h"
#include "ui/actions/inspection.h"
#include "ui/actions/measurements.h"
#include "ui/actions/owner_controller.h"
#include "ui/actions/run_actions.h"
#include "ui/actions/shell.h"
#include "ui/actions/shown_step.h"
#include "ui/actions/step_texts.h"
#include "ui/actions/tape_actions.h"
#include "ui/actions/text_controller.h"
#include "ui/actions/why_controller.h"
#include "ui/compare/step_comparing.h"
#include "ui/compare/tape_comparing.h"
#include "ui/inspect/gradient_model.h"
#include "ui/inspect/pause_measuring.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"
#include "ui/time/probe_controller.h"

namespace lunagrad {

class Workbench {
 public:
  // `wake` requests a new frame; it is called on any thread. `also` gets every event of the session, on the
  // session's thread. Fonts must be loaded.
  Workbench(std::string script, RunOptions, std::function<void()> wake, EventSink also = {});

  // Takes over the session's news since the last frame. Returns true when there is something new to show.
  bool update();

  // State
  const Session& session() const { return session_; }
  const Journal& journal() const { return journal_; }  // console, progress, curves of the current run
  const TapeModel& tape() const { return tape_; }
  const GradientModel& gradients() const {  // up to the shown step, if a replay computed it
    return replayed_gradients_ ? *replayed_gradients_ : gradients_;
  }
  const ShownStep& shown() const { return shown_; }
  // How many steps lie between two measurements of gradients now.
  double measured_every() const { return gradients_.every(shown_.latest()); }
  const RunLibrary& runs() const { return curves_.library(); }  // runs in folders
  const Settings& settings() const { return shell_.settings(); }
  const std::string& script() const { return control_.script(); }
  const std::function<void()>& wake() const { return wake_; }

  // Actions
  RunActions& control() { return control_; }
  TextController& texts() { return texts_; }
  StepTexts& step_texts() { return step_texts_; }
  TapeActions& tape_actions() { return tape_actions_; }
  ShownStep& shown() { return shown_; }
  ProbeController& probes() { return probes_; }
  Inspection& inspection() { return inspection_; }
  const Inspection& inspection() const { return inspection_; }
  WhyController& why() { return why_; }
  StepComparing& step_comparing() { return step_comparing_; }
  TapeComparing& tape_comparing() { return tape_comparing_; }
  BreakpointActions& breakpoints() { return breakpoints_; }
  OwnerController& owners() { return owners_; }
  Measurements& measurements() { return measurements_; }
  CurveController& curves() { return curves_; }
  Shell& shell() { return shell_; }
  Description& description() { return shell_.description(); }
  Commands& commands() { return shell_.commands(); }
  Actions& actions() { return shell_.actions(); }
  // For a host that runs its own scripts, and for panels that ask the session questions (completion,
  // batches).
  Session& live_session() { return session_; }
  // Clears progress, curves and tape for a run that a host starts.
  void begin_host_run();

 private:
  void note_findings();
  void measure_pause();
  void take_replayed_gradients();

  const std::function<void()> wake_;
  Journal journal_;
  TapeModel tape_;
  GradientModel gradients_;
  std::optional<GradientModel> replayed_gradients_;  // set while a replayed step is shown
  uint64_t replayed_ = 0;  // number of the replay's position that replayed_gradients_ belongs to
  Shell shell_;
  ShownStep shown_;
  ProbeController probes_;
  TapeActions tape_actions_;
  WhyController why_;
  StepComparing step_comparing_;
  TapeComparing tape_comparing_;
  BreakpointActions breakpoints_;
  Measurements measurements_;
  PauseMeasuring pause_measuring_;
  OwnerController owners_;
  CurveController curves_;
  Inspection inspection_;
  TextController texts_;
  RunActions control_;
  StepTexts step_texts_;
  Session session_;  // last: its destructor stops the script before the objects that its events reach go
};

}  // namespace lunagrad
