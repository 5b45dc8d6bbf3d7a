#include "runtime/tape/grad_store.h"

#include "runtime/core/primitives.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

GradStore::Key grad_key_of(const Tensor& x) { return {x.node()->id, x.body()->output}; }

void check(const char* name, const Tensor& x, const Tensor& grad) {
  if (!x.requires_grad()) fail(name, ": the tensor does not require grad");
  if (!(grad.shape() == x.shape()))
    fail(name, ": a gradient of shape ", grad.shape(), " for a tensor of shape ", x.shape());
  if (grad.dtype() != x.dtype())
    fail(name, ": a gradient of type ", grad.dtype(), " for a tensor of type ", x.dtype());
  if (&grad.device() != &x.device())
    fail(name, ": a gradient on ", grad.device().name(), " for a tensor on ", x.device().name());
}

}  // namespace

Tensor GradStore::get(const Tensor& x) const {
  if (!x.node()) return {};
  const auto found = grads_.find(grad_key_of(x));
  return found == grads_.end() ? Tensor() : found->second;
}

void GradStore::add(const Key& key, const Tensor& grad) {
  Tensor& sum = grads_[key];
  sum = sum.defined() ? lunagrad::add(sum, grad) : grad;
}

void GradStore::accumulate(const Tensor& x, const Tensor& grad) {
  check("accumulate", x, grad);
  add(grad_key_of(x), grad);
}

void GradStore::replace(const Tensor& x, const Tensor& grad) {
  check("replace", x, grad);
  grads_[grad_key_of(x)] = grad;
}

Tensor GradStore::remove(const Tensor& x) {
  if (!x.node()) return {};
  auto taken = grads_.extract(grad_key_of(x));
  return taken.empty() ? Tensor() : std::move(taken.mapped());
}

GradStore GradStore::clone() const {
  GradStore copy;
  for (const auto& [key, grad] : grads_) copy.grads_[key] = lunagrad::clone(grad);
  return copy;
}

const std::pair<const GradStore::Key, Tensor>* GradStore::after(const Key& key) const {
  const auto next = grads_.upper_bound(key);
  return next == grads_.end() ? nullptr : &*next;
}

void GradStore::merge(const GradStore& other) {
  const std::map<Key, Tensor> more = other.grads_;  // a copy: `other` may be this store
  for (const auto& [key, grad] : more) add(key, grad);
}

}  // namespace lunagrad
