// Convolutions of groups with few channels, whose products would leave the tiles of conv.comp mostly empty. A
// workgroup copies the part of the image that its outputs read to shared memory. An invocation owns a strip
// of OUTS adjacent outputs of a row and reads each element of the image once for each row of the kernel. OUTS
// is odd, so that adjacent strips lie in different banks.
//
// The position in the image is  position * stride + origin + position in the kernel * tap,  with positive
// taps.
layout(local_size_x = 128) in;
layout(constant_id = 0) const uint OUTS = 7;
layout(constant_id = 1) const uint TAPS = 3;    // taps of a kernel row that are computed together
layout(constant_id = 2) const uint STRIDE = 1;  // stride along the last dim
layout(constant_id = 3) const uint TAP = 1;     // tap along the last dim
layout(constant_id = 4) const uint LANES = 32;  // invocations that load a row of the image
layout(constant_id = 5) const uint TYPE = kF32;

const uint kThreads = 128, kShared = 6336;  // kShared: floats of shared memory
const uint kWindow = (OUTS - 1) * STRIDE + (TAPS - 1) * TAP + 1;

shared float image_tile[kShared];  // rows of the image's planes

// The part of an image that a tile of `planes` x `rows` x (strips * OUTS) outputs reads.
struct Tile {
  uint planes, rows, strips;
  uint image_rows, image_columns;  // size of a plane in shared memory
};

// Loads one plane, at depth `z`, of each image. Image p begins at element at + p * step. y, x: image position
// of the tile's first element.
void load_image(uint64_t from, int64_t at, int64_t step, uint planes, Tile tile, int z, int y, int x, uint size[3]) {
  const uint kTogether = 8, kLines = kThreads / LANES;  // kTogether: rows whose loads overlap
  const uint lane = gl_LocalInvocationID.x % LANES, end = tile.planes * tile.image_rows;
  const bool deep = uint(z) < size[0];
  for (uint i = lane; i < tile.image_columns; i += LANES) {
    const int column = x + int(i);
    for (uint r = gl_LocalInvocationID.x / LANES; r < end; r += kTogether * kLines) {
      float values[kTogether];
      [[unroll]] for (uint u = 0; u < kTogether; ++u) {
        const uint line = r + u * kLines, plane = line / tile.image_rows;
        const int row = y + int(line % tile.image_rows);
        const bool inside = deep && line < end && plane < planes && uint(row) < size[1] && uint(column) < size[2];
        const int64_t first = at + int64_t(plane) * step + (int64_t(z) * size[1] + row) * size[2];
        values[u] = inside ? load_float(from, first + column, TYPE) : 0.0;
      }
      [[unroll]] for (uint u = 0; u < kTogether; ++u)
        if (r + u * kLines < end) image_tile[(r + u * kLines) * tile.image_columns + i] = values[u];
    }
  }
}

// Reads the elements of the image that a strip needs in one row, from the first of `tap` taps on.
void read_window(uint place, out float window[kWindow], uint columns_left) {
  [[unroll]] for (uint i = 0; i < kWindow; ++i) window[i] = i < columns_left ? image_tile[place + i] : 0.0;
}
