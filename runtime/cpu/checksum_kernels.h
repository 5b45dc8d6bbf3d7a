#pragma once
// The loop of checksums of large data. Pure; any thread.
#include <cstddef>
#include <cstdint>

namespace lunagrad {

inline constexpr size_t kSumLanes = 64;                            // words in the state of a checksum
inline constexpr size_t kSumBytes = kSumLanes * sizeof(uint32_t);  // bytes of a block

// Mixes blocks of kSumBytes bytes into the state, each 4 bytes into a lane of its own, so that the
// processor's vectors hold several lanes. Two different states never become equal by this.
void mix_blocks(uint32_t* state, const char* bytes, size_t blocks);

}  // namespace lunagrad
