#version 460
// C = A B for batches of integer matrices with any strides. Sums have 64 bits and wrap around. A workgroup of
// 16 x 16 invocations computes a tile of 32 x 32 elements; an invocation owns four elements that are 16
// apart.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "turns.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 3;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t a, b, c;
  uint m, n, k;
  uint row_tiles, column_tiles;
  uint batch_dims;
  uint batch_size[8];
  int64_t batch_step[2][8];
  int64_t a_row, a_column, b_row, b_column;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

const uint kSide = 32, kDeep = 16;
shared int64_t a_tile[kDeep][kSide + 1];
shared int64_t b_tile[kDeep][kSide + 1];

void main() {
  const uint me = gl_LocalInvocationID.x, x = me % 16, y = me / 16;
  const uint m = arguments.m, n = arguments.n, k = arguments.k;
  const uint tile = MY_ITEM;
  const uint column = tile % arguments.column_tiles * kSide;
  const uint row = tile / arguments.column_tiles % arguments.row_tiles * kSide;
  const uint matrix = tile / arguments.column_tiles / arguments.row_tiles;
  int64_t a = 0, b = 0;
  uint rest = matrix;
  for (int d = int(arguments.batch_dims) - 1; d >= 0; --d) {
    const uint place = rest % arguments.batch_size[d];
    rest /= arguments.batch_size[d];
    a += int64_t(place) * arguments.batch_step[0][d];
    b += int64_t(place) * arguments.batch_step[1][d];
  }
  int64_t sum[2][2] = int64_t[][](int64_t[](0, 0), int64_t[](0, 0));
  for (uint first = 0; first < k; first += kDeep) {
    barrier();
    for (uint i = me; i < kSide * kDeep; i += 256) {
      const uint deep = i % kDeep, tile_row = i / kDeep;
      a_tile[deep][tile_row] = row + tile_row < m && first + deep < k
                                   ? load_integer(arguments.a, a + int64_t(row + tile_row) * arguments.a_row +
                                                                   int64_t(first + deep) * arguments.a_column, TYPE)
                                   : 0L;
      const uint far = i / kSide, close = i % kSide;
      b_tile[far][close] = column + close < n && first + far < k
                               ? load_integer(arguments.b, b + int64_t(first + far) * arguments.b_row +
                                                               int64_t(column + close) * arguments.b_column, TYPE)
                               : 0L;
    }
    barrier();
    [[unroll]] for (uint deep = 0; deep < kDeep; ++deep)
      [[unroll]] for (uint i = 0; i < 2; ++i)
        [[unroll]] for (uint j = 0; j < 2; ++j)
          sum[i][j] += a_tile[deep][y + 16 * i] * b_tile[deep][x + 16 * j];
  }
  [[unroll]] for (uint i = 0; i < 2; ++i)
    [[unroll]] for (uint j = 0; j < 2; ++j) {
      const uint r = row + y + 16 * i, s = column + x + 16 * j;
      if (r < m && s < n)
        store_integer(arguments.c, (int64_t(matrix) * m + r) * n + s, TYPE, sum[i][j]);
    }
}
