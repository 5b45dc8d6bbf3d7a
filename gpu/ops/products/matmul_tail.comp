#version 460
// The end of a product whose last tiles were computed in parts of k (matmul_arguments.glsl): for these tiles,
// C = activation(sum of the parts, in order, + bias of each column).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "activation.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint BM = 128;
layout(constant_id = 2) const uint BN = 128;
layout(constant_id = 8) const bool HAS_BIAS = false;

#include "matmul_arguments.glsl"

// Four adjacent columns of row `row` of a tile.
void finish(uint tile, uint row, uint column) {
  const uvec3 place = place_of(arguments.whole_tiles + tile);
  const uint m = place.x * BM + row, n = place.y * BN + column;
  if (m >= arguments.m || n >= arguments.n) return;
  uint64_t from = arguments.tail + (uint64_t(tile) * arguments.splits * (BM * BN) + row * BN + column) * 4;
  vec4 sum = vec4(0);
  for (uint part = 0; part < arguments.splits; ++part, from += BM * BN * 4) sum += F32x4Elements(from).at;
  const uint64_t to = arguments.c + ((uint64_t(place.z) * arguments.m + m) * arguments.n + n) * 4;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    if (n + i >= arguments.n) return;
    if (HAS_BIAS) sum[i] += load_f32(arguments.bias, int64_t(n + i) * arguments.bias_step);
    F32Element(to + i * 4).at = activated(sum[i]);
  }
}

void main() {
  const uint tiles = arguments.row_tiles * arguments.column_tiles * arguments.batches - arguments.whole_tiles;
  const uint vectors = BM * BN / 4, all = tiles * vectors;
  for (uint i = gl_GlobalInvocationID.x; i < all; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x)
    finish(i / vectors, i % vectors / (BN / 4), i % (BN / 4) * 4);
}
