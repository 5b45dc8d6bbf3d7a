#pragma once
// Changes of the levels of batched tensors. For the tensors' thread.
#include "runtime/batching/batched.h"

namespace lunagrad {

// The levels of all operands together. Error when one of them belongs to a vmap that has ended.
BatchLevels union_of_levels(std::span<const Tensor>);
BatchLevels join(const BatchLevels&, const BatchLevels&);

// The value [N, ...] of x for `levels`, which include its own: x is repeated over the missing ones.
Tensor value_for(const Tensor& x, const BatchLevels& levels);

// Makes dim 0 of a tensor a level, which must be the innermost of its levels.
Tensor into_level(const Tensor& x, const BatchLevel&);
// The opposite: turns `levels` of x into one dim in front. x is repeated over levels that it does not have.
Tensor out_of_levels(const Tensor& x, const BatchLevels& levels);
// Turns dim 0 of x, which has one position for each sample of `levels`, into these levels. x keeps its own
// levels.
Tensor under_levels(const Tensor& x, const BatchLevels& levels);

}  // namespace lunagrad
