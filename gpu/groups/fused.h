#pragma once
// Groups of elementwise calls and row reductions on a Vulkan device. Each kind of group has a shader, which
// is written when the first such group runs, and compiled in the background. Until it is ready the members
// run one by one, with the same bits.
#include <vector>

#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Whether the call may be a member: a row or gradient that is computed in f32, a cast between floats, or a
// row reduction in which a workgroup takes whole rows.
bool can_fuse(const Call&);

// Records the group if its shader is ready. `later`: run the members one by one. `never`: run
// parts_without_rows().
enum class FusedRun { done, later, never };
FusedRun run_fused(const CallGroup&, Recorder&);

// The same calls as groups without row reductions. All results get memory.
std::vector<CallGroup> parts_without_rows(const CallGroup&);

// Whether to wait for the shaders of groups, for tests and measurements.
void wait_for_fused(bool on);

}  // namespace lunagrad::gpu
