#pragma once
// Sums by index: the indices are sorted with their positions, then the rows of equal ones are added up in order.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// target [outer, size, inner] += alpha * source [outer, count of the indices, inner], each row where its index
// leads. Both are contiguous, of f32 or integers. An index leads along dim `dim` of a target with these strides,
// in rows; along the other dims it leads to its own position.
struct SumsByIndex {
  uint64_t outer, size, inner;
  Tensor index;  // contiguous
  int dim;
  int64_t choices;  // the size of the target along the dim
  Strides strides;
  double alpha;
  FaultKind fault;
};
void add_by_index(const Tensor& target, const Tensor& source, const SumsByIndex&, Recorder&);

}  // namespace lunagrad::gpu
