#pragma once
// The values of one step for a viewer: the records of its backward passes and the values that no node made,
// from which all others are recomputed on request (recompute.h). A captured step also keeps strong references
// to the operands and results of its ops and to their gradients, as long as they fit the budget. Keeps no
// graph and no Lua state alive. Leaves are copied, because the optimizer writes over them. The version of a
// value tells whether it was written to since. For the session's thread, unless stated.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "script/inspect/kept_pass.h"
#include "script/inspect/noted_call.h"
#include "script/inspect/untaped_calls.h"
#include "script/view/value_slice.h"

namespace lunagrad {

// Counts memory (bytes) that only a viewer holds, each storage once. used() may be called from any thread.
class ValueBudget {
 public:
  size_t limit = 0;
  size_t used() const { return used_.load(); }
  bool fits(const Storage&) const;
  void add(const Storage&);
  size_t remove(const Storage*);  // returns the storage's bytes

 private:
  std::unordered_map<const Storage*, std::pair<int, size_t>> held_;  // number of steps that hold it, bytes
  std::atomic<size_t> used_{0};
};

// Processor time of this thread. Reading it is a system call, which takes longer than recording a node.
double processor_ns();

// "written to since, by add_ at train.lua:12"
std::string written_since(const Storage&);

class StepValues {
 public:
  // `make_room` frees older steps; returns false when there are none. `all`: every value is kept. `ends`: the
  // values end with their step; otherwise values that no pass reads are dropped from time to time.
  StepValues(int64_t step, ValueBudget& budget, std::function<bool()> make_room, bool all, bool ends);
  ~StepValues();
  StepValues(const StepValues&) = delete;

  void ran(const Call&);
  void keep(const Tensor& x) { remember(x, x.id(), x.storage().version, false); }
  // Begins a backward pass. Leaves are kept as the pass reads them; if they have many bytes, only when
  // `copy_leaves` is set. Leaves that are unchanged since `before`, an earlier step, share its copy. Returns
  // the processor time in nanoseconds when many bytes were copied, else 0.
  double begin_pass(std::span<Node* const>, bool copy_leaves, const StepValues* before);
  void gradient(const Node&, uint32_t output, const Tensor&);
  void end_pass(std::span<Node* const>);
  void keep_gradient(size_t pass, const Node&, uint32_t output, const Tensor&);
  // Adds the part of the graph that leads to the last result on the tape, if no pass went through it. False:
  // there is none.
  bool add_newest();
  // Adds a part of the graph, as a pass without gradients, in place of the last such part. Returns its
  // position.
  size_t add_graph(std::span<Node* const>);
  // add_graph() of all that leads to the last result on the tape, and to the operands and results of the
  // call.
  size_t add_graph_to(const Call&);
  // Keeps the operands and results of a call that a pause or an error is about. Returns the id of its node,
  // or of a note in untaped().
  uint64_t note(const NotedCall&);
  bool has_newer() const { return newest_.defined(); }  // a result on the tape that no pass went through
  // Called when later steps are shown: releases values that belong to the run and are too large for the
  // budget.
  void retire();
  // Called before the Lua state is closed: releases everything that refers to its functions.
  void end_script();

  int64_t step() const { return step_; }
  const std::vector<std::unique_ptr<KeptPass>>& passes() const { return passes_; }
  const UntapedCalls& untaped() const { return untaped_; }
  // Notes that some calls of the step were deferred: they have no times of their own.
  void note_deferred() { deferred_ = true; }
  bool deferred() const { return deferred_; }
  void forget_newest() { newest_ = Tensor(); }
  bool in_pass() const { return !passes_.empty() && !passes_.back()->ended && !passes_.back()->forward_only; }

  // Any thread.
  bool keeps_all() const { return all_; }
  bool lacks_leaves() const { return lacks_leaves_; }  // session's thread only: some leaves were not copied
  bool over_budget() const { return over_budget_.load(); }
  size_t bytes() const { return bytes_.load(); }

  struct Found {
    Tensor value;        // undefined: not available
    std::string reason;  // why not
    std::string note;    // written to since
  };
  // While it lives, all recomputed values stay, beyond the budget. Otherwise a caller that reads the whole
  // step would have it recomputed for each value. At most one per step.
  class Whole {
   public:
    explicit Whole(StepValues& values) : values_(values) { values_.whole_ = true; }
    ~Whole() {
      values_.whole_ = false;
      values_.beyond_outputs_.clear();
      values_.beyond_gradients_.clear();
    }
    Whole(const Whole&) = delete;

   private:
    StepValues& values_;
  };
  // Returns a kept value. If the value is not kept and `check_wanted` is given, it is recomputed;
  // `check_wanted` throws to stop that. Recomputed values that fit the budget stay, first the values of the
  // node and its neighbours.
  using CheckWanted = std::function<void()>;
  Found value(size_t pass, size_t node, bool input, size_t index, const CheckWanted& check_wanted);
  Found value(const KeptNode& untaped, bool input, size_t index) const;  // a value of a note of untaped()
  Found gradient(size_t pass, size_t node, bool input, size_t index, const CheckWanted& check_wanted);
  // Computes a whole pass again and keeps nothing of it: calls the functions with the value and the gradient
  // of each output as it is computed. False: some nodes have no value. `check_wanted` throws to stop that.
  struct Visitor {
    std::function<void(size_t node, uint32_t output, const Tensor&)> value, gradient;
  };
  bool visit(size_t pass, const Visitor&, const CheckWanted& check_wanted) const;
  // Whether the .grad of a leaf is still the tensor that the pass left there, unchanged. Only while no later
  // pass has begun: a later tensor may have the same address.
  bool gradient_is_left(const KeptNode& leaf) const;

 private:
  struct Kept {
    Tensor tensor;
    uint32_t version;
  };
  struct Key {  // an output, or with `pass` its gradient
    uint64_t node;
    uint32_t output, pass;
    auto operator<=>(const Key&) const = default;
  };
  bool hold(const Tensor&, bool made_here);
  bool hold_storage(const Storage&, bool made_here);
  void remember(const Tensor&, uint64_t id, uint32_t version, bool made_here);
  std::unique_ptr<KeptPass> record(std::span<Node* const>);
  double copy_leaves(KeptPass&, size_t most, const StepValues* before);
  void forget_unused();
  void forget_oldest_pass();
  void release_unheld();
  Found found(const Kept&) const;
  Found kept_value(const KeptPass&, size_t node, bool input, size_t index) const;
  Found kept_gradient(const KeptPass&, const KeptNode&, uint32_t output) const;
  Tensor source(const KeptPass&, const KeptNode&, int input) const;
  void compute_again(size_t pass, size_t node, const CheckWanted&);

  const int64_t step_;
  ValueBudget& budget_;
  const std::function<bool()> make_room_;
  const bool all_, ends_;
  size_t most_unused_;  // forget_unused() runs when there are more values than this
  bool copying_ = false, lacks_leaves_ = false, deferred_ = false, whole_ = false;
  std::atomic<bool> over_budget_{false};
  std::atomic<size_t> bytes_{0};
  std::vector<std::unique_ptr<KeptPass>> passes_;
  uint32_t passes_made_ = 0;
  size_t cursor_ = 0;                                           // position in the pass of the latest gradient
  std::vector<std::pair<const void*, uint32_t>> grads_before_;  // of the current pass's leaves
  Tensor newest_;                                               // the last result on the tape
  UntapedCalls untaped_;
  std::unordered_map<uint64_t, Kept> values_;  // by tensor id
  std::map<Key, Kept> outputs_, gradients_;    // recomputed or captured; the pass of outputs is 0
  std::map<Key, std::string> failed_;          // why they cannot be recomputed
  // Results that did not fit the budget: those around the node of the latest query, or all while a Whole
  // lives.
  std::map<Key, Kept> beyond_outputs_, beyond_gradients_;
  std::unordered_set<const Storage*> counted_, borrowed_, refused_;
};

}  // namespace lunagrad
