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
template <class T, int kBlock>
HWY_INLINE void interleave_rounds(hn::Vec<Columns<T>> (&v)[kBlock]) {
  const Columns<T> d;
  for (int round = 1; round < kBlock; round *= 2) {
    hn::Vec<Columns<T>> w[kBlock];
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
      interleave_rounds<T>(v);
      for (int64_t k = 0; k < kBlock; ++k)
        hn::StoreU(v[k], d, reinterpret_cast<T*>(out + (r + k) * out_row + c * int64_t(sizeof(T))));
    }
  return {whole_rows, whole_columns};
}
#else
template <class T>
std::pair<int64_t, int64_t> transpose_blocks(char*, int64_t, const char*, int64_t, int64_t, int64_t) {
  return {0, 0};
}
#endif

template <class T>
void transpose_items(char* out, int64_t out_row, const char* in, int64_t in_column, int64_t rows,
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
