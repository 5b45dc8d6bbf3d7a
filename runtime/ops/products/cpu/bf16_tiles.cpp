#include "runtime/ops/products/cpu/bf16_tiles.h"

#include <algorithm>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"

namespace lunagrad {
namespace {

// Tiles of a sum that are added in one pass: a panel of A, 32 KiB, fits the first-level cache.
constexpr int64_t kDepth = 16;
// Words to pack that are worth another thread: 20 µs.
constexpr int64_t kPackGrain = 16 * kTileWords * kDepth;

}  // namespace

void pack_operand(const Bf16Lines& from, bool turned, uint32_t* to) {
  const int64_t tiles = tiles_of(from.terms), parts = ceil_div(tiles, kDepth);
  const int64_t grain = iterations_in(kPackGrain, 2 * std::min(tiles, kDepth) * kTileWords);
  parallel_for(ceil_div(from.count, kKernelSide) * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t pair = i / parts, first = i % parts * kDepth;
      pack_panels(from, turned, pair * kKernelSide, first * kTileTerms, std::min(kDepth, tiles - first),
                  tiles * kTileWords, to + (2 * pair * tiles + first) * kTileWords);
    }
  });
}

void multiply_packed(const Bf16Kernel& kernel, int64_t rows, int64_t columns, int64_t terms,
                     const uint32_t* a, const uint32_t* b, bool add, float* sums, int64_t step) {
  const int64_t tiles = tiles_of(terms), panel = tiles * kTileWords;
  for (int64_t first = 0; first == 0 || first < tiles; first += kDepth) {
    context().check_stop();
    for (int64_t i = 0; i < rows; i += kKernelSide)
      for (int64_t j = 0; j < columns; j += kKernelSide)
        kernel.multiply(std::min(kDepth, tiles - first), a + i / kTileSide * panel + first * kTileWords,
                        b + j / kTileSide * panel + first * kTileWords, panel, add || first > 0,
                        sums + i * step + j, step);
  }
}

}  // namespace lunagrad
