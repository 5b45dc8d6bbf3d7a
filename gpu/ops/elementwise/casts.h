#pragma once
// Independent casts between floats (runtime/deferral/cast_units.h), in one dispatch.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Records the group if it consists of independent casts, all of the same types. Returns false if members read
// each other's results.
bool run_casts(const CallGroup&, Recorder&);

}  // namespace lunagrad::gpu
