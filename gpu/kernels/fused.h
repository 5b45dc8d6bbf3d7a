#pragma once
// Groups of elementwise calls on a Vulkan device: a shader for each kind of group, written and compiled when
// the group is seen first, in the background. Until it is ready the members run one by one, with the same
// bits.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Whether the call may be a member: a row or gradient that is computed in f32, or a cast between floats.
bool can_fuse(const Call&);

// Records the group if its shader is ready; false: run the members one by one.
bool run_fused(const CallGroup&, Recorder&);

// Waits for the shaders of groups, for tests and measurements.
void wait_for_fused(bool on);

}  // namespace lunagrad::gpu
