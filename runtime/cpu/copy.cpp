#include "runtime/cpu/copy.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/half_kernels.h"
#include "runtime/cpu/parallel.h"

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

template <class To, class From>
void copy_block(char* out, int64_t out_row, int64_t out_column, const char* in, int64_t in_row,
                int64_t in_column, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r, out += out_row, in += in_row) {
    if (out_column == sizeof(To) && in_column == sizeof(From)) {
      To* to = reinterpret_cast<To*>(out);
      const From* from = reinterpret_cast<const From*>(in);
      if constexpr (std::is_same_v<To, From>) {
        std::memcpy(to, from, size_t(columns) * sizeof(To));
      } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>) {
        widen_halves(from, to, columns);
      } else if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>) {
        narrow_to_halves(from, to, columns);
      } else {
        for (int64_t c = 0; c < columns; ++c) to[c] = convert<To>(from[c]);
      }
    } else {
      for (int64_t c = 0; c < columns; ++c)
        *reinterpret_cast<To*>(out + c * out_column) =
            convert<To>(*reinterpret_cast<const From*>(in + c * in_column));
    }
  }
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
  const int64_t tile_columns = std::min<int64_t>(loops.size[columns], crossed ? 32 : 16384);
  const int64_t tile_rows =
      std::min<int64_t>(loops.size[rows], crossed ? 32 : std::max<int64_t>(1, 16384 / tile_columns));
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
      copy(to, loops.out[rows], loops.out[columns], from, loops.in[rows], loops.in[columns],
           std::min(tile_rows, loops.size[rows] - r), std::min(tile_columns, loops.size[columns] - c));
    }
  });
}

}  // namespace lunagrad
