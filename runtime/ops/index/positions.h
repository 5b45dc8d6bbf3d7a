#pragma once
// Positions computed from index tensors (positions.cpp), on any device.
#include <span>

#include "runtime/core/tensor.h"

namespace lunagrad {

// i64 [n]: the rows of a tensor, whose first dims of these sizes are seen as one, that integer tensors name
// together; they broadcast to n elements. Negative indices count from the end. Error "index: index 5 is out
// of range …", or with `puts` "index_put: …", on a GPU at the next wait.
Tensor flat_positions(std::span<const Tensor> indices, const Shape& sizes, bool puts);

// i64 [total]: each position of counts, a vector of integers, as often as it says. Counts that are negative
// or do not add up to total are segment_reduce's error about dim `dim`, on a GPU at the next wait. Both have
// elements.
Tensor repeated_positions(const Tensor& counts, int64_t total, int dim);

}  // namespace lunagrad
