#pragma once
// Detects that a later pass adds to gradients with which an optimizer has already made a step: zero_grad()
// was probably forgotten. The gradients of a few leaves are watched, one in each group of parameters. For the
// thread of the tensors.
#include "runtime/tape/node.h"

namespace lunagrad {

// Notes that an optimizer has made a step with the gradient of the leaf x. Returns whether the gradient is a
// sum with the gradient of an earlier step, which was neither replaced nor written in between.
bool use_gradient(const Tensor& x);

// Exists while a pass adds to a leaf's gradient.
class Summing {
 public:
  explicit Summing(const Node& leaf);
  ~Summing();
  Summing(const Summing&) = delete;

 private:
  const Node& leaf_;
  bool used_;  // the gradient was used by the last step
};

}  // namespace lunagrad
