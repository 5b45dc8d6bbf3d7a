#pragma once
// Memory that tensors have only for a while. A parameter of a sharded model is unsharded while its part of
// the model runs: it gets memory before, and loses it afterwards. Backward needs the values again, so the
// nodes recorded in between do not keep them: the memory is unsharded again when the first of these nodes is
// differentiated. For the thread of the tensors.
#include <functional>

#include "runtime/core/tensor.h"
#include "runtime/tape/node.h"

namespace lunagrad {

// Unshards x: gives it the memory of `value`, which has its shape, type and device, and the version of
// `source`, from which the values were copied. So a write to the source before backward unshards x again is
// an Error, as for any saved value. x is a leaf; it keeps its node and its gradient. Error when shape, type
// or device differ, or x is the result of an op.
void unshard_memory(const Tensor& x, const Tensor& value, const Tensor& source);
// Reshards x: it keeps its shape and has no memory. Reading it is an Error until it is unsharded again. The
// memory itself lives as long as other tensors or nodes refer to it.
void reshard_memory(const Tensor& x);

// Runs `forward`. Its nodes do not keep the memory that the tensors in `unsharded` have now; when backward
// reads it, `again` must unshard them. Returns whether backward may need the memory: false means that `again`
// is never called. Inside a checkpoint (checkpoint.h), which keeps no values, and with the tape off this only
// runs `forward`.
bool run_unsharded(TensorList unsharded, const std::function<void()>& forward, std::function<void()> again);

// A checkpoint began inside the region: its second run reads the unsharded tensors.
void note_checkpoint_inside(CheckpointRegion&);
bool is_unsharded_region(const CheckpointRegion*);  // made by run_unsharded

// Storage::half_written_by of a resharded tensor, which has no memory (storage.cpp has the error's text).
extern const char* const kResharded;

}  // namespace lunagrad
