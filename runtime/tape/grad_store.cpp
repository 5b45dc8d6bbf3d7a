#include "runtime/tape/grad_store.h"

#include "runtime/primitives.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

GradStore::Key key_of(const Tensor& x) { return {x.node()->id, x.body()->output}; }

}  // namespace

Tensor GradStore::get(const Tensor& x) const {
  if (!x.node()) return {};
  const auto found = grads_.find(key_of(x));
  return found == grads_.end() ? Tensor() : found->second;
}

void GradStore::add(const Key& key, const Tensor& grad) {
  Tensor& sum = grads_[key];
  sum = sum.defined() ? lunagrad::add(sum, grad) : grad;
}

void GradStore::accumulate(const Tensor& x, const Tensor& grad) {
  if (!x.requires_grad()) fail("accumulate: the tensor does not require grad");
  if (!(grad.shape() == x.shape()))
    fail("accumulate: a gradient of shape ", grad.shape(), " for a tensor of shape ", x.shape());
  if (grad.dtype() != x.dtype())
    fail("accumulate: a gradient of type ", grad.dtype(), " for a tensor of type ", x.dtype());
  add(key_of(x), grad);
}

void GradStore::merge(const GradStore& other) {
  const std::map<Key, Tensor> more = other.grads_;  // it may be this store
  for (const auto& [key, grad] : more) add(key, grad);
}

}  // namespace lunagrad
