#pragma once
// Long lanes of an index (gpu/ops/index/lanes.h). Each has one invocation with several accesses in flight.
#include "gpu/ops/index/indexed_rows.h"
#include "gpu/ops/index/lanes.h"

namespace lunagrad::gpu {

// Whether the lanes of an index are long, and enough to keep a device busy with one invocation each.
bool has_long_lanes(const Tensor& index, int dim);

// Like run_lanes(), for all modes but take.
void run_long_lanes(LaneMode, const Lanes&, const LaneView& target, const LaneView& source,
                    const LaneView& index, FaultKind, Recorder&);

using RunLanes = void (*)(LaneMode, const Lanes&, const LaneView& target, const LaneView& source,
                          const LaneView& index, FaultKind, Recorder&);
// The function for the lanes of an index, run_lanes() or run_long_lanes(). Null: its rows should be written
// or reduced instead, because the lanes are too few, or because they repeat and need only one search for all.
RunLanes lanes_for(const Tensor& index, int dim, const IndexedRows&);

}  // namespace lunagrad::gpu
