#pragma once
// Ops of the user's own: a forward function that computes outputs with the tape off, and a backward function
// that turns their gradients into those of the inputs. On the tape a custom op is a node like others, under
// its name. What forward saves is version-checked when backward reads it. A backward that is written in ops
// can be differentiated again.
#include <functional>
#include <memory>
#include <string>

#include "runtime/tape/tape.h"

namespace lunagrad {

// What forward and backward of one call share.
class CustomContext {
 public:
  // Forward: the values that backward will want. Those that are neither inputs nor outputs count as constants
  // when the gradient itself is differentiated.
  void save(const TensorList& tensors) { saved_.insert(saved_.end(), tensors.begin(), tensors.end()); }
  // Backward: what was saved, in order.
  const TensorList& saved() const { return saved_; }
  bool needs_input_grad(size_t input) const { return needs_[input]; }

 private:
  friend struct CustomCall;
  friend TensorList apply_custom(const struct CustomOp&, const TensorList&);
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
  // The same op for other inputs of the same kinds, callable when this call is long over, as to check its
  // gradient; empty when it cannot be made.
  std::function<CustomOp(const TensorList& inputs)> again = {};
};

// The record that stands for custom ops of this name; made once, never freed.
const Op* custom_record(const std::string& name);

TensorList apply_custom(const CustomOp&, const TensorList& inputs);

// What a node of a custom op holds.
struct CustomCall {
  struct Saved {
    Operand value;
    int input = -1, output = -1;  // which one of the node's it is; -1: none
  };
  std::vector<Saved> saved;
  CustomBackward backward;
  std::function<CustomOp(const TensorList& inputs)> again;

  static void differentiate(Backward&);
};

}  // namespace lunagrad
