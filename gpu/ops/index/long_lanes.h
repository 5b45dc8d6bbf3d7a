#pragma once
// Long lanes of an index (gpu/ops/index/lanes.h). Each has one invocation with several accesses in flight.
#include "gpu/ops/index/lanes.h"

namespace lunagrad::gpu {

// Whether the lanes of an index are long, and enough to keep a device busy with one invocation each.
bool has_long_lanes(const Tensor& index, int dim);

// Like run_lanes(), for put and add.
void run_long_lanes(LaneMode, const Lanes&, const LaneView& target, const LaneView& source,
                    const LaneView& index, FaultKind, Recorder&);

}  // namespace lunagrad::gpu
