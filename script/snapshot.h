#pragma once
// What a viewer sees of the tape: a copy of the nodes of the latest backward pass as text and numbers, and on
// request the values behind them. While `values` is on (the session is paused or steps), strong references to
// every output and gradient of a step are kept, so that they can still be shown; otherwise only those of
// leaves. tape() and watch() may be called from any thread, everything else from the session's.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/tape.h"
#include "runtime/trace.h"
#include "script/session.h"

namespace lunagrad {

struct Finding;
class StatisticsWatch;

NodeInfo describe_node(const Node&);
// The first `limit` elements and the statistics over all of them; waits for the tensor's device.
ValueView view_value(const Tensor&, int64_t limit);

class TapeWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on) { watching_.store(on); }
  bool watching() const { return watching_.load(); }
  std::shared_ptr<const TapeSnapshot> tape() const;

  // Before anything is inspected: whether values are kept from here on, and which step this is.
  void begin_step(int64_t step, bool values);
  bool keeps_values() const { return values_; }
  void ran(const Call&);  // an op ran while values are kept
  void clear();           // forgets everything: the script's state is closed
  // What leads to a finding becomes the tape, with the values that are still there: the run stands amid a step.
  void show(const Finding&);
  void set_statistics(const StatisticsWatch* statistics) { statistics_ = statistics; }  // whose numbers nodes get
  ValueView inspect(uint64_t node, int output, Which, int64_t limit) const;

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override { return capturing_ && values_; }
  void end() override;

 private:
  struct Key {
    uint64_t node;
    uint32_t output;
    auto operator<=>(const Key&) const = default;
  };
  void forget_values();

  std::atomic<bool> watching_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const TapeSnapshot> tape_;  // under mutex_

  const StatisticsWatch* statistics_ = nullptr;
  int64_t step_ = 0;
  bool values_ = false;
  bool capturing_ = false;
  uint64_t last_end_ = 0, last_cost_ = 0;  // ticks
  std::vector<Node*> visited_;             // of the pass that is going on; its caller keeps them alive
  std::unique_ptr<TapeSnapshot> building_;
  std::map<uint64_t, Ref<Node>> nodes_;        // of the latest tape: leaves, and all while values are kept
  std::unordered_map<uint64_t, Tensor> made_;  // tensor id -> value without its tape
  std::map<Key, Tensor> gradients_;
};

}  // namespace lunagrad
