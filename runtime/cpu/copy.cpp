#include "runtime/cpu/copy.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/convert_kernels.h"
#include "runtime/cpu/elementwise_kernels.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/transpose_kernels.h"

namespace lunagrad {
namespace {

// Up to kMaxDims loops, outermost first, after merging; byte strides.
struct Loops {
  int count = 0;
  int64_t size[kMaxDims];
  int64_t out[kMaxDims];
  int64_t in[kMaxDims];
};

// Drops dims of size 1, sorts by the output's stride and merges neighbours that both sides walk as one.
Loops merge(const Shape& shape, const Strides& out, int64_t out_bytes, const Strides& in, int64_t in_bytes) {
  Loops loops;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const int64_t o = out[d] * out_bytes, i = in[d] * in_bytes;
    int at = loops.count++;
    for (; at > 0 && std::abs(loops.out[at - 1]) < std::abs(o); --at) {
      loops.size[at] = loops.size[at - 1];
      loops.out[at] = loops.out[at - 1];
      loops.in[at] = loops.in[at - 1];
    }
    loops.size[at] = shape[d];
    loops.out[at] = o;
    loops.in[at] = i;
  }
  int kept = 0;
  for (int d = 1; d < loops.count; ++d) {
    if (loops.out[kept] == loops.size[d] * loops.out[d] && loops.in[kept] == loops.size[d] * loops.in[d]) {
      loops.size[kept] *= loops.size[d];
    } else {
      loops.size[++kept] = loops.size[d];
    }
    loops.out[kept] = loops.out[d];
    loops.in[kept] = loops.in[d];
  }
  if (loops.count) loops.count = kept + 1;
  while (loops.count < 2) {  // at least a row and a column
    for (int d = loops.count; d > 0; --d) {
      loops.size[d] = loops.size[d - 1];
      loops.out[d] = loops.out[d - 1];
      loops.in[d] = loops.in[d - 1];
    }
    loops.size[0] = 1;
    loops.out[0] = loops.in[0] = 0;
    ++loops.count;
  }
  return loops;
}

constexpr int64_t kSide = 32;             // of the tiles that are turned over
constexpr int64_t kPastCaches = 8 << 20;  // targets of more bytes are written around the caches

// A block whose input runs along the rows and whose output runs along the columns, by tiles.
template <class To, class From>
void turn_block(char* out, int64_t out_row, const char* in, int64_t in_column, int64_t rows,
                int64_t columns) {
  static const ConvertRow convert_elements = convert_row(dtype_of<To>, dtype_of<From>);
  alignas(64) From turned[kSide * kSide];
  for (int64_t r = 0; r < rows; r += kSide)
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t high = std::min(kSide, rows - r), wide = std::min(kSide, columns - c);
      const char* from = in + r * int64_t(sizeof(From)) + c * in_column;
      char* to = out + r * out_row + c * int64_t(sizeof(To));
      if constexpr (std::is_same_v<To, From>) {
        transpose_block(to, out_row, from, in_column, high, wide, sizeof(From));
      } else {
        transpose_block(turned, wide * int64_t(sizeof(From)), from, in_column, high, wide, sizeof(From));
        for (int64_t i = 0; i < high; ++i) convert_elements(turned + i * wide, to + i * out_row, wide);
      }
    }
}

template <class To, class From>
void copy_block(char* out, int64_t out_row, int64_t out_column, const char* in, int64_t in_row,
                int64_t in_column, int64_t rows, int64_t columns) {
  constexpr int64_t kTo = sizeof(To), kFrom = sizeof(From);
  if (out_column == kTo && in_column == kFrom && columns > 1) {
    static const ConvertRow convert_elements = convert_row(dtype_of<To>, dtype_of<From>);
    for (int64_t r = 0; r < rows; ++r, out += out_row, in += in_row) convert_elements(in, out, columns);
    return;
  }
  constexpr int64_t kFew = 4;  // rows or columns that are not worth turning
  if (rows >= kFew && columns >= kFew) {
    if (out_column == kTo && in_row == kFrom)
      return turn_block<To, From>(out, out_row, in, in_column, rows, columns);
    if (out_row == kTo && in_column == kFrom)
      return turn_block<To, From>(out, out_column, in, in_row, columns, rows);
  }
  for (int64_t r = 0; r < rows; ++r, out += out_row, in += in_row)
    for (int64_t c = 0; c < columns; ++c)
      *reinterpret_cast<To*>(out + c * out_column) =
          convert<To>(*reinterpret_cast<const From*>(in + c * in_column));
}

}  // namespace

BlockCopy block_copy(DType to, DType from) {
  return visit_dtype(to, [&]<class To>() -> BlockCopy {
    return visit_dtype(from, [&]<class From>() -> BlockCopy { return copy_block<To, From>; });
  });
}

void copy_strided(void* out, DType out_type, const Strides& out_strides, const void* in, DType in_type,
                  const Strides& in_strides, const Shape& shape) {
  if (numel(shape) == 0) return;
  const Loops loops =
      merge(shape, out_strides, int64_t(item_size(out_type)), in_strides, int64_t(item_size(in_type)));
  const BlockCopy copy = block_copy(out_type, in_type);
  const int rows = loops.count - 2, columns = loops.count - 1;
  int64_t outer = 1;
  for (int d = 0; d < rows; ++d) outer *= loops.size[d];
  // Tiles of the innermost two dims: when the input runs along the rows, each of its cache lines is used
  // whole.
  const bool crossed = std::abs(loops.in[rows]) < std::abs(loops.in[columns]) && loops.size[rows] > 1;
  const int64_t tile_columns = std::min<int64_t>(loops.size[columns], crossed ? kSide : 16384);
  const int64_t tile_rows =
      std::min<int64_t>(loops.size[rows], crossed ? kSide : std::max<int64_t>(1, 16384 / tile_columns));
  // What is turned over is written in pieces of a few lines far apart: through a buffer, so that each goes
  // out whole.
  const int64_t item = int64_t(item_size(out_type));
  const bool past_caches = crossed && loops.out[columns] == item && numel(shape) * item >= kPastCaches;
  const int64_t across = (loops.size[columns] + tile_columns - 1) / tile_columns;
  const int64_t down = (loops.size[rows] + tile_rows - 1) / tile_rows;
  const int64_t grain = std::max<int64_t>(1, 32768 / (tile_rows * tile_columns));
  parallel_for(outer * across * down, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t c = tile % across * tile_columns, r = tile / across % down * tile_rows;
      char* to = static_cast<char*>(out) + r * loops.out[rows] + c * loops.out[columns];
      const char* from = static_cast<const char*>(in) + r * loops.in[rows] + c * loops.in[columns];
      int64_t rest = tile / across / down;
      for (int d = rows - 1; d >= 0; --d) {
        const int64_t index = rest % loops.size[d];
        rest /= loops.size[d];
        to += index * loops.out[d];
        from += index * loops.in[d];
      }
      const int64_t high = std::min(tile_rows, loops.size[rows] - r),
                    wide = std::min(tile_columns, loops.size[columns] - c);
      if (!past_caches) {
        copy(to, loops.out[rows], loops.out[columns], from, loops.in[rows], loops.in[columns], high, wide);
        continue;
      }
      alignas(64) char buffer[kSide * kSide * sizeof(double)];
      copy(buffer, wide * item, item, from, loops.in[rows], loops.in[columns], high, wide);
      for (int64_t i = 0; i < high; ++i)
        copy_past_caches(to + i * loops.out[rows], buffer + i * wide * item, wide * item);
    }
  });
}

}  // namespace lunagrad
