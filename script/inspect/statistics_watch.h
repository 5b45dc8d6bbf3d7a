#pragma once
// Collects the StepStatistics of a run: summaries of what the ops of a step give out and of the gradients
// that reach it, and of each parameter what its gradient looks like and how far the step moved it. A step is
// looked at only when those since the last one took a multiple of what that cost. In such a step a copy of
// the parameters is kept from its first backward pass to its end. watch(), steps() and the numbers may be
// asked for by any thread, all else belongs to the session's.
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/op.h"
#include "runtime/tape/tape.h"
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

  void begin_step();  // decides whether the coming step is looked at
  void end_step(int64_t step);
  // An optimizer goes over these parameters from now on, whether a gradient reaches them or not.
  void optimized(const TensorList&);
  bool looking() const { return looking_; }  // at this step: its ops are wanted
  void ran(const Call&);
  // Gives the nodes of a snapshot their summaries: those of this step, or of the last that was looked at
  // where the tape looks the same.
  void describe(TapeSnapshot&) const;
  void clear(bool everything);  // the script's state is closed; `everything`: a new run begins

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return false; }
  void end() override;

 private:
  // What is known of a leaf that wants a gradient.
  struct Leaf {
    Ref<Node> node;
    bool has_gradient = false;  // in the step that is looked at
    bool reached = false;       // by the pass that goes on
    Tensor before;              // its value behind the first backward pass of the step
    ParameterStatistics found;
  };
  struct Place {  // in summaries_, plus one; 0: none
    size_t output = 0, gradient = 0;
  };
  class Look;  // counts the time and keeps what is looked with out of sight
  void read_pass();
  bool is_due() const;
  void looked();
  void give_up();  // on this step: it goes on for so long that the rest of it would cost too much
  static Tensor value_of(const Node& leaf);

  std::atomic<bool> watching_{false};
  std::atomic<int64_t> every_{0};  // 0: as the budget allows
  mutable std::mutex mutex_;
  std::deque<StepStatisticsPtr> kept_;  // under mutex_
  size_t kept_bytes_ = 0;               // under mutex_
  uint64_t number_ = 0;

  bool looking_ = false, in_pass_ = false, busy_ = false, any_pass_ = false;
  bool first_ = true;        // nothing was looked at yet
  int64_t steps_since_ = 0;  // the last that was looked at, those that have ended
  uint64_t shortest_ = 0;    // of them, in ticks, as what follows
  uint64_t spent_ = 0, last_spent_ = 0, last_end_ = 0, step_began_ = 0;
  int64_t last_step_ = 0;
  std::map<uint64_t, Leaf> leaves_;  // by id of the node
  Summaries summaries_;
  std::unordered_map<uint64_t, size_t> outputs_;  // tensor id -> place in summaries_, plus one
  std::vector<NodeStatistics> nodes_;             // of the pass that goes on, or the last of the step
  std::vector<Place> places_;
  std::unordered_map<uint64_t, size_t> positions_;  // node id -> position in nodes_
  std::vector<NodeStatistics> latest_;              // of the latest step that was looked at
  int64_t latest_step_ = 0;
};

}  // namespace lunagrad
