#include "runtime/ops/elementwise/cpu/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/transpose_kernels.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {
namespace {

// Up to kMaxDims loops, outermost first, after merging; byte strides.
struct Loops {
  int count = 0;
  int64_t size[kMaxDims];
  int64_t out[kMaxDims];
  int64_t in[kMaxDims];

  void swap(int a, int b) {
    std::swap(size[a], size[b]);
    std::swap(out[a], out[b]);
    std::swap(in[a], in[b]);
  }
};

// Drops dims of size 1, sorts by the output's strides and merges adjacent dims where both sides allow it.
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
  while (loops.count < 2) {  // at least two loops, rows and columns
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

constexpr int64_t kFew = 4;               // fewer rows or columns are transposed only where they are packed
constexpr int64_t kSide = 32;             // elements along each side of a transposed tile
constexpr int64_t kPastCaches = 8 << 20;  // larger outputs (bytes) are written with non-temporal stores

// Copies a block in tiles when the input has unit stride along the rows and the output along the columns.
template <class To, class From>
void turn_block(char* out, int64_t out_row, const char* in, int64_t in_column, int64_t rows,
                int64_t columns) {
  static const ConvertRow convert_elements = convert_row(dtype_of<To>, dtype_of<From>);
  if (std::is_same_v<To, From> && (rows < kFew || columns < kFew))
    return transpose_block(out, out_row, in, in_column, rows, columns, sizeof(From));
  alignas(64) From turned[kSide * kSide];
  for (int64_t r = 0; r < rows; r += kSide)
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t tile_rows = std::min(kSide, rows - r), tile_columns = std::min(kSide, columns - c);
      const char* from = in + r * int64_t(sizeof(From)) + c * in_column;
      char* to = out + r * out_row + c * int64_t(sizeof(To));
      if constexpr (std::is_same_v<To, From>) {
        transpose_block(to, out_row, from, in_column, tile_rows, tile_columns, sizeof(From));
      } else {
        transpose_block(turned, tile_columns * int64_t(sizeof(From)), from, in_column, tile_rows,
                        tile_columns, sizeof(From));
        for (int64_t i = 0; i < tile_rows; ++i)
          convert_elements(turned + i * tile_columns, to + i * out_row, tile_columns);
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
  // Whether a transposition pays: there are several rows and columns, or one side is packed, as the three
  // colours of pixels are.
  const auto pays = [&](int64_t along, int64_t across, int64_t packed_out, int64_t packed_in) {
    if (along >= kFew && across >= kFew) return true;
    return std::is_same_v<To, From> && std::min(along, across) > 1 &&
           (packed_out == across * kTo || packed_in == along * kFrom);
  };
  if (rows > 1 && columns > 1) {
    if (out_column == kTo && in_row == kFrom && pays(rows, columns, out_row, in_column))
      return turn_block<To, From>(out, out_row, in, in_column, rows, columns);
    if (out_row == kTo && in_column == kFrom && pays(columns, rows, out_column, in_row))
      return turn_block<To, From>(out, out_column, in, in_row, columns, rows);
  }
  if (columns < 8 && columns < rows) {  // makes the longer loop the inner one
    std::swap(rows, columns);
    std::swap(out_row, out_column);
    std::swap(in_row, in_column);
  }
  for (int64_t r = 0; r < rows; ++r, out += out_row, in += in_row) {
    To* to = reinterpret_cast<To*>(out);
    const From* from = reinterpret_cast<const From*>(in);
    if (out_column == kTo && in_column == 0) {
      std::fill_n(to, columns, convert<To>(*from));
    } else if (out_column == kTo && in_column == -kFrom) {
      for (int64_t c = 0; c < columns; ++c) to[c] = convert<To>(from[-c]);
    } else {
      for (int64_t c = 0; c < columns; ++c)
        *reinterpret_cast<To*>(out + c * out_column) =
            convert<To>(*reinterpret_cast<const From*>(in + c * in_column));
    }
  }
}

constexpr int64_t kBufferBytes = 1 << 16;   // the largest tile
constexpr int64_t kLongTile = 1 << 14;      // bytes along a tile of few rows or columns
constexpr int64_t kLine = 64, kLines = 16;  // bytes of a cache line; lines of a row per tile

// How a copy is divided: two of its loops into tiles, the others into single positions.
struct Tiles {
  int64_t rows, columns;
  bool buffered = false;  // a tile is assembled in a buffer and written row by row with non-temporal stores

  // When the input has unit stride along another loop than the output, the rows run along that loop. A large
  // tile reads sixteen cache lines of each of its columns and fills one line of each row, if the output is
  // aligned: few pages are in use at a time, and each line is written completely.
  Tiles(Loops& loops, const void* out, int64_t out_item, int64_t in_item, bool large) {
    const int last = loops.count - 1;
    int along = last;
    for (int d = last - 1; d >= 0 && std::abs(loops.in[last]) > in_item; --d)
      if (loops.in[d] != 0 && std::abs(loops.in[d]) < std::abs(loops.in[along])) along = d;
    rows = columns = kSide;
    if (along != last) {
      loops.swap(along, last - 1);
      const bool packed = loops.out[last - 1] == loops.size[last] * out_item;
      buffered = large && loops.out[last] == out_item && (loops.size[last] >= 8 || packed);
      const bool few = loops.size[last] < kFew || loops.size[last - 1] < kFew;
      if (few) rows = columns = kLongTile / out_item;
      bool aligned = reinterpret_cast<uintptr_t>(out) % kLine == 0;
      for (int d = 0; d < last; ++d) aligned &= loops.out[d] % kLine == 0;
      if (buffered && !few) {
        columns = (aligned ? kLine : 4 * kLine) / out_item;
        rows = std::min(kLines * kLine / in_item, kBufferBytes / (columns * out_item));
      }
    } else {
      columns = 16384;
      rows = std::max<int64_t>(1, columns / loops.size[last]);
    }
    columns = std::min(columns, loops.size[last]);
    rows = std::min(rows, loops.size[last - 1]);
  }
};

}  // namespace

BlockCopy block_copy(DType to, DType from) {
  return visit_any_dtype(to, [&]<class To>() -> BlockCopy {
    return visit_any_dtype(from, [&]<class From>() -> BlockCopy { return copy_block<To, From>; });
  });
}

void copy_strided(void* out, DType out_type, const Strides& out_strides, const void* in, DType in_type,
                  const Strides& in_strides, const Shape& shape) {
  if (numel(shape) == 0) return;
  Loops loops =
      merge(shape, out_strides, int64_t(item_size(out_type)), in_strides, int64_t(item_size(in_type)));
  const int64_t item = int64_t(item_size(out_type));
  // Reverses loops that go backwards through the input, for example of a flipped and transposed tensor,
  // because blocks are transposed only where the input has unit stride. The innermost loop keeps its order.
  for (int d = 0; d < loops.count - 1; ++d) {
    if (loops.in[d] >= 0) continue;
    out = static_cast<char*>(out) + (loops.size[d] - 1) * loops.out[d];
    in = static_cast<const char*>(in) + (loops.size[d] - 1) * loops.in[d];
    loops.out[d] = -loops.out[d];
    loops.in[d] = -loops.in[d];
  }
  const Tiles tiles(loops, out, item, int64_t(item_size(in_type)), numel(shape) * item >= kPastCaches);
  const BlockCopy copy = block_copy(out_type, in_type);
  const int rows = loops.count - 2, columns = loops.count - 1;
  int64_t outer = 1;
  for (int d = 0; d < rows; ++d) outer *= loops.size[d];
  const int64_t across = (loops.size[columns] + tiles.columns - 1) / tiles.columns;
  const int64_t down = (loops.size[rows] + tiles.rows - 1) / tiles.rows;
  const int64_t grain = std::max<int64_t>(1, 32768 / (tiles.rows * tiles.columns));
  parallel_for(outer * across * down, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t c = tile % across * tiles.columns, r = tile / across % down * tiles.rows;
      char* to = static_cast<char*>(out) + r * loops.out[rows] + c * loops.out[columns];
      const char* from = static_cast<const char*>(in) + r * loops.in[rows] + c * loops.in[columns];
      int64_t rest = tile / across / down;
      for (int d = rows - 1; d >= 0; --d) {
        const int64_t index = rest % loops.size[d];
        rest /= loops.size[d];
        to += index * loops.out[d];
        from += index * loops.in[d];
      }
      const int64_t tile_rows = std::min(tiles.rows, loops.size[rows] - r);
      const int64_t tile_columns = std::min(tiles.columns, loops.size[columns] - c);
      if (!tiles.buffered) {
        copy(to, loops.out[rows], loops.out[columns], from, loops.in[rows], loops.in[columns], tile_rows,
             tile_columns);
        continue;
      }
      alignas(64) char buffer[kBufferBytes];
      const int64_t step = tile_columns * item;
      copy(buffer, step, item, from, loops.in[rows], loops.in[columns], tile_rows, tile_columns);
      const int64_t bytes = loops.out[rows] == step ? tile_rows * step : step;
      for (const char* row = buffer; row < buffer + tile_rows * step; row += bytes, to += loops.out[rows])
        copy_past_caches(to, row, bytes);
    }
  });
}

}  // namespace lunagrad
