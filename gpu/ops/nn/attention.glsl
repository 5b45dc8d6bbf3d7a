// Attention in f32: tiles of operands in shared memory, and products of tiles. A workgroup keeps the tile of
// the R rows that it owns and visits tiles of S other ("passing") rows.
//
// Rows of the own tile are processed in groups of four that are R / 4 apart, so that adjacent invocations
// read adjacent rows: group a has the rows a, a + R / 4, a + R / 2 and a + 3 R / 4.
#include "attention_operands.glsl"
layout(constant_id = 0) const uint R = 64;
layout(constant_id = 1) const uint S = 16;
layout(constant_id = 2) const uint D = 64;  // features, padded with zeros to 32, 64, 128 or 256

const uint kFours = R / 4;
const uint kColumns = D / 4;        // vec4 of a row
const uint kRow = kColumns + 1;     // padded to avoid bank conflicts
const uint kWeightRow = kFours + 1;
// If there are more scores than invocations, an invocation computes the scores of one group of four own rows
// with kEach passing rows.
const uint kEach = kFours * S > kThreads ? kFours * S / kThreads : 1;
const uint kApart = kThreads / kFours;
// If there are more invocations than pairs of a group and a passing row, kSharing invocations share a score;
// each adds some of the columns.
const uint kSharing = kFours * S < kThreads ? kThreads / (kFours * S) : 1;
uint own_four() {
  return gl_LocalInvocationID.x % kFours;
}
// The invocation's first passing row; its other rows follow at distance kApart. From S on, the invocation
// only shares columns.
uint first_passing() {
  return gl_LocalInvocationID.x / kFours;
}
// Results of an invocation: one vec4 column in kOwn groups of four rows.
const uint kOwn = kFours * kColumns / kThreads;

// Shared memory: tiles at multiples of kRow, then the weights [S][kWeightRow].
#define TILE_MEMORY(own_tiles, passing_tiles)                                               \
  shared vec4 memory[(own_tiles) * R * kRow + (passing_tiles) * S * kRow + S * kWeightRow]; \
  shared vec4 shares[kSharing > 1 ? kThreads : 1];

#define DEFINE_TILES                                                                                             \
  /* Loads rows first … first + count - 1 of a head, with zeros from row `end` on and after the last feature. */  \
  void load_tile(uint tile, uint count, uint64_t head, int64_t step, uint first, uint end, uint features) {      \
    for (uint i = gl_LocalInvocationID.x; i < count * kColumns; i += kThreads) {                                 \
      const uint row = i / kColumns, column = i % kColumns;                                                      \
      const bool inside = first + row < end && column * 4 < features;                                            \
      memory[tile + row * kRow + column] =                                                                       \
          inside ? F32x4Elements(head + (int64_t(first + row) * step + column * 4) * 4).at : vec4(0);            \
    }                                                                                                            \
  }                                                                                                              \
  /* The products of this thread's four own rows with its passing rows. */                                      \
  void multiply_tiles(uint own, uint passing, out vec4 sum[kEach]) {                                            \
    [[unroll]] for (uint e = 0; e < kEach; ++e) sum[e] = vec4(0);                                               \
    const bool alone = kSharing == 1;                                                                           \
    const uint b = alone ? first_passing() : first_passing() % S;                                               \
    for (uint c = alone ? 0 : first_passing() / S; c < kColumns; c += kSharing) {                               \
      vec4 left[4];                                                                                             \
      [[unroll]] for (uint r = 0; r < 4; ++r) left[r] = memory[own + (own_four() + r * kFours) * kRow + c];     \
      [[unroll]] for (uint e = 0; e < kEach; ++e) {                                                             \
        const vec4 right = memory[passing + (b + e * kApart) * kRow + c];                                       \
        [[unroll]] for (uint r = 0; r < 4; ++r) sum[e][r] += dot(left[r], right);                               \
      }                                                                                                         \
    }                                                                                                           \
    if (!alone) {                                                                                               \
      shares[gl_LocalInvocationID.x] = sum[0];                                                                  \
      barrier();                                                                                                \
      if (first_passing() < S)                                                                                  \
        for (uint i = 1; i < kSharing; ++i) sum[0] += shares[gl_LocalInvocationID.x + i * kFours * S];          \
      barrier();                                                                                                \
    }                                                                                                           \
  }
