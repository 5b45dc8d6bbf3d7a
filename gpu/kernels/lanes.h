#pragma once
// Elements named by an index along one dim (shaders/lanes.comp): behind gather, scatter and their like.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

enum class LaneMode : uint32_t { take, put, add };

// A tensor's memory as the lanes of an index see it: the strides of the index's dims but the one along which
// it names, and that of this one.
struct LaneView {
  const Tensor* memory;
  Strides strides;
  int64_t step;
};
// `shape`: of the index; `dim`: the one along which it names elements of `target`, which has `size` of them.
struct Lanes {
  Shape shape;
  int dim;
  int64_t size;
};
// Reads the index, and source or target; the other is written. Elements of `add` are f32 or integers.
void run_lanes(LaneMode, const Lanes&, const LaneView& target, const LaneView& source, const LaneView& index,
               FaultKind, Recorder&);

// A view of a tensor with the index's number of dims.
LaneView view_of(const Tensor&, int dim);
// One element for all lanes and places; an index of one dim that serves all lanes.
LaneView same_for_all(const Tensor&, int dims);
LaneView flat_index(const Tensor&, int dims);

}  // namespace lunagrad::gpu
