#pragma once
// Groups of elementwise calls on the CPU: block after block, each member computes a block that fits the
// caches. Called through Device; the thread pool shares the blocks.
namespace lunagrad {

struct Call;
struct CallGroup;

// Whether the call may be a member: an elementwise row, its gradient or a cast, with a contiguous result.
bool can_fuse(const Call&);
void run_fused(const CallGroup&);

}  // namespace lunagrad
