// Products of small matrices that fit into the caches, with the sums in registers; attention uses them for
// its tiles. Included once per SIMD target, after hwy/highway.h. Pure, any thread.
#if defined(LUNAGRAD_CPU_TILE_PRODUCT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LUNAGRAD_CPU_TILE_PRODUCT_H
#undef LUNAGRAD_CPU_TILE_PRODUCT_H
#else
#define LUNAGRAD_CPU_TILE_PRODUCT_H
#endif

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of C whose sums stay in registers, each as two vectors of columns: as many as there are registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 4;
#endif

template <bool transposed, int vectors, class T>
HWY_INLINE void register_tile(int64_t k, const T* HWY_RESTRICT a, int64_t a_step, const T* HWY_RESTRICT b,
                              int64_t b_step, bool add, T* HWY_RESTRICT c, int64_t c_step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = int64_t(hn::Lanes(d));
  V sum[kTileRows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = add ? hn::LoadU(d, c + r * c_step + v * lanes) : hn::Zero(d);
  for (int64_t i = 0; i < k; ++i) {
    V right[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, b + i * b_step + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; ++r) {
      const V left = hn::Set(d, transposed ? a[i * a_step + r] : a[r * a_step + i]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) hn::StoreU(sum[r][v], d, c + r * c_step + v * lanes);
}

// C = A B, or C += A B, for kTileRows rows of C: A [kTileRows, k] or, transposed, [k, kTileRows]; B [k,
// columns]. The steps are the row strides in elements; columns must be a multiple of the lanes.
template <bool transposed, class T>
HWY_INLINE void multiply_tile(int64_t columns, int64_t k, const T* a, int64_t a_step, const T* b,
                              int64_t b_step, bool add, T* c, int64_t c_step) {
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>()));
  int64_t i = 0;
  for (; i + 2 * lanes <= columns; i += 2 * lanes)
    register_tile<transposed, 2>(k, a, a_step, b + i, b_step, add, c + i, c_step);
  if (i < columns) register_tile<transposed, 1>(k, a, a_step, b + i, b_step, add, c + i, c_step);
}

#if HWY_TARGET != HWY_SCALAR
// Loads 16 bytes each from p, p + step, p + 2 step, … into one vector.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* p, int64_t step) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, p);
  } else {
    const hn::Half<D> half;
    const int64_t blocks = int64_t(hn::MaxLanes(D()) * sizeof(T) / 32);
    return hn::Combine(d, load_blocks(half, p + blocks * step, step), load_blocks(half, p, step));
  }
}

// Writes the transpose of a block: as many rows as a vector has lanes, and 16 bytes of columns.
template <class T>
HWY_INLINE void transpose_strip(const T* from, int64_t from_step, T* to, int64_t to_step) {
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(T) == 4) {
    const hn::RepartitionToWide<decltype(d)> pairs;
    const auto a = load_blocks(d, from, 4 * from_step), b = load_blocks(d, from + from_step, 4 * from_step);
    const auto c = load_blocks(d, from + 2 * from_step, 4 * from_step);
    const auto e = load_blocks(d, from + 3 * from_step, 4 * from_step);
    const auto low_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
    const auto low_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
    const auto high_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
    const auto high_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low_ab, low_ce)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low_ab, low_ce)), d, to + to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high_ab, high_ce)), d, to + 2 * to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high_ab, high_ce)), d, to + 3 * to_step);
  } else {
    const auto a = load_blocks(d, from, 2 * from_step), b = load_blocks(d, from + from_step, 2 * from_step);
    hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
    hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_step);
  }
}
#endif

// to [columns, width] = the transpose of from [rows, columns], padded with zeros from `rows` to `width`.
template <class T>
HWY_INLINE void transpose_tile(int64_t rows, int64_t columns, const T* from, int64_t from_step, T* to,
                               int64_t width) {
  int64_t row = 0;
#if HWY_TARGET != HWY_SCALAR
  const int64_t lanes = int64_t(hn::Lanes(hn::ScalableTag<T>())), block = 16 / int64_t(sizeof(T));
  const int64_t whole = columns / block * block;
  for (; row + lanes <= rows; row += lanes) {
    const T* const strip = from + row * from_step;
    for (int64_t i = 0; i < whole; i += block)
      transpose_strip(strip + i, from_step, to + i * width + row, width);
    for (int64_t i = whole; i < columns; ++i)
      for (int64_t lane = 0; lane < lanes; ++lane) to[i * width + row + lane] = strip[lane * from_step + i];
  }
#endif
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t r = row; r < rows; ++r) to[i * width + r] = from[r * from_step + i];
    for (int64_t r = rows; r < width; ++r) to[i * width + r] = T(0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#endif
