// The arguments of matmul.comp and matmul_cooperative.comp, and the order in which they compute the tiles of C.
#include "turns.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t a, b, c, bias;
  int64_t a_row, a_column, b_row, b_column, bias_step;
  uint m, n, k;
  uint row_tiles, column_tiles;
  uint splits, split;  // parts of k, and elements of k in a part
  uint batches;
  uint batch_dims;
  uint batch_size[8];
  int64_t batch_step[2][8];       // for a and b
  uint64_t a_largest, b_largest;  // for operands that are scaled (unit_scale.glsl)
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

// The work of one workgroup: a tile of C, for one item of the batch and one part of k.
struct Share {
  uint row, column;  // position of the tile, in tiles
  uint first, end;   // range of k
  uint64_t c;        // elements from arguments.c to the matrix of this part and item
  int64_t a, b;      // elements to the item's matrices
};

// Adjacent workgroups share rows of A and columns of B, which then stay in the cache: the order goes down
// kRowsDown rows of tiles, then on to the next column.
const uint kRowsDown = 8;

Share share_of(uint tile) {
  Share share;
  const uint part = tile % arguments.splits;
  tile /= arguments.splits;
  share.first = part * arguments.split;
  share.end = min(share.first + arguments.split, arguments.k);
  uint item = tile / (arguments.row_tiles * arguments.column_tiles);
  tile %= arguments.row_tiles * arguments.column_tiles;
  share.c = (uint64_t(part) * arguments.batches + item) * arguments.m * arguments.n;
  const uint band = tile / (kRowsDown * arguments.column_tiles) * kRowsDown;
  const uint rows = min(arguments.row_tiles - band, kRowsDown);
  tile -= band * arguments.column_tiles;
  share.row = band + tile % rows;
  share.column = tile / rows;
  share.a = share.b = 0;
  for (int d = int(arguments.batch_dims) - 1; d >= 0; --d) {
    const uint place = item % arguments.batch_size[d];
    item /= arguments.batch_size[d];
    share.a += int64_t(place) * arguments.batch_step[0][d];
    share.b += int64_t(place) * arguments.batch_step[1][d];
  }
  return share;
}
