#pragma once
// One way to compute the nodes of a step: on one device or on each node's device, in one floating type or in
// each value's type. It runs a kept node's call, or only its gradient, on values that the caller passes. For
// the session's thread, inside a WithoutListeners. Throws the ops' errors.
#include <optional>
#include <string>

#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The values of one call: operands, results, and the gradients that reached the results. Undefined: absent.
struct CallValues {
  TensorList inputs, outputs, gradients;
};

class Side {
 public:
  // `device` null: each node's device. No `type`: each value's type.
  explicit Side(Device* device = nullptr, std::optional<DType> type = {}) : device_(device), type_(type) {}

  Device& device_of(const KeptNode& node) const { return device_ ? *device_ : *node.device; }
  DType type_of(DType) const;
  // The value on this side, on the device where `node` computes. Numbers of the script are unchanged.
  Tensor bring(const Tensor&, const KeptNode& node) const;
  TensorList bring(const TensorList&, const KeptNode& node) const;
  // The value after a cast to this side's type and back, so that another side can compute with the same
  // numbers.
  Tensor rounded(const Tensor&) const;

  struct Computed {
    TensorList outputs;
    bool one_node = true;  // false: this side composes the call of several nodes
    std::string note;      // "the CPU computed it: …", or ""
  };
  Computed compute(const KeptNode&, const TensorList& inputs) const;
  // The gradients of the inputs that require one, undefined for the others. `one_node`: from compute(). When
  // true, differentiates the given outputs; a composed call is computed again first.
  TensorList differentiate(const KeptNode&, const CallValues&, bool one_node) const;

 private:
  Values params_of(const KeptNode&) const;
  TensorList results_of(const KeptNode&, const TensorList& inputs) const;
  bool goes_through_f32(const KeptNode&, const TensorList& inputs) const;

  Device* device_;
  std::optional<DType> type_;
};

// A tensor with the elements of `dense` and the memory layout of `like`, since a view's parameters may refer
// to strides. Contiguous when elements of `like` overlap.
Tensor laid_out_like(const Tensor& dense, const Tensor& like);
// The tensor on another device in the same layout: its bytes are copied, no kernel runs.
Tensor moved(const Tensor&, Device&);

}  // namespace lunagrad
