#pragma once
// Ops written by the user: a forward function, which computes outputs with the tape off, and a backward
// function, which computes the inputs' gradients from the outputs' gradients. On the tape a custom op is a
// node with its own name. Values that forward saves are version-checked when backward reads them. A backward
// written in ops can be differentiated again. For the thread of the tensors.
#include <functional>
#include <memory>
#include <string>

#include "runtime/core/op.h"

namespace lunagrad {

// The values that forward and backward of one call share.
class CustomContext {
 public:
  explicit CustomContext(std::vector<bool> needs, TensorList saved = {})
      : saved_(std::move(saved)), needs_(std::move(needs)) {}
  // For forward: keeps values for backward. Values that are neither inputs nor outputs are constants when the
  // gradient itself is differentiated.
  void save(const TensorList& tensors) { saved_.insert(saved_.end(), tensors.begin(), tensors.end()); }
  // For backward: the saved values, in the order of save().
  const TensorList& saved() const { return saved_; }
  bool needs_input_grad(size_t input) const { return needs_[input]; }

 private:
  TensorList saved_;
  std::vector<bool> needs_;
};

using CustomForward = std::function<TensorList(CustomContext&, const TensorList& inputs)>;
// One gradient for each input (undefined for none), of the input's shape.
using CustomBackward = std::function<TensorList(const CustomContext&, const TensorList& grads)>;

struct CustomOp {
  const Op* record = nullptr;  // custom_record(name)
  CustomForward forward;
  CustomBackward backward;
  // Makes the same op for other inputs with the same shapes and dtypes. Callable after this call has ended,
  // for example to check the gradient; empty when that is not possible.
  std::function<CustomOp(const TensorList& inputs)> again = {};
};

// The record of custom ops of this name. Created at the first call, never freed. Thread-safe.
const Op* custom_record(const std::string& name);
bool is_custom(const Op&);  // whether custom_record() made it

// Runs forward and records a node. Error when forward returns an undefined tensor.
TensorList apply_custom(const CustomOp&, const TensorList& inputs);

}  // namespace lunagrad
