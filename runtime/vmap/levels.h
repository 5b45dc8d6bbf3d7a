#pragma once
// Changes of the levels of batched tensors. For the thread of the tensors.
#include "runtime/batching/batched.h"

namespace lunagrad {

// The levels of all operands together. Error when one of them belongs to a vmap that has ended.
BatchLevels joined_levels(std::span<const Tensor>);
BatchLevels join(const BatchLevels&, const BatchLevels&);

// The value [N, ...] of x for `levels`, which include its own: x is repeated over the missing ones.
Tensor value_for(const Tensor& x, const BatchLevels& levels);

// Makes dim 0 of a tensor a level, which must be the innermost of its levels.
Tensor into_level(const Tensor& x, const BatchLevel&);
// Turns `levels` of x, which include all that it has of them, into one dim in front: the opposite.
Tensor out_of_levels(const Tensor& x, const BatchLevels& levels);
// A tensor whose samples are batch values of `levels` ([n, ...]), as a tensor of these and of its own levels.
Tensor under_levels(const Tensor& x, const BatchLevels& levels);

}  // namespace lunagrad
