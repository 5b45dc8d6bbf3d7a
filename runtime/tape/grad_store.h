#pragma once
// Gradients as a value: the gradients of every recorded tensor, leaves and results alike, from one backward
// pass that does not change .grad. The key of a tensor is its node and output, so a store keeps no tensor of
// the forward pass alive. For the thread of the tensors.
#include <map>

#include "runtime/tensor.h"

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

}  // namespace lunagrad
