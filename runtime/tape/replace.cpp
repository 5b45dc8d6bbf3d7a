#include "runtime/tape/replace.h"

#include "runtime/core/primitives.h"
#include "runtime/tape/node.h"

namespace lunagrad {
namespace {

// Updates the leaf's description of its tensor, which gradients must match.
void describe_leaf(Node& leaf, const Tensor& x) {
  Operand& out = leaf.out[0];
  out.layout = x.layout();
  out.offset = x.offset();
  out.dtype = x.dtype();
  out.version = x.storage().version;
  out.saved = x.storage_ref();
  leaf.device = &x.device();
}

}  // namespace

void replace_data(const Tensor& x, const Tensor& value) {
  constexpr const char* kName = "to";
  context().check_may_change(kName);
  value.storage().check_whole(kName);
  if (!x.is_leaf())
    fail(kName, ": the memory of a result of an op cannot be replaced; detach() makes a leaf");
  if (!(x.shape() == value.shape()))
    fail(kName, ": shape ", value.shape(), " cannot replace the tensor's ", x.shape());
  if (x.requires_grad() && !is_differentiable(value.dtype()))
    fail(kName, ": a parameter that requires grad cannot become ", value.dtype());
  TensorBody& body = *x.body();
  if (body.storage.get() == value.body()->storage.get() && body.layout == value.layout() &&
      body.offset == value.offset() && body.dtype == value.dtype())
    return;
  const NoGrad off;
  Tensor grad = x.grad();
  if (grad.defined()) grad = to(to(grad.detach(), value.dtype()), value.device());
  // Raises the version, so that a cache keyed by id and version notices the change.
  Storage& storage = value.storage();
  if (storage.version <= body.storage->version) storage.version = body.storage->version + 1;
  body.storage = value.storage_ref();
  body.layout = value.layout();
  body.offset = value.offset();
  body.dtype = value.dtype();
  body.base = {};
  if (!body.node) return;
  describe_leaf(*body.node, x);
  body.node->grad = std::move(grad);
}

}  // namespace lunagrad
