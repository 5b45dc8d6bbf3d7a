#pragma once
// Owns the viewers of a run (tape, statistics, profile, batch) and decides which of them sees each op and
// each backward pass of a step. An op that no viewer wants costs one test of a null pointer. The viewers' own
// headers say which of their functions may be called from any thread; everything here belongs to the
// session's thread and has no lock.
#include <optional>
#include <set>

#include "runtime/core/context.h"
#include "runtime/core/op.h"
#include "script/inspect/batch_watch.h"
#include "script/inspect/captures.h"
#include "script/inspect/finite_sentry.h"
#include "script/inspect/noted_call.h"
#include "script/inspect/statistics_watch.h"
#include "script/inspect/tape_recorder.h"
#include "script/inspect/tape_watch.h"
#include "script/leaks/growth_watch.h"
#include "script/leaks/leak_watch.h"
#include "script/profile/rank_watch.h"
#include "script/profile/watch.h"
#include "script/session/breakpoint_pauses.h"
#include "script/session/events.h"
#include "script/session/run_control.h"

namespace lunagrad {

class Viewers final : private Trace, private RootWatch {
 public:
  Viewers(Context&, const RunControl&, Events&, BreakpointPauses&,
          std::function<void(const FiniteSentry::Found&)> not_finite);
  Viewers(const Viewers&) = delete;

  TapeWatch& tape() { return tape_; }
  StatisticsWatch& statistics() { return statistics_; }
  ProfileWatch& profile() { return profile_; }
  RankWatch& ranks() { return ranks_; }
  BatchWatch& batch() { return batch_; }
  FiniteSentry& sentry() { return sentry_; }
  GrowthWatch& growth() { return growth_; }
  LeakWatch& leaks() { return leaks_; }

  // Called when a script begins. `goes_on`: it replaces the previous script, whose steps and numbers are
  // kept.
  void begin_script(bool goes_on, Guard);
  void begin_step(const Run&);
  void end_step(Run&);
  void end_script(Run&);  // the script ended within a step, or after the last
  void listen();          // tells the engine which viewers listen from now on
  void ask_guard(Guard);  // lg.run.assert_finite
  void close_state();     // the script's Lua state is about to be closed
  // Notes each call of the script, or backward pass, until the run pauses behind it: for single steps of ops.
  void note_calls(bool on);
  const NotedCall* noted_call() const { return noted_call_ ? &*noted_call_ : nullptr; }
  const Node* noted_root() const { return noted_root_.get(); }  // of a backward pass, if that ran last
  void forget_noted();

 private:
  void ran(const Call&, uint64_t ticks) override;
  void fell_back(const Call&, const char* reason) override;
  void waited(uint64_t ticks) override;
  bool sees_calls() const override { return sees_calls_; }
  void root(const Tensor&) override;

  Context& context_;
  const RunControl& control_;
  Events& events_;
  BreakpointPauses& breakpoints_;
  TapeWatch tape_;
  StatisticsWatch statistics_;
  ProfileWatch profile_;
  RankWatch ranks_;
  BatchWatch batch_;
  TapeRecorder recorder_;
  int tries_ = 0;  // further steps whose tape is recorded because the folder has none yet
  FiniteSentry sentry_;
  GrowthWatch growth_;
  LeakWatch leaks_;
  Captures captures_;
  bool notes_calls_ = false;
  std::optional<NotedCall> noted_call_;
  Ref<Node> noted_root_;
  bool sees_calls_ = false;         // a viewer looks at every call of this step
  Guard asked_guard_ = Guard::off;  // requested by the command line or the script
  std::set<const Op*> reported_;    // ops whose fallback to the CPU was reported
};

}  // namespace lunagrad
