#pragma once
// The values of one captured step: strong references to the operands and results of its ops and to their
// gradients, and for each node what its call needs to run again. Keeps no graph and no Lua state alive.
// Leaves are copied, because the optimizer writes over them. The version of a value tells whether it was
// written to after the capture. For the session's thread, unless stated.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "runtime/tape/custom.h"
#include "runtime/tape/tape.h"
#include "script/view/value_slice.h"

namespace lunagrad {

// Counts memory (bytes) that only a viewer holds, each storage once. used() may be called from any thread.
class ValueBudget {
 public:
  size_t limit = 0;
  size_t used() const { return used_.load(); }
  bool fits(const Storage&) const;
  void add(const Storage&);
  void remove(const Storage*);

 private:
  std::unordered_map<const Storage*, std::pair<int, size_t>> held_;  // how many steps hold it, bytes
  std::atomic<size_t> used_{0};
};

struct KeptNode {
  const Op* op = nullptr;  // null: a leaf
  Device* device = nullptr;
  SourceLine line;
  Values params;
  Arguments args{};
  std::vector<Operand> in, out;  // without storage and graph
  std::vector<bool> wanted;      // which inputs get a gradient
  std::vector<uint64_t> makers;  // the node that made each input, 0: none
  std::unique_ptr<CustomCall> custom;
};

// "written to since, by add_ at train.lua:12"
std::string written_since(const Storage&);

class StepValues {
 public:
  // `make_room` frees older steps; false when there are none.
  StepValues(ValueBudget& budget, std::function<bool()> make_room, bool whole_step);
  ~StepValues();
  StepValues(const StepValues&) = delete;

  void ran(const Call&);
  void keep(const Tensor& x) { remember(x, x.id(), x.storage().version, false); }
  void begin_backward(std::span<Node* const>);
  void gradient(const Node&, uint32_t output, const Tensor&);
  // The step has ended: releases values that belong to the run and are too large for the budget.
  void retire();

  // Any thread.
  bool complete() const { return whole_step_ && !over_budget_.load(); }
  size_t bytes() const { return bytes_.load(); }

  struct Found {
    Tensor value;        // undefined: not available
    std::string reason;  // why not
    std::string note;    // written to since
  };
  const KeptNode* node(uint64_t id) const;
  Found value(uint64_t tensor) const;
  Found gradient(uint64_t node, uint32_t output) const;

 private:
  struct Kept {
    Tensor tensor;
    uint32_t version;
  };
  struct Key {
    uint64_t node;
    uint32_t output;
    auto operator<=>(const Key&) const = default;
  };
  bool hold(const Tensor&, bool made_here);
  void remember(const Tensor&, uint64_t id, uint32_t version, bool made_here);
  void remember_operand(const Operand&);
  void copy_leaves(std::span<Node* const>);
  Found found(const Kept&) const;
  std::string gone() const;

  ValueBudget& budget_;
  const std::function<bool()> make_room_;
  const bool whole_step_;
  bool copying_ = false;
  std::atomic<bool> over_budget_{false};
  std::atomic<size_t> bytes_{0};
  std::unordered_map<uint64_t, Kept> values_;  // by the tensor's id
  std::map<Key, Kept> gradients_;
  std::unordered_map<uint64_t, KeptNode> nodes_;
  std::unordered_set<const Storage*> counted_, borrowed_, refused_;
};

}  // namespace lunagrad
