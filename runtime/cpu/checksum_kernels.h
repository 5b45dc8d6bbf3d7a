#pragma once
// The loop of checksums of large data. Pure; any thread.
#include <cstddef>
#include <cstdint>

namespace lunagrad {

inline constexpr size_t kSumLanes = 64;                            // of the state of a checksum
inline constexpr size_t kSumBytes = kSumLanes * sizeof(uint32_t);  // of a block

// Mixes blocks of kSumBytes bytes into the state, each 4 bytes into a lane of its own, so that a vector of
// the processor holds several. No two states become the same one by it.
void mix_blocks(uint32_t* state, const char* bytes, size_t blocks);

}  // namespace lunagrad
