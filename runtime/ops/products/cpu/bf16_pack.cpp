#include "runtime/ops/products/cpu/bf16_pack.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "runtime/ops/products/cpu/bf16_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/products/cpu/bf16_pack.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/products/cpu/tile_product.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The part of the lines that a pair of tiles holds: at most 32 lines and 32 terms.
struct Window {
  const uint16_t* data;
  int64_t lines, terms;
  int64_t line_stride, term_stride;
  const int64_t* offsets;  // of the lines, or of the terms when the lines have stride 1

  const uint16_t* line(int64_t i) const { return data + (offsets ? offsets[i] : i * line_stride); }
  const uint16_t* term(int64_t i) const { return data + (offsets ? offsets[i] : i * term_stride); }
};

// Clears tiles that are `panel` words apart, as in all functions below.
void clear(uint32_t* to, int64_t panel) {
  std::memset(to, 0, kTileWords * sizeof(uint32_t));
  std::memset(to + panel, 0, kTileWords * sizeof(uint32_t));
}
uint32_t* line_of(uint32_t* to, int64_t panel, int64_t line) {
  return to + line / kTileSide * panel + line % kTileSide * kTileSide;
}

// The terms of a line are adjacent: each row of a tile of lines is a copy.
void copy_lines(const Window& from, uint32_t* to, int64_t panel) {
  if (from.lines < kKernelSide || from.terms < kTileTerms) clear(to, panel);
  for (int64_t i = 0; i < from.lines; ++i)
    if (from.terms == kTileTerms)  // a constant size: one or two vectors
      std::memcpy(line_of(to, panel, i), from.line(i), kTileTerms * sizeof(uint16_t));
    else
      std::memcpy(line_of(to, panel, i), from.line(i), size_t(from.terms) * sizeof(uint16_t));
}

// The lines are adjacent: a row of a tile of pairs interleaves the lines of two terms. Both tiles are written
// together, because each row of `from` is a cache line, and rows a multiple of 4 KiB apart displace each
// other. The rows of the next tiles are prefetched: no hardware prefetcher follows such steps.
void interleave_terms(const Window& from, uint32_t* to, int64_t panel) {
  const hn::CappedTag<uint32_t, kTileSide> d;
  const hn::Rebind<uint16_t, decltype(d)> narrow;
  const int64_t lanes = int64_t(hn::Lanes(d));
  if (from.lines < kKernelSide) {
    clear(to, panel);
    for (int64_t t = 0; t < from.terms; ++t)
      for (int64_t i = 0; i < from.lines; ++i)
        to[i / kTileSide * panel + t / 2 * kTileSide + i % kTileSide] |= uint32_t(from.term(t)[i])
                                                                         << t % 2 * 16;
    return;
  }
  if (from.terms < kTileTerms) clear(to, panel);
  for (int64_t t = 0; t < from.terms; t += 2, to += kTileSide) {
    const uint16_t* const first = from.term(t);
    const uint16_t* const second = t + 1 < from.terms ? from.term(t + 1) : nullptr;
    hwy::Prefetch(first + kTileTerms * from.term_stride);
    hwy::Prefetch(first + (kTileTerms + 1) * from.term_stride);
    for (int64_t i = 0; i < kKernelSide; i += lanes) {
      auto both = hn::PromoteTo(d, hn::LoadU(narrow, first + i));
      if (second) both = hn::Or(both, hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(narrow, second + i))));
      hn::StoreU(both, d, to + i / kTileSide * panel + i % kTileSide);
    }
  }
}

void gather(const Window& from, uint32_t* to, int64_t panel) {
  clear(to, panel);
  for (int64_t i = 0; i < from.lines; ++i)
    for (int64_t t = 0; t < from.terms; ++t)
      line_of(to, panel, i)[t / 2] |= uint32_t(from.line(i)[t * from.term_stride]) << t % 2 * 16;
}

// to = the transpose of `from`, both [16, 16].
void turn(const uint32_t* from, uint32_t* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < kTileWords; ++i) to[i % kTileSide * kTileSide + i / kTileSide] = from[i];
#else
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<uint32_t>()));
  for (int64_t row = 0; row < kTileSide; row += lanes)
    for (int64_t i = 0; i < kTileSide; i += 4)
      transpose_strip(from + row * kTileSide + i, kTileSide, to + i * kTileSide + row, kTileSide);
#endif
}

void pack(const Bf16Lines& from, bool turned, int64_t line, int64_t term, int64_t tiles, int64_t panel,
          uint32_t* to) {
  HWY_ALIGN uint32_t other[2 * kTileWords];
  const bool by_pairs = from.line_stride == 1 && from.term_stride != 1;
  const auto fill = by_pairs ? interleave_terms : from.term_stride == 1 ? copy_lines : gather;
  const int64_t lines = std::min(kKernelSide, from.count - line);
  const uint16_t* const data = from.data + (from.offsets && !by_pairs ? 0 : line * from.line_stride);
  for (int64_t i = 0; i < tiles; ++i, term += kTileTerms, to += kTileWords) {
    const Window window{data + (from.offsets && by_pairs ? 0 : term * from.term_stride),
                        lines,
                        std::min(kTileTerms, from.terms - term),
                        from.line_stride,
                        from.term_stride,
                        from.offsets ? from.offsets + (by_pairs ? term : line) : nullptr};
    if (by_pairs == turned) {
      fill(window, to, panel);
    } else {
      fill(window, other, kTileWords);
      turn(other, to);
      turn(other + kTileWords, to + panel);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {
HWY_EXPORT(pack);
}  // namespace

void pack_panels(const Bf16Lines& from, bool turned, int64_t line, int64_t term, int64_t tiles, int64_t panel,
                 uint32_t* to) {
  HWY_DYNAMIC_DISPATCH(pack)(from, turned, line, term, tiles, panel, to);
}

}  // namespace lunagrad
#endif
