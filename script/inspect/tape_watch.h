#pragma once
// What a viewer sees of the tape: a copy of the nodes of each backward pass as text and numbers, kept for the
// latest steps, and on request the values behind them (step_values.h). While values are captured (the session
// is paused or steps, or a viewer asked for the next step) strong references to every output and gradient of
// a step are kept with it; otherwise the leaves of the latest tape are shown as they are now. All of it lies
// within one budget; the oldest steps go first. watch(), capture_next() and what says so may be called from
// any thread, everything else from the session's.
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/tape/tape.h"
#include "runtime/trace.h"
#include "script/inspect/step_values.h"
#include "script/view/history.h"
#include "script/view/tape.h"

namespace lunagrad {

struct Finding;
class StatisticsWatch;

NodeInfo describe_node(const Node&);

class TapeWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on) { watching_.store(on); }
  bool watching() const { return watching_.load(); }
  void capture_next() { capture_next_.store(true); }  // the values of the next step
  void take_next() { take_next_.store(true); }  // the tape of the next backward pass, however soon it comes
  std::shared_ptr<const TapeSnapshot> tape() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  History history() const;

  void set_budget(size_t bytes);
  // Before anything of the step runs: whether values are kept from here on, and which step this is.
  void begin_step(int64_t step, bool values);
  // Amid a step, which will not be complete.
  void capture_rest();
  bool keeps_values() const { return values_; }
  bool keeps_whole_step() const { return current_ && current_->complete(); }
  void ran(const Call&);  // an op ran while values are kept
  void clear();           // forgets everything: another script begins
  void end_script();      // the script's state is closed; what was kept stays, for the script that goes on
  // What leads to a finding becomes the tape, with the values that are still there: the run stands amid a
  // step.
  void show(const Finding&);
  void set_statistics(const StatisticsWatch* statistics) {
    statistics_ = statistics;
  }  // whose numbers nodes get

  struct Found {
    Tensor value;        // undefined: there is none
    std::string reason;  // why not
    std::string note;
  };
  Found find(const TensorPlace&) const;
  // The node of a kept step with its inputs, to run it again. Error when it is not all there.
  struct Replay {
    const KeptNode* node;
    const NodeInfo* info;
    TensorList inputs;
    std::vector<bool> reached;  // outputs that a gradient arrived for
  };
  Replay replay(int64_t step, uint64_t node) const;

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override;

 private:
  struct Step {
    int64_t step = 0;
    std::shared_ptr<const TapeSnapshot> tape;
    size_t tape_bytes = 0;
    std::shared_ptr<StepValues> values;
  };
  const Step* find_step(int64_t step) const;
  void start_values(bool whole_step);
  bool drop_oldest();
  void trim();
  size_t budget() const;
  void publish(std::shared_ptr<const TapeSnapshot>);

  std::atomic<bool> watching_{false}, capture_next_{false}, take_next_{false};
  mutable std::mutex mutex_;
  ValueBudget value_budget_;                    // of the session's thread
  std::deque<Step> steps_;                      // written by the session's thread under mutex_, oldest first
  size_t budget_bytes_ = kHistoryBudget;        // under mutex_
  std::shared_ptr<const TapeSnapshot> latest_;  // under mutex_

  const StatisticsWatch* statistics_ = nullptr;
  int64_t step_ = 0;
  bool values_ = false;
  bool capturing_ = false;
  uint64_t last_end_ = 0;       // ticks
  double last_cost_ = 0;        // nanoseconds of the processor, so that other programs do not make tapes rare
  std::vector<Node*> visited_;  // of the pass that is going on; its caller keeps them alive
  std::unique_ptr<TapeSnapshot> building_;
  std::map<uint64_t, Ref<Node>> leaves_;  // of the latest tape
  size_t tape_bytes_ = 0;                 // of all kept tapes
  std::shared_ptr<StepValues> current_;   // of the step that runs
};

}  // namespace lunagrad
