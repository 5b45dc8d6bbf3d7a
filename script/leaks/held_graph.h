#pragma once
// The graphs that a tensor keeps alive, by the steps that made their nodes. For the thread of the tensors.
#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/core/tensor.h"
#include "runtime/tape/node.h"

namespace lunagrad {

// Tells which step made a node or a tensor: ids grow with time.
class StepClock {
 public:
  void clear() { marks_.clear(); }
  // Remembers only the latest `most` steps.
  void begin_step(int64_t step, size_t most = SIZE_MAX);
  // When there are `most` steps, forgets every second one; its nodes then count for the step before.
  void thin(size_t most);
  size_t size() const { return marks_.size(); }  // number of steps
  // Returns 0 for ids before the first known step.
  int64_t step_of_node(uint64_t id) const;
  int64_t step_of_tensor(uint64_t id) const;

 private:
  struct Mark {
    int64_t step;
    uint64_t node, tensor;  // largest ids before the step
  };
  std::vector<Mark> marks_;
};

// When a backward pass first went through a node.
class PassTimes {
 public:
  void clear();
  void pass(const Tensor& root, int64_t step, const StepClock&);
  // The step of that pass; 0: there was none.
  int64_t first(uint64_t node) const;
  // The largest number of steps that a pass went back to a node which no pass had gone through before.
  int64_t reach() const { return reach_; }
  void forget_all_but(const std::unordered_set<const Node*>& held);

 private:
  std::unordered_map<uint64_t, int64_t> first_;
  int64_t reach_ = 0;
};

// The nodes made in steps that a group of tensors keeps alive.
struct HeldGraph {
  std::unordered_set<const Node*> nodes;
  std::unordered_set<const Storage*> storages;  // values that the nodes saved, except leaves
  size_t bytes = 0;                             // size of these values

  // Adds the nodes behind `root`, up to `most`.
  void add(const Node* root, const StepClock&, size_t most);
  void add_value(const Storage&, size_t bytes);  // `bytes`: how many bytes of the storage are used
};

}  // namespace lunagrad
