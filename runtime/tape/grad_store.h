#pragma once
// Gradients as a value: what a backward pass computed for every recorded tensor, leaves and results alike,
// without touching .grad. A tensor is found by its place in the tape, so a store holds no tensor of the
// forward pass.
#include <map>

#include "runtime/tape/tape.h"

namespace lunagrad {

class GradStore {
 public:
  // The gradient of x; undefined when none arrived.
  Tensor get(const Tensor& x) const;
  // Adds to the gradient of x. Error when x does not require grad, or the shape or type differs from x's.
  void accumulate(const Tensor& x, const Tensor& grad);
  // Adds every gradient of another store.
  void merge(const GradStore& other);
  size_t size() const { return grads_.size(); }

  using Key = std::pair<uint64_t, uint32_t>;  // id of the node, output
  void add(const Key&, const Tensor& grad);

 private:
  std::map<Key, Tensor> grads_;
};

// As backward(root, seed, options), with the gradients as the result.
GradStore gradients(const Tensor& root, const Tensor& seed = {}, BackwardOptions = {});

}  // namespace lunagrad
