#pragma once
// Collects the StepStatistics of a run: summaries of the outputs and gradients of a step's ops, and for each
// parameter the histogram of its gradient and the norm of its update. A step is measured only when the steps
// since the last measured one took 100 times its cost. A measured step keeps a copy of the parameters from
// its first backward pass to its end. watch(), watching() and steps() may be called from any thread,
// everything else from the session's thread.
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/core/op.h"
#include "runtime/tape/tape.h"
#include "script/inspect/step_values.h"
#include "script/view/step_statistics.h"
#include "script/view/tape.h"

namespace lunagrad {

class StatisticsWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on, int64_t every) {
    every_.store(every);
    watching_.store(on);
  }
  bool watching() const { return watching_.load(); }
  std::vector<StepStatisticsPtr> steps(uint64_t after) const;

  // Decides whether the coming step is measured: when `wanted`, because its values are captured, or when it
  // is due.
  void begin_step(bool wanted);
  void end_step(int64_t step);
  // While looking(): an optimizer has made a step with these parameters, which may lack gradients. The
  // context's line is the script's call of it.
  void optimized(const TensorList&);
  void measure_next() { first_ = true; }  // whatever it costs
  // Measures a step that begin_step() passed over, from its kept values, while the run is paused or has
  // ended.
  struct Kept {
    const StepValues& values;
    size_t pass;     // the pass whose nodes are measured
    bool ended;      // the step has ended: its updates are known
    bool is_latest;  // no later pass has begun
  };
  // False: the step has no gradients, or was measured. Throws what `check_wanted` throws.
  bool measure(const Kept&, const StepValues::CheckWanted& check_wanted);
  bool looking() const { return looking_; }  // this step is measured: ran() wants its ops
  void ran(const Call&);
  // Sets the summaries of a snapshot's nodes if its step was measured. `now`: the step has not ended yet.
  void describe(TapeSnapshot&, bool now) const;
  void clear(bool everything);  // the script's state is closed; `everything`: a new run begins

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override;

 private:
  // A leaf that requires a gradient.
  struct Leaf {
    Ref<Node> node;
    bool has_gradient = false;  // in the measured step
    bool reached = false;       // the current pass reached it
    bool optimized = false;     // an optimizer stepped it in this step
    SourceLine updated_at;      // the line that called it
    Tensor before;              // its value after the first backward pass of the step
    ParameterStatistics found;
  };
  struct Place {  // index into summaries_ plus one; 0: none
    size_t output = 0, gradient = 0;
  };
  class Look;                               // counts the cost, and hides the measuring ops from all listeners
  using Leaves = std::map<uint64_t, Leaf>;  // by node id
  bool is_due() const;
  bool read_kept(const Kept&, Leaves&, std::vector<NodeStatistics>&, const StepValues::CheckWanted&);
  std::shared_ptr<StepStatistics> statistics_of(Leaves&, bool ended);
  void add(std::shared_ptr<StepStatistics>, bool ended);
  void looked();
  void give_up();  // stops measuring this step, which is so long that the rest would cost too much
  static Tensor value_of(const Node& leaf);

  std::atomic<bool> watching_{false};
  std::atomic<int64_t> every_{0};  // 0: as often as the budget allows
  mutable std::mutex mutex_;
  std::deque<StepStatisticsPtr> kept_;  // under mutex_
  size_t kept_bytes_ = 0;               // under mutex_
  uint64_t number_ = 0;

  bool looking_ = false, in_pass_ = false, busy_ = false, any_pass_ = false;
  bool first_ = true;        // no step was measured yet
  int64_t steps_since_ = 0;  // ended steps since the last measured one
  uint64_t shortest_ = 0;    // length of the shortest of them, in ticks, like the next line
  uint64_t spent_ = 0, last_spent_ = 0, last_end_ = 0, step_began_ = 0;
  int64_t last_step_ = 0;
  Leaves leaves_;
  Summaries summaries_;
  std::unordered_map<uint64_t, size_t> outputs_;  // tensor id -> index into summaries_, plus one
  std::vector<NodeStatistics> nodes_;             // nodes of the current pass, or of the step's last pass
  std::vector<Place> places_;
  std::unordered_map<uint64_t, size_t> positions_;  // node id -> position in nodes_
  std::vector<NodeStatistics> latest_;              // nodes of the latest measured step
  int64_t latest_step_ = 0;
  bool latest_ended_ = true;  // otherwise it was measured at a pause within the step
};

}  // namespace lunagrad
