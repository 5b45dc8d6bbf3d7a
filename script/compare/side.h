#pragma once
// One way to compute the nodes of a step: on one device or on that of each node, in one floating type or in
// that of each value. It runs a kept node's call, or its gradient alone, on values that the caller gives. For
// the session's thread, inside an Aside. Errors are those of the ops.
#include <optional>
#include <string>

#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The values of one call: operands, results, and the gradients of the results that arrived. Undefined:
// absent.
struct CallValues {
  TensorList inputs, outputs, gradients;
};

class Side {
 public:
  // Null: the device of each node. No type: that of each value.
  explicit Side(Device* device = nullptr, std::optional<DType> type = {}) : device_(device), type_(type) {}

  Device& device_of(const KeptNode& node) const { return device_ ? *device_ : *node.device; }
  DType type_of(DType) const;
  // The value on this side, where `node` computes with it. Numbers of the script stay what they are.
  Tensor bring(const Tensor&, const KeptNode& node) const;
  TensorList bring(const TensorList&, const KeptNode& node) const;
  // The value after a cast to this side's type and back, for another side to compute with the same numbers.
  Tensor rounded(const Tensor&) const;

  struct Computed {
    TensorList outputs;
    bool one_node = true;  // false: this side composes the call of others
    std::string note;      // "the CPU computed it: …"; "" else
  };
  Computed compute(const KeptNode&, const TensorList& inputs) const;
  // The gradients of the inputs that want one, undefined for the others. `one_node`: what compute() said.
  // Then the gradient is that of the given outputs; a composed call is computed again first.
  TensorList differentiate(const KeptNode&, const CallValues&, bool one_node) const;

 private:
  Values params_of(const KeptNode&) const;
  TensorList results_of(const KeptNode&, const TensorList& inputs) const;
  bool goes_through_f32(const KeptNode&, const TensorList& inputs) const;

  Device* device_;
  std::optional<DType> type_;
};

// A tensor with the elements of `dense`, in memory as `like` is, unless elements of that overlap: a view's
// parameters may refer to strides.
Tensor laid_out_like(const Tensor& dense, const Tensor& like);
// The tensor on another device, in memory as it is: its bytes are copied, no kernel runs.
Tensor moved(const Tensor&, Device&);

}  // namespace lunagrad
