#include "runtime/cpu/transpose_kernels.h"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/transpose_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Two adjacent blocks of 16 bytes, or one when a block is a full vector. More columns at a time would
// conflict in the first-level cache, which has few ways for lines a power of two apart.
template <class T>
using Columns = hn::CappedTag<T, 32 / sizeof(T)>;

template <class T>
HWY_INLINE hn::Vec<Columns<T>> load_blocks(const char* in, int64_t in_column) {
  const Columns<T> d;
  if constexpr (hn::MaxLanes(Columns<T>()) * sizeof(T) == 32) {
    const hn::Half<Columns<T>> half;
    constexpr int64_t kBlock = 16 / sizeof(T);
    return hn::Combine(d, hn::LoadU(half, reinterpret_cast<const T*>(in + kBlock * in_column)),
                       hn::LoadU(half, reinterpret_cast<const T*>(in)));
  } else {
    return hn::LoadU(d, reinterpret_cast<const T*>(in));
  }
}

// v holds kBlock columns; each block of 16 bytes has kBlock rows of them. A round of interleaving pairs
// columns i and i + kBlock / 2; log2(kBlock) rounds complete the rows.
template <class D, int kBlock>
HWY_INLINE void interleave_rounds(D d, hn::Vec<D> (&v)[kBlock]) {
  for (int round = 1; round < kBlock; round *= 2) {
    hn::Vec<D> w[kBlock];
    for (int i = 0; i < kBlock / 2; ++i) {
      w[2 * i] = hn::InterleaveLower(d, v[i], v[i + kBlock / 2]);
      w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kBlock / 2]);
    }
    for (int i = 0; i < kBlock; ++i) v[i] = w[i];
  }
}

// Transposes the part that full blocks cover; returns the rows and columns of this part.
template <class T>
HWY_INLINE std::pair<int64_t, int64_t> transpose_blocks(char* out, int64_t out_row, const char* in,
                                                        int64_t in_column, int64_t rows, int64_t columns) {
  const Columns<T> d;
  constexpr int64_t kBlock = 16 / sizeof(T);
  const int64_t lanes = int64_t(hn::Lanes(d));
  const int64_t whole_rows = rows - rows % kBlock, whole_columns = columns - columns % lanes;
  for (int64_t c = 0; c < whole_columns; c += lanes)
    for (int64_t r = 0; r < whole_rows; r += kBlock) {
      hn::Vec<Columns<T>> v[kBlock];
      for (int64_t k = 0; k < kBlock; ++k)
        v[k] = load_blocks<T>(in + r * int64_t(sizeof(T)) + (c + k) * in_column, in_column);
      interleave_rounds(d, v);
      for (int64_t k = 0; k < kBlock; ++k)
        hn::StoreU(v[k], d, reinterpret_cast<T*>(out + (r + k) * out_row + c * int64_t(sizeof(T))));
    }
  return {whole_rows, whole_columns};
}

// Squares with a vector of rows and a column for each lane, whose lines are read and written once.
template <class T>
constexpr bool kSquares = sizeof(T) >= 4 && sizeof(T) < 16 && HWY_MAX_BYTES >= 32 && HWY_ARCH_X86;

// Transposes one square in registers: within blocks of 16 bytes, then the blocks.
template <class T>
HWY_INLINE void transpose_square(char* out, int64_t out_row, const char* in, int64_t in_column) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kBlock = 16 / sizeof(T), kGroups = int(hn::MaxLanes(decltype(d)())) / kBlock;
  V v[kGroups][kBlock];
#pragma GCC unroll 4
  for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 4
    for (int k = 0; k < kBlock; ++k)
      v[g][k] = hn::LoadU(d, reinterpret_cast<const T*>(in + (g * kBlock + k) * in_column));
    interleave_rounds(d, v[g]);
  }
  const auto store = [&](int row, V row_values)
                         HWY_ATTR { hn::StoreU(row_values, d, reinterpret_cast<T*>(out + row * out_row)); };
#pragma GCC unroll 4
  for (int j = 0; j < kBlock; ++j) {
    if constexpr (kGroups == 4) {
      const V even01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[1][j]), v[0][j]);
      const V odd01 = hn::OddEvenBlocks(v[1][j], hn::SwapAdjacentBlocks(v[0][j]));
      const V even23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[3][j]), v[2][j]);
      const V odd23 = hn::OddEvenBlocks(v[3][j], hn::SwapAdjacentBlocks(v[2][j]));
      store(j, hn::ConcatLowerLower(d, even23, even01));
      store(kBlock + j, hn::ConcatLowerLower(d, odd23, odd01));
      store(2 * kBlock + j, hn::ConcatUpperUpper(d, even23, even01));
      store(3 * kBlock + j, hn::ConcatUpperUpper(d, odd23, odd01));
    } else {
      store(j, hn::ConcatLowerLower(d, v[1][j], v[0][j]));
      store(kBlock + j, hn::ConcatUpperUpper(d, v[1][j], v[0][j]));
    }
  }
}

// Transposes the part that squares cover; returns the rows and columns of this part.
template <class T>
HWY_INLINE std::pair<int64_t, int64_t> transpose_squares(char* out, int64_t out_row, const char* in,
                                                         int64_t in_column, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = hn::MaxLanes(hn::ScalableTag<T>()), kItem = sizeof(T);
  const int64_t whole_rows = rows - rows % kSide, whole_columns = columns - columns % kSide;
  for (int64_t c = 0; c < whole_columns; c += kSide)
    for (int64_t r = 0; r < whole_rows; r += kSide)
      transpose_square<T>(out + r * out_row + c * kItem, out_row, in + r * kItem + c * in_column, in_column);
  return {whole_columns > 0 ? whole_rows : 0, whole_rows > 0 ? whole_columns : 0};
}

// Two to four columns whose rows are packed, or as many packed rows: the vectors are interleaved. Returns how
// much of the longer side is done.
template <class T>
HWY_INLINE int64_t interleave_columns(int64_t columns, T* out, const T* in, int64_t step, int64_t count) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, out += columns * lanes) {
    const auto a = hn::LoadU(d, in + i), b = hn::LoadU(d, in + step + i);
    if (columns == 2) {
      hn::StoreInterleaved2(a, b, d, out);
    } else {
      const auto c = hn::LoadU(d, in + 2 * step + i);
      if (columns == 3)
        hn::StoreInterleaved3(a, b, c, d, out);
      else
        hn::StoreInterleaved4(a, b, c, hn::LoadU(d, in + 3 * step + i), d, out);
    }
  }
  return i;
}
template <class T>
HWY_INLINE int64_t split_rows(int64_t rows, T* out, int64_t step, const T* in, int64_t count) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, in += rows * lanes) {
    hn::Vec<decltype(d)> v[4];
    if (rows == 2)
      hn::LoadInterleaved2(d, in, v[0], v[1]);
    else if (rows == 3)
      hn::LoadInterleaved3(d, in, v[0], v[1], v[2]);
    else
      hn::LoadInterleaved4(d, in, v[0], v[1], v[2], v[3]);
    for (int64_t r = 0; r < rows; ++r) hn::StoreU(v[r], d, out + r * step + i);
  }
  return i;
}
// Transposes the part that interleaved vectors cover; returns its rows and columns.
template <class T>
HWY_INLINE std::pair<int64_t, int64_t> interleave(char* out, int64_t out_row, const char* in,
                                                  int64_t in_column, int64_t rows, int64_t columns) {
  constexpr int64_t kItem = sizeof(T);
  T* const to = reinterpret_cast<T*>(out);
  const T* const from = reinterpret_cast<const T*>(in);
  const auto few = [](int64_t count) { return count >= 2 && count <= 4; };
  if (few(columns) && out_row == columns * kItem && in_column % kItem == 0)
    return {interleave_columns(columns, to, from, in_column / kItem, rows), columns};
  if (few(rows) && in_column == rows * kItem && out_row % kItem == 0)
    return {rows, split_rows(rows, to, out_row / kItem, from, columns)};
  return {0, 0};
}
#else
template <class T>
constexpr bool kSquares = false;
template <class T>
std::pair<int64_t, int64_t> interleave(char*, int64_t, const char*, int64_t, int64_t, int64_t) {
  return {0, 0};
}
template <class T>
std::pair<int64_t, int64_t> transpose_squares(char*, int64_t, const char*, int64_t, int64_t, int64_t) {
  return {0, 0};
}
template <class T>
std::pair<int64_t, int64_t> transpose_blocks(char*, int64_t, const char*, int64_t, int64_t, int64_t) {
  return {0, 0};
}
#endif

template <class T>
void transpose_parts(char* out, int64_t out_row, const char* in, int64_t in_column, int64_t rows,
                     int64_t columns) {
  std::pair<int64_t, int64_t> whole{0, 0};
  if constexpr (sizeof(T) < 16) whole = transpose_blocks<T>(out, out_row, in, in_column, rows, columns);
  const auto [whole_rows, whole_columns] = whole;
  const auto one_by_one = [&](int64_t first_row, int64_t last_row, int64_t first_column,
                              int64_t last_column) {
    for (int64_t r = first_row; r < last_row; ++r)
      for (int64_t c = first_column; c < last_column; ++c)
        std::memcpy(out + r * out_row + c * int64_t(sizeof(T)), in + r * int64_t(sizeof(T)) + c * in_column,
                    sizeof(T));
  };
  one_by_one(whole_rows, rows, 0, columns);
  one_by_one(0, whole_rows, whole_columns, columns);
}

template <class T>
void transpose_items(char* out, int64_t out_row, const char* in, int64_t in_column, int64_t rows,
                     int64_t columns) {
  if constexpr (sizeof(T) < 16)
    if (const auto [r, c] = interleave<T>(out, out_row, in, in_column, rows, columns); r > 0 && c > 0) {
      if (r < rows)
        transpose_parts<T>(out + r * out_row, out_row, in + r * int64_t(sizeof(T)), in_column, rows - r,
                           columns);
      else if (c < columns)
        transpose_parts<T>(out + c * int64_t(sizeof(T)), out_row, in + c * in_column, in_column, rows,
                           columns - c);
      return;
    }
  if constexpr (kSquares<T>) {
    constexpr int64_t kItem = sizeof(T);
    // bytes between rows whose lines push each other out of the first-level cache
    constexpr int64_t kFar = 1024;
    if (out_row >= kFar) {
      const auto [r, c] = transpose_squares<T>(out, out_row, in, in_column, rows, columns);
      if (r < rows)
        transpose_parts<T>(out + r * out_row, out_row, in + r * kItem, in_column, rows - r, columns);
      if (c < columns)
        transpose_parts<T>(out + c * kItem, out_row, in + c * in_column, in_column, r, columns - c);
      return;
    }
  }
  transpose_parts<T>(out, out_row, in, in_column, rows, columns);
}

struct Pair {
  uint64_t words[2];
};

void transpose_target(void* to, int64_t out_row, const void* from, int64_t in_column, int64_t rows,
                      int64_t columns, int64_t item) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  switch (item) {
    case 1:
      return transpose_items<uint8_t>(out, out_row, in, in_column, rows, columns);
    case 2:
      return transpose_items<uint16_t>(out, out_row, in, in_column, rows, columns);
    case 4:
      return transpose_items<uint32_t>(out, out_row, in, in_column, rows, columns);
    case 8:
      return transpose_items<uint64_t>(out, out_row, in, in_column, rows, columns);
    default:
      return transpose_items<Pair>(out, out_row, in, in_column, rows, columns);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(transpose_target);

void transpose_block(void* out, int64_t out_row, const void* in, int64_t in_column, int64_t rows,
                     int64_t columns, int64_t item) {
  HWY_DYNAMIC_DISPATCH(transpose_target)(out, out_row, in, in_column, rows, columns, item);
}

}  // namespace lunagrad
#endif
