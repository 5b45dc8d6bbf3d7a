#pragma once
// Elements selected by an index along one dim (shaders/lanes.comp), for gather, scatter and similar ops.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// The indices of a lane that one dispatch processes. A thread is not kept busy for longer, and Mesa's CPU
// driver would end a loop silently after 65535 rounds.
inline constexpr uint32_t kLongestLane = 1 << 15;

enum class LaneMode : uint32_t {
  take = shaders::Lanes::kTake,
  put = shaders::Lanes::kPut,
  add = shaders::Lanes::kAdd,
  product = shaders::Lanes::kProduct,
  largest = shaders::Lanes::kLargest,
  smallest = shaders::Lanes::kSmallest
};

// A tensor as the lanes of an index see it: `strides` for the dims of the index except the one along which it
// selects, `step` for that one.
struct LaneView {
  const Tensor* memory;
  Strides strides;
  int64_t step;
};
// `shape` of the index, and the dim along which it selects among the `size` elements of `target`.
struct Lanes {
  Shape shape;
  int dim;
  int64_t size;
};
// take copies from target to source, put from source to target; add and those after it combine source and
// target (f32 or integers) in the target. A fault of this kind is noted where an index is out of range;
// negative indices of index_fill count from the end.
void run_lanes(LaneMode, const Lanes&, const LaneView& target, const LaneView& source, const LaneView& index,
               FaultKind, Recorder&);

// Whether the lanes of an index keep a device busy with one thread each, or are so short that another way
// would take longer.
bool lanes_suffice(const Tensor& index, int dim);

// The dim of the call's first operand that its first parameter names, and the size of x along it.
int dim_of(const Call&);
int64_t size_along(const Tensor& x, int dim);

// A tensor with as many dims as the index.
LaneView view_of(const Tensor&, int dim);
// One element for all lanes and positions; an index of one dim for all lanes.
LaneView same_for_all(const Tensor&, int dims);
LaneView flat_index(const Tensor&, int dims);

}  // namespace lunagrad::gpu
