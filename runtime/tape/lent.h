#pragma once
// Memory that tensors have only for a while. A parameter of a sharded model is whole while its part of the
// model runs: memory is lent to it before, and taken back after. Backward needs the values again, so the
// nodes that were recorded in between do not keep them: they ask for the memory when the first of them is
// differentiated. For the thread of the tensors.
#include <functional>

#include "runtime/tape/node.h"
#include "runtime/tensor.h"

namespace lunagrad {

// x gets the memory of `value`, which has its shape, type and device, and the version of `source`, from which
// the values were copied: where they are lent again for backward, a write to the source in between is an
// Error, as for any saved value. x is a leaf; it keeps its node and its gradient. Error when shape, type or
// device differ, or x is the result of an op.
void lend_memory(const Tensor& x, const Tensor& value, const Tensor& source);
// x keeps its shape and has no memory. To read it is an Error until memory is lent again. The memory itself
// lives as long as other tensors or nodes refer to it.
void take_back_memory(const Tensor& x);

// Runs `forward`, whose nodes keep none of the memory that is lent to `lent` now. When backward reads it,
// `again` must lend it. Returns whether backward may need the memory: false means that `again` is never
// called. Inside of a checkpoint (checkpoint.h), which keeps no values, and with the tape off this only runs
// `forward`.
bool run_lent(TensorList lent, const std::function<void()>& forward, std::function<void()> again);

// A checkpoint began inside of the region: its second run reads what is lent.
void note_checkpoint_inside(CheckpointRegion&);
bool is_lent_region(const CheckpointRegion*);  // made by run_lent

// Storage::torn_by of a tensor without memory (storage.cpp, which words the error).
extern const char* const kTakenBack;

}  // namespace lunagrad
