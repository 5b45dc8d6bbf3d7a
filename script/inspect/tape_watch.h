#pragma once
// Copies the tape for a viewer: the nodes of a backward pass as text and numbers, for the latest steps, and
// on request their values (step_values.h). While a viewer watches, every step keeps enough to recompute its
// values while it is the latest. Only captured steps keep every value: while the session single-steps, or
// when a viewer asked for the next step. A snapshot is made at the end of a step, or at a pause. It shows one
// pass of the step: the pass of the outer loss, unless the viewer chose another. One budget of bytes covers
// everything; the oldest steps are dropped first. Functions marked so may be called from any thread,
// everything else from the session's thread.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/trace.h"
#include "runtime/tape/tape.h"
#include "script/inspect/step_values.h"
#include "script/plan/plan_watch.h"
#include "script/view/history.h"
#include "script/view/tape.h"

namespace lunagrad {

struct Finding;
class StatisticsWatch;

class TapeWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on) { watching_.store(on); }
  bool watching() const { return watching_.load(); }
  void capture_next() { capture_next_.store(true); }  // capture the values of the next step
  // Captures the values of one step of the coming run, and calls the function of on_reached() at the end of
  // that step. Outside of steps, each pass of an outer loss counts as a step.
  void seek(int64_t number) { sought_.store(number); }
  bool reached() const { return was_reached_.load(); }
  std::shared_ptr<const TapeSnapshot> tape() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  History history() const;
  std::shared_ptr<const StepPlan> plan() const { return plans_.plan(); }  // null: no calls were deferred

  void set_budget(size_t bytes);
  // Passed before the step runs. `values`: its values are captured. `in_steps`: a call ends the step;
  // otherwise a snapshot is made after each pass. `careful`: a pause may follow, so its leaves are copied
  // whatever that costs.
  struct Coming {
    int64_t step = 0;
    int64_t number = 1;  // number of the step in the run; a resumed run counts from its original start
    bool values = false, in_steps = false, careful = false;
  };
  void begin_step(const Coming&);
  bool keeps_step() const { return current_ != nullptr; }
  // Whether all values of the running step, or of the step that just ended, can be shown.
  bool keeps_whole_step() const { return current_ && !current_->lacks_leaves(); }
  bool captures() const { return current_ && current_->keeps_all(); }
  // Whether the step is captured and its calls are timed one by one. The step of seek() runs as it does
  // without a viewer.
  bool times_calls() const { return captures() && !is_sought(); }
  void ran(const Call&);  // an op ran while the step is kept
  void step_over();       // the running step has come to its end
  void on_reached(std::function<void()> tell) { tell_reached_ = std::move(tell); }
  // The groups of the ending step; when nothing was deferred, `report` is an earlier step's. `goes_on`: the
  // coming steps are deferred, too.
  void computed(std::shared_ptr<const QueueReport>, bool goes_on);
  void clear();       // forgets everything: a new run begins
  void end_script();  // the Lua state is closed; kept steps stay for the script that takes over
  // The run is paused or has ended: shows the step that just passed, with its values. `failed`: an error
  // ended the run, so the results of the step so far are shown.
  void settle(bool failed);
  // Shows as the tape what led to a finding, or to a call, with the values that still exist: the run stands
  // still inside a step. A call that recorded no node is shown as a node without a gradient. Returns the
  // node's id; 0: nothing is shown. `failed`: the call has failed.
  uint64_t show(const Finding&);
  uint64_t show(const NotedCall&, bool failed = false);
  bool in_pass() const { return !visited_.empty(); }  // a backward pass that is kept is under way
  // Shows the pass with this key where a step has one; 0: the pass of the outer loss.
  void choose_pass(uint64_t key);
  void set_statistics(const StatisticsWatch* statistics) {
    statistics_ = statistics;
  }  // the source of the nodes' summaries

  using Found = StepValues::Found;
  // `check_wanted` throws when the result is no longer wanted. If it is given, values are recomputed.
  Found find(const TensorPlace&, const StepValues::CheckWanted& check_wanted);
  // The node of a kept step with its inputs, to run it again. Error if an input is missing.
  struct Recomputed {
    const KeptNode* node;
    const NodeInfo* info;
    TensorList inputs;
    std::vector<bool> reached;  // which outputs have a gradient
  };
  Recomputed recompute(int64_t step, uint64_t node, const StepValues::CheckWanted& check_wanted);
  // The values of the latest tape's step, to measure it (StatisticsWatch::measure()), and which pass it
  // shows. Null: none.
  struct Latest {
    std::shared_ptr<StepValues> values;
    size_t pass = 0;
    bool is_latest = false;  // no later pass has begun
  };
  Latest latest_values() const;
  void measured();  // the latest tape's step was measured: its snapshot gets the figures
  // The remaining values of a kept step; -1: the step of seek(), else the latest. Null: none.
  std::shared_ptr<StepValues> values(int64_t step) const;

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override;

 private:
  using Values = std::shared_ptr<StepValues>;
  struct Step {
    int64_t step = 0;
    std::shared_ptr<const TapeSnapshot> tape;
    size_t tape_bytes = 0;
    uint32_t pass = 0;  // the pass's number in the step
    Values values;
  };
  const Step* find_step(int64_t step) const;
  Values values_of(const Step&) const;
  struct At {
    const Step* step = nullptr;
    Values values;
    size_t pass = 0, node = 0;
    std::string reason;  // why there are no values
  };
  At locate(int64_t step, uint64_t node) const;
  void start(const Coming&);
  void end_step();
  bool is_sought() const;
  void reach(const Values&);
  bool drop_oldest();
  void trim();
  size_t budget() const;
  int shown_pass(const StepValues&) const;
  const KeptNode* find_untaped(int64_t step, uint64_t node, Values&) const;
  void publish(const Values&, size_t pass, bool with_values, bool failed = false, uint64_t at = 0);

  std::atomic<bool> watching_{false}, capture_next_{false}, was_reached_{false};
  std::atomic<int64_t> sought_{0};  // 0: none
  std::function<void()> tell_reached_;
  mutable std::mutex mutex_;
  ValueBudget value_budget_;                    // for the session's thread
  std::deque<Step> steps_;                      // written by the session's thread under mutex_, oldest first
  size_t budget_bytes_ = kHistoryBudget;        // under mutex_
  std::shared_ptr<const TapeSnapshot> latest_;  // under mutex_

  const StatisticsWatch* statistics_ = nullptr;
  PlanWatch plans_;
  std::shared_ptr<const QueueReport> report_, last_report_;  // of the ending step; latest report
  bool goes_on_ = true;                                      // after the step of report_
  Coming coming_;                                            // the running step
  Values current_;                                           // of the running step
  Values last_;                                   // of the latest earlier step with a backward pass
  Values reached_;                                // of the step of seek()
  int64_t lone_passes_ = 0;                       // passes of outer losses outside of steps
  uint64_t chosen_ = 0;                           // key of the pass to show, 0: the pass of the outer loss
  bool finding_shown_ = false;                    // the pause that begins shows a finding
  bool measured_ = false;                         // statistics of the step's nodes exist
  uint64_t last_published_ = 0, step_began_ = 0;  // ticks
  // Processor time in nanoseconds, so that other programs do not reduce the number of tapes.
  double snapshot_cost_ = 0;                // cost of the last snapshot
  double leaves_cost_ = 0, step_time_ = 0;  // cost of copying large leaves; shortest recent step
  bool leaves_copied_ = false;              // large ones, at least once
  int64_t steps_without_leaves_ = 0;
  std::vector<Node*> visited_;  // nodes of the current pass, whose caller keeps them alive
  size_t tape_bytes_ = 0;       // of all kept tapes
};

}  // namespace lunagrad
