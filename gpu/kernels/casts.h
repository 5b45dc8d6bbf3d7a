#pragma once
// Casts between floats that do not depend on each other (runtime/deferral/wide.h), in one dispatch.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Records the group if it is one of such casts, all of the same types. False: its members read each other's
// results.
bool run_casts(const CallGroup&, Recorder&);

}  // namespace lunagrad::gpu
