#pragma once
// Gradients as a value: the gradients of every recorded tensor, leaves and results alike, from a backward
// pass that does not change .grad. A tensor's key is its node and output, so a store keeps no tensor of the
// forward pass alive. For the thread of the tensors.
#include <map>

#include "runtime/core/tensor.h"

namespace lunagrad {

class GradStore {
 public:
  // The gradient of x; undefined when it has none.
  Tensor get(const Tensor& x) const;
  // Adds to the gradient of x. Error when x does not require grad, or the shape or type differs from x's.
  void accumulate(const Tensor& x, const Tensor& grad);
  // Takes the gradient of x out of the store; undefined when there is none.
  Tensor remove(const Tensor& x);
  // Sets the gradient of x, whether or not it had one. Errors as in accumulate().
  void replace(const Tensor& x, const Tensor& grad);
  // Adds every gradient of another store.
  void merge(const GradStore& other);
  // A store with copies of the gradients.
  GradStore clone() const;
  size_t size() const { return grads_.size(); }

  using Key = std::pair<uint64_t, uint32_t>;  // id of the node, output
  void add(const Key&, const Tensor& grad);
  // The first gradient whose key is above `key`, in the order of the nodes; null after the last one.
  const std::pair<const Key, Tensor>* after(const Key& key) const;

 private:
  std::map<Key, Tensor> grads_;
};

}  // namespace lunagrad
