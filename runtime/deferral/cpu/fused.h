#pragma once
// Groups of elementwise calls and row reductions on the CPU: block after block, or row after row, each member
// computes as many elements as fit the caches. Called through Device; the thread pool shares the blocks.
namespace lunagrad {

struct Call;
struct CallGroup;

// Whether the call may be a member: an elementwise row, its gradient or a cast, with a contiguous result; a
// row reduction; or a call with a row kernel (row_kernel.h).
bool can_fuse(const Call&);
void run_fused(const CallGroup&);

}  // namespace lunagrad
