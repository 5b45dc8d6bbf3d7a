// The arguments of matmul.comp, matmul_cooperative.comp and matmul_tail.comp, and the order in which they compute the tiles
// of C. The first whole_tiles tiles are computed by a workgroup each. The others are computed in `splits` parts of k.
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
  // For the parts of the tiles after the whole ones, f32 [tiles, splits, BM, BN]. 0: each part of k has a C of its own.
  uint64_t tail;
  uint whole_tiles;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

// The work of one workgroup: a tile of C, for one item of the batch and one part of k.
struct Share {
  uint row, column;  // position of the tile, in tiles
  uint first, end;   // range of k
  bool in_tail;      // the sums belong to arguments.tail, as its tile number `part`
  uint part;
  uint64_t c;        // elements from arguments.c to the matrix of this part and item
  int64_t a, b;      // elements to the item's matrices
};

// Adjacent workgroups share rows of A and columns of B, which then stay in the cache: the order goes down
// kRowsDown rows of tiles, then on to the next column.
const uint kRowsDown = 8;

// The row and the column of a tile, in tiles, and its item of the batch.
uvec3 place_of(uint tile) {
  const uint each = arguments.row_tiles * arguments.column_tiles, item = tile / each;
  tile %= each;
  const uint band = tile / (kRowsDown * arguments.column_tiles) * kRowsDown;
  const uint rows = min(arguments.row_tiles - band, kRowsDown);
  tile -= band * arguments.column_tiles;
  return uvec3(band + tile % rows, tile / rows, item);
}

Share share_of(uint work) {
  Share share;
  const bool whole = work < arguments.whole_tiles;
  share.part = whole ? 0 : work - arguments.whole_tiles;
  share.in_tail = !whole && arguments.tail != 0;
  const uint part = whole ? 0 : share.part % arguments.splits;
  share.first = part * arguments.split;
  share.end = whole ? arguments.k : min(share.first + arguments.split, arguments.k);
  const uvec3 place = place_of(whole ? work : arguments.whole_tiles + share.part / arguments.splits);
  share.row = place.x;
  share.column = place.y;
  uint item = place.z;
  share.c = (uint64_t(share.in_tail ? 0 : part) * arguments.batches + item) * arguments.m * arguments.n;
  share.a = share.b = 0;
  for (int d = int(arguments.batch_dims) - 1; d >= 0; --d) {
    const int64_t at = int64_t(item % arguments.batch_size[d]);
    item /= arguments.batch_size[d];
    share.a += at * arguments.batch_step[0][d];
    share.b += at * arguments.batch_step[1][d];
  }
  return share;
}
