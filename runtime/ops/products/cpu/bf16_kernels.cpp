#include "runtime/ops/products/cpu/bf16_kernels.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/cpu/simd_targets.h"
#include "runtime/system/processor.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lunagrad {
namespace {

#ifdef __x86_64__
// Tile registers 0 to 3 hold C, 4 and 5 A, 6 and 7 B.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kTileConfig;

[[gnu::target("amx-tile")]] void amx_begin() { _tile_loadconfig(&kTileConfig); }
[[gnu::target("amx-tile")]] void amx_end() { _tile_release(); }

// Contains only tile instructions: the compiler does not know that they read memory, so nothing else here may
// write the memory that they load.
[[gnu::target("amx-tile,amx-bf16")]] void amx_multiply(int64_t tiles, const uint32_t* a, const uint32_t* b,
                                                       int64_t panel, bool add, float* c, int64_t c_row) {
  constexpr int64_t kRow = kTileSide * int64_t(sizeof(uint32_t));
  const int64_t row = c_row * int64_t(sizeof(float));
  float* const below = c + kTileSide * c_row;
  if (add) {
    _tile_loadd(0, c, row);
    _tile_loadd(1, c + kTileSide, row);
    _tile_loadd(2, below, row);
    _tile_loadd(3, below + kTileSide, row);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (int64_t i = 0; i < tiles; ++i, a += kTileWords, b += kTileWords) {
    _tile_loadd(6, b, kRow);
    _tile_loadd(4, a, kRow);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + panel, kRow);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + panel, kRow);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, row);
  _tile_stored(1, c + kTileSide, row);
  _tile_stored(2, below, row);
  _tile_stored(3, below + kTileSide, row);
}

// AMX-TILE and AMX-BF16, bits 24 and 22 of EDX (Intel, Software Developer's Manual, CPUID leaf 7): Clang 14's
// __builtin_cpu_supports lacks them.
bool has_tiles() {
  constexpr unsigned kBoth = 1u << 24 | 1u << 22;
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & kBoth) == kBoth;
}

void do_nothing() {}

// Sums of 8 rows and 32 columns stay in registers.
[[gnu::target("avx512f,avx512bf16")]] void avx512_multiply(int64_t tiles, const uint32_t* a,
                                                           const uint32_t* b, int64_t panel, bool add,
                                                           float* c, int64_t c_row) {
  constexpr int kRows = 8;
  for (int64_t row = 0; row < kKernelSide; row += kRows) {
    const uint32_t* left = a + row / kTileSide * panel + row % kTileSide * kTileSide;
    const uint32_t* right = b;
    float* const out = c + row * c_row;
    __m512 sums[kRows][2];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] = add ? _mm512_loadu_ps(out + r * c_row) : _mm512_setzero_ps();
      sums[r][1] = add ? _mm512_loadu_ps(out + r * c_row + kTileSide) : _mm512_setzero_ps();
    }
    for (int64_t i = 0; i < tiles; ++i, left += kTileWords, right += kTileWords)
      for (int64_t pair = 0; pair < kTileSide; ++pair) {
        const __m512bh b0 = (__m512bh)_mm512_loadu_si512(right + pair * kTileSide);
        const __m512bh b1 = (__m512bh)_mm512_loadu_si512(right + panel + pair * kTileSide);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const __m512bh both = (__m512bh)_mm512_set1_epi32(int(left[r * kTileSide + pair]));
          sums[r][0] = _mm512_dpbf16_ps(sums[r][0], both, b0);
          sums[r][1] = _mm512_dpbf16_ps(sums[r][1], both, b1);
        }
      }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      _mm512_storeu_ps(out + r * c_row, sums[r][0]);
      _mm512_storeu_ps(out + r * c_row + kTileSide, sums[r][1]);
    }
  }
}

constexpr Bf16Kernel kAmx{"AMX", amx_begin, amx_end, amx_multiply};
constexpr Bf16Kernel kAvx512{"AVX512-BF16", do_nothing, do_nothing, avx512_multiply};
#endif

const Bf16Kernel* best_kernel() {
  const char* const set = std::getenv("LUNAGRAD_BF16");
  const std::string_view wish = set ? set : "amx";
  if (wish != "off" && wish != "avx512" && wish != "amx")
    fail("LUNAGRAD_BF16=", wish, ": the values are off, avx512 and amx");
#ifdef __x86_64__
  // Tests that exclude AVX-512 exclude these kernels, too.
  if (wish == "off" || !(supported_simd_targets() & HWY_AVX3)) return nullptr;
  if (wish == "amx" && has_tiles() && allow_tile_registers()) return &kAmx;
  if (__builtin_cpu_supports("avx512bf16")) return &kAvx512;
#endif
  return nullptr;
}

std::atomic<const Bf16Kernel*>& in_use() {
  static std::atomic<const Bf16Kernel*> kernel{best_kernel()};
  return kernel;
}

}  // namespace

const Bf16Kernel* bf16_kernel() { return in_use().load(std::memory_order_relaxed); }
void use_bf16_kernel(const Bf16Kernel* kernel) { in_use().store(kernel, std::memory_order_relaxed); }

}  // namespace lunagrad
