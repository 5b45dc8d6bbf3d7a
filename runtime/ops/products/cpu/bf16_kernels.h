#pragma once
// The processor's kernels for products of bf16 matrices: AMX (tile registers) or AVX512-BF16. They multiply
// packed tiles (bf16_pack.h). Pure functions on the given memory; any thread.
#include <cstdint>

namespace lunagrad {

// A tile is 16 rows of 16 words (1 KiB); a word holds two bf16, the earlier term in its lower half.
inline constexpr int64_t kTileSide = 16;
inline constexpr int64_t kTileWords = kTileSide * kTileSide;
inline constexpr int64_t kTileTerms = 2 * kTileSide;   // terms of the sums in a tile
inline constexpr int64_t kKernelSide = 2 * kTileSide;  // rows and columns of C that one call computes

struct Bf16Kernel {
  const char* name;  // "AMX"
  // Call these around `multiply` on each thread: tile registers have a state that the thread loads and
  // releases.
  void (*begin)();
  void (*end)();
  // C = A B, or C += A B with `add`, for C [32, 32] in f32 with `c_row` elements from row to row. A is two
  // panels of `tiles` tiles, with its rows 1 to 16 and 17 to 32; B has its columns in two such panels. The
  // second panel begins `panel` words after the first. Operands and sums below 2^-126 count as 0.
  void (*multiply)(int64_t tiles, const uint32_t* a, const uint32_t* b, int64_t panel, bool add, float* c,
                   int64_t c_row);
};

// The kernel in use; null: this processor has none, or LUNAGRAD_BF16=off. LUNAGRAD_BF16=avx512 excludes AMX;
// amx, the default, allows all kernels. Error when the variable has another value.
const Bf16Kernel* bf16_kernel();

// Replaces the kernel in use; null: none. For tests, while no product runs.
void use_bf16_kernel(const Bf16Kernel*);

}  // namespace lunagrad
