#version 460
// The weights of the gradients of 2-norms, w = grad / distance and 0 where the distance is 0, with their totals for each
// row of x1 and of x2 (gpu/ops/linalg/pair_products.cpp). A workgroup computes a tile of 64 x 64 pairs: 64 lines of w in
// memory, which follow x1 or x2. Each tile has totals of its own, which are added up afterwards.
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

layout(constant_id = 7) const bool ALONG_N = true;  // w is [m, n], else [n, m]
layout(constant_id = 8) const bool ROW_TOTALS = false;
layout(constant_id = 9) const bool COLUMN_TOTALS = false;

const uint kTile = 64, kAcross = 32, kDown = 256 / kAcross;
const bool LINE_TOTALS = ALONG_N ? ROW_TOTALS : COLUMN_TOTALS, PLACE_TOTALS = ALONG_N ? COLUMN_TOTALS : ROW_TOTALS;
// Padded to avoid bank conflicts.
shared float line_parts[LINE_TOTALS ? kTile * (kAcross + 1) : 1];
shared float place_parts[PLACE_TOTALS ? kTile * (kDown + 1) : 1];

float weight_of(uint64_t weights, uint64_t scale, uint i, uint j) {
  const float weight = value_of(weights, arguments.weights, i, j);
  if (SCALE == kUnscaled) return weight;
  const float unit = value_of(scale, arguments.scale, i, j);
  return unit == 0.0 ? 0.0 : quotient_of(weight, unit);
}

void main() {
  const uint lines = ALONG_N ? arguments.m : arguments.n, places = ALONG_N ? arguments.n : arguments.m;
  const uint line_tiles = ALONG_N ? arguments.row_tiles : arguments.column_tiles,
             place_tiles = ALONG_N ? arguments.column_tiles : arguments.row_tiles;
  const uint place_tile = MY_ITEM % place_tiles, rest = MY_ITEM / place_tiles, line_tile = rest % line_tiles,
             item = rest / line_tiles;
  const uint64_t weights = matrix_at(arguments.weights, item), scale = matrix_at(arguments.scale, item);
  const uint first_line = line_tile * kTile, first_place = place_tile * kTile;
  const uint me = gl_LocalInvocationID.x, across = me % kAcross, down = me / kAcross;

  float places_sum[kTile / kAcross];
  [[unroll]] for (uint e = 0; e < kTile / kAcross; ++e) places_sum[e] = 0.0;
  [[unroll]] for (uint s = 0; s < kTile / kDown; ++s) {
    const uint line = first_line + s * kDown + down;
    float sum = 0.0;
    [[unroll]] for (uint e = 0; e < kTile / kAcross; ++e) {
      const uint place = first_place + e * kAcross + across;
      if (line >= lines || place >= places) continue;
      // Pairs of CONDENSED begin with row `part`.
      const float w = weight_of(weights, scale, arguments.part + (ALONG_N ? line : place), ALONG_N ? place : line);
      store_f32(arguments.result, (int64_t(item) * lines + line) * places + place, w);
      sum += w;
      places_sum[e] += w;
    }
    if (LINE_TOTALS) line_parts[(s * kDown + down) * (kAcross + 1) + across] = sum;
  }
  if (PLACE_TOTALS)
    [[unroll]] for (uint e = 0; e < kTile / kAcross; ++e)
      place_parts[(e * kAcross + across) * (kDown + 1) + down] = places_sum[e];
  barrier();
  // Two other halves of the workgroup add up the lines and the places.
  const uint own = me % kTile;
  if (LINE_TOTALS && me < kTile && first_line + own < lines) {
    float total = 0.0;
    for (uint i = 0; i < kAcross; ++i) total += line_parts[own * (kAcross + 1) + i];
    store_f32(ALONG_N ? arguments.row_totals : arguments.column_totals,
              (int64_t(place_tile) * arguments.batches + item) * lines + first_line + own, total);
  }
  if (PLACE_TOTALS && me / kTile == 1 && first_place + own < places) {
    float total = 0.0;
    for (uint i = 0; i < kDown; ++i) total += place_parts[own * (kDown + 1) + i];
    store_f32(ALONG_N ? arguments.column_totals : arguments.row_totals,
              (int64_t(line_tile) * arguments.batches + item) * places + first_place + own, total);
  }
}
