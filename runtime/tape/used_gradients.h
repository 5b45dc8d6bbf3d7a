#pragma once
// Gradients with which an optimizer has made a step and to which a later pass adds: somebody probably forgot
// zero_grad(). The gradients of a few leaves are watched, one of each group of parameters. For the thread of
// the tensors.
#include "runtime/tape/node.h"

namespace lunagrad {

// An optimizer has made a step with the gradient of the leaf x. Returns whether that was a sum with a
// gradient that an earlier step has used, and that nobody has replaced or written in between.
bool use_gradient(const Tensor& x);

// Exists while a pass adds to the gradient that the leaf has.
class Summing {
 public:
  explicit Summing(const Node& leaf);
  ~Summing();
  Summing(const Summing&) = delete;

 private:
  const Node& leaf_;
  bool used_;  // the gradient is the one of the last step
};

}  // namespace lunagrad
