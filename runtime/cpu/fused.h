#pragma once
// Groups of elementwise calls and folds of rows on the CPU: block after block, or row after row, each member
// computes what fits the caches. Called through Device; the thread pool shares the blocks.
namespace lunagrad {

struct Call;
struct CallGroup;

// Whether the call may be a member: an elementwise row, its gradient or a cast, with a contiguous result, a
// fold of rows, or a call with a kernel of rows (row_kernel.h).
bool can_fuse(const Call&);
void run_fused(const CallGroup&);

}  // namespace lunagrad
