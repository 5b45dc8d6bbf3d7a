#pragma once
// Copies the tape for a viewer: the nodes of each backward pass as text and numbers, for the latest steps,
// and on request their values (step_values.h). Values are captured while the session is paused or
// single-steps, or when a viewer asked for the next step: then strong references to every output and gradient
// of the step are kept. Otherwise only the current values of the latest tape's leaves are available. One
// budget of bytes covers everything; the oldest steps are dropped first. Functions marked so may be called
// from any thread, everything else from the session's thread.
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
  void capture_next() { capture_next_.store(true); }  // capture the values of the next step
  void take_next() {
    take_next_.store(true);
  }  // copy the tape of the next backward pass, even if it follows closely
  std::shared_ptr<const TapeSnapshot> tape() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  History history() const;

  void set_budget(size_t bytes);
  // Called before the step runs: its number, and whether its values are captured.
  void begin_step(int64_t step, bool values);
  // Captures from here to the end of the step, which is then incomplete.
  void capture_rest();
  bool keeps_values() const { return values_; }
  bool keeps_whole_step() const { return current_ && current_->complete(); }
  void ran(const Call&);  // an op ran while values are kept
  void clear();           // forgets everything: a new run begins
  void end_script();      // the Lua state is closed; kept steps stay for the script that takes over
  // Shows the part of the graph that leads to a finding as the tape, with the values that still exist. The
  // run is paused inside a step.
  void show(const Finding&);
  void set_statistics(const StatisticsWatch* statistics) {
    statistics_ = statistics;
  }  // the source of the nodes' summaries

  struct Found {
    Tensor value;        // undefined: not available
    std::string reason;  // why not
    std::string note;
  };
  Found find(const TensorPlace&) const;
  // The node of a kept step with its inputs, to run it again. Error if an input is missing.
  struct Replay {
    const KeptNode* node;
    const NodeInfo* info;
    TensorList inputs;
    std::vector<bool> reached;  // which outputs have a gradient
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
  uint64_t last_end_ = 0;  // ticks
  double last_cost_ =
      0;  // processor time in nanoseconds, so that other programs do not reduce the number of tapes
  std::vector<Node*> visited_;  // of the current pass, whose caller keeps them alive
  std::unique_ptr<TapeSnapshot> building_;
  std::map<uint64_t, Ref<Node>> leaves_;  // of the latest tape
  size_t tape_bytes_ = 0;                 // of all kept tapes
  std::shared_ptr<StepValues> current_;   // of the step that runs
};

}  // namespace lunagrad
