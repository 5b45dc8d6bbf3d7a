#pragma once
// Copies on the device between any strides and types: for clone, copy_, casts, cat and fills.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Whether copy() can convert between the types; f64 goes to f64 only.
bool can_copy(const Tensor& from, DType to);

// out = from, which is broadcast and may be a number. Does nothing if out has no elements. Both may have any
// number of elements: large tensors are copied in halves.
void copy(const Tensor& out, const Tensor& from, Recorder&);

// The result of an op that changes a few elements of x. It is contiguous and begins as a copy of x. It has
// the memory of `out`, or finish() copies it there; nothing is copied if x is changed in place.
class Changed {
 public:
  Changed(const Tensor& out, const Tensor& x, Recorder&);
  const Tensor& tensor() const { return memory_; }
  void finish() const;

 private:
  const Tensor& out_;
  Tensor memory_;
  Recorder& recorder_;
};

}  // namespace lunagrad::gpu
