#pragma once
// The memory of a call's outputs. Op::shape emits outputs without memory. Views already share the memory of
// an input, and a write in place may have made its target an output (in_place.h): these keep what they have.
// The outputs own the memory that they get here. For the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

// Gives one output its memory. Error when the device cannot hold its dtype or has no room.
void allocate_output(const Call&, TensorBody& output, Device&);

// Gives memory to the outputs that have none.
inline void allocate_outputs(const Call& call, Device& device) {
  for (const Tensor& y : call.out)
    if (!y.body()->storage) allocate_output(call, *y.body(), device);
}

// Makes storages without memory for the outputs that have none: the queue allocates it later. An output that
// exceeds the device's whole memory is an error now.
void defer_allocation(const Call&, Device&);

// Whether no element of an output is to be computed: all outputs are views or empty.
inline bool nothing_to_compute(const Call& call) {
  if (call.op->writes_inputs) return false;
  for (size_t i = 0; i < call.out.size(); ++i)
    if (!(call.aliases >> i & 1) && call.out[i].numel() > 0) return false;
  return true;
}

}  // namespace lunagrad
