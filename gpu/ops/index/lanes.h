#pragma once
// Elements selected by an index along one dim (gpu/ops/index/lanes.comp), for gather, scatter and similar
// ops.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Most indices of a lane in one dispatch. It limits the time of an invocation; Mesa's CPU driver would also
// end a loop silently after 65535 rounds.
inline constexpr uint32_t kLongestLane = 1 << 15;

enum class LaneMode : uint32_t {
  take = shaders::Lanes::kTake,
  put = shaders::Lanes::kPut,
  add = shaders::Lanes::kAdd,
  product = shaders::Lanes::kProduct,
  largest = shaders::Lanes::kLargest,
  smallest = shaders::Lanes::kSmallest
};

// A tensor as the lanes of an index see it: `strides` for the index's dims except the selecting one, `step`
// for that dim.
struct LaneView {
  const Tensor* memory;
  Strides strides;
  int64_t step;
};
// The shape of the index, and the dim along which it selects one of the `size` positions of `target`.
struct Lanes {
  Shape shape;
  int dim;
  int64_t size;
};
// take copies from target to source, put from source to target; the other modes combine target and source
// (f32 or integers) in the target. An index out of range is noted as a fault of the given kind; negative
// indices of index_fill count from the end.
void run_lanes(LaneMode, const Lanes&, const LaneView& target, const LaneView& source, const LaneView& index,
               FaultKind, Recorder&);

// Whether lanes are the right way: with one invocation each they keep a device busy, or they are so short
// that another way would take longer.
bool lanes_suffice(const Tensor& index, int dim);

// The dim of the call's first operand that the first parameter names, and the size of x along a dim.
int dim_of(const Call&);
int64_t size_along(const Tensor& x, int dim);

// View of a tensor with as many dims as the index.
LaneView view_of(const Tensor&, int dim);
// same_for_all(): one element for all lanes and positions. flat_index(): a one-dim index for all lanes.
LaneView same_for_all(const Tensor&, int dims);
LaneView flat_index(const Tensor&, int dims);

}  // namespace lunagrad::gpu
