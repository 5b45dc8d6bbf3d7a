#pragma once
// Groups of elementwise calls and folds of rows on a Vulkan device: a shader for each kind of group, written
// and compiled when the group is seen first, in the background. Until it is ready the members run one by one,
// with the same bits.
#include <vector>

#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Whether the call may be a member: a row or gradient that is computed in f32, a cast between floats, or a
// fold of rows that a work group folds as a whole.
bool can_fuse(const Call&);

// Records the group if its shader is ready. `later`: run the members one by one. `never`: run its parts.
enum class FusedRun { done, later, never };
FusedRun run_fused(const CallGroup&, Recorder&);

// The same calls without folds of rows in groups. All results get memory.
std::vector<CallGroup> parts_without_rows(const CallGroup&);

// Waits for the shaders of groups, for tests and measurements.
void wait_for_fused(bool on);

}  // namespace lunagrad::gpu
