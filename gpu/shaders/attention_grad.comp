#version 460
// The gradients of attention, which makes the weights p = exp(scale q k - lse) again, tile by tile. With
// ds = p (dout v - delta) and delta = dout out - dlse of each query: dq = scale ds k, dk = scale ds^T q, dv = p^T dout;
// dropout multiplies dout v and the p of dv by its factors, which are drawn again.
// Each is summed by the work group that owns its rows, so that no two add to the same place: with OF_KEYS a group owns
// keys and values while queries and their gradients pass by, otherwise it is the other way round.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention.glsl"
layout(constant_id = 4) const bool OF_KEYS = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Rows own[2];      // q and dout, or k and v
  Rows passing[2];  // the others
  Rows result[2];   // dq, or dk and dv; the address of what is not wanted is 0
  uint64_t lse, delta;
  Mask mask;
  Draw draw;
  Batch batch;
  uint own_rows, passing_rows, queries, features, value_features;
  uint blocks, items;  // of own rows in a head, and in all
  float scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

TILE_MEMORY(2, 2)
DEFINE_TILES

const uint kPassing = 2 * R * kRow, kWeights = kPassing + 2 * S * kRow;

// sum += weights^T times the tile.
#define ADD_PRODUCT(sum, tile)                                                \
  for (uint b = 0; b < S; ++b) {                                              \
    const vec4 value = memory[tile + b * kRow + column];                      \
    [[unroll]] for (uint u = 0; u < kOwn; ++u) {                              \
      const vec4 weight = memory[kWeights + b * kWeightRow + mine + u];       \
      [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] += weight[r] * value; \
    }                                                                         \
  }

void store_result(Rows rows, uint head, uint row, uint column, uint features, vec4 value) {
  if (rows.at == 0 || row >= arguments.own_rows || column * 4 >= features) return;
  const uint64_t at = head_of(rows, arguments.batch, head) + (int64_t(row) * rows.step + column * 4) * 4;
  F32x4Elements(at).at = value;
}

void compute_block(uint item) {
  const uint head = item / arguments.blocks, first = item % arguments.blocks * R, me = gl_LocalInvocationID.x;
  const uint64_t left = head_of(arguments.passing[0], arguments.batch, head),
                 right = head_of(arguments.passing[1], arguments.batch, head);
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  load_tile(0, R, head_of(arguments.own[0], arguments.batch, head), arguments.own[0].step, first, arguments.own_rows,
            arguments.features);
  load_tile(R * kRow, R, head_of(arguments.own[1], arguments.batch, head), arguments.own[1].step, first,
            arguments.own_rows, arguments.value_features);
  const uint column = me % kColumns, mine = me / kColumns * kOwn;
  vec4 sum[kOwn][4], value_sum[kOwn][4];
  [[unroll]] for (uint u = 0; u < kOwn; ++u)
    [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] = value_sum[u][r] = vec4(0);

  const uint begin = CAUSAL && OF_KEYS ? first / S * S : 0;
  const uint end = CAUSAL && !OF_KEYS ? min(first + R, arguments.passing_rows) : arguments.passing_rows;
  const int64_t of_head = int64_t(head) * arguments.queries;
  for (uint pass = begin; pass < end; pass += S) {
    load_tile(kPassing, S, left, arguments.passing[0].step, pass, arguments.passing_rows, arguments.features);
    load_tile(kPassing + S * kRow, S, right, arguments.passing[1].step, pass, arguments.passing_rows,
              arguments.value_features);
    barrier();
    vec4 scores[kEach], reaches[kEach], change[kEach];
    multiply_tiles(0, kPassing, scores);
    multiply_tiles(R * kRow, kPassing + S * kRow, reaches);
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint a = own_four(), b = first_passing() + e * kApart;
      if (b >= S) continue;
      const vec4 score = scores[e] * arguments.scale, reach = reaches[e];
      vec4 weight;
      [[unroll]] for (uint r = 0; r < 4; ++r) {
        const uint row = first + a + r * kFours, other = pass + b;
        const uint query = OF_KEYS ? other : row, key = OF_KEYS ? row : other;
        const bool seen = row < arguments.own_rows && other < arguments.passing_rows && !(CAUSAL && key > query);
        weight[r] = change[e][r] = 0.0;
        if (seen) {
          weight[r] = lg_exp(masked(score[r], arguments.mask, mask, query, key) -
                             load_f32(arguments.lse, of_head + query));
          const float factor = DROPS ? drop_factors(arguments.draw, head * arguments.queries + query,
                                                    OF_KEYS ? arguments.own_rows : arguments.passing_rows, key)[key % 4]
                                     : 1.0;
          const float gradient = factor * reach[r] - load_f32(arguments.delta, of_head + query);
          change[e][r] = weight[r] * gradient * arguments.scale;
          weight[r] *= factor;
        }
      }
      memory[kWeights + b * kWeightRow + a] = OF_KEYS ? weight : change[e];
    }
    barrier();
    if (OF_KEYS) {
      ADD_PRODUCT(value_sum, kPassing + S * kRow)
      barrier();
      [[unroll]] for (uint e = 0; e < kEach; ++e) {
        const uint b = first_passing() + e * kApart;
        if (b < S) memory[kWeights + b * kWeightRow + own_four()] = change[e];
      }
      barrier();
    }
    ADD_PRODUCT(sum, kPassing)
    barrier();
  }

  [[unroll]] for (uint u = 0; u < kOwn; ++u)
    [[unroll]] for (uint r = 0; r < 4; ++r) {
      const uint row = first + mine + u + r * kFours;
      store_result(arguments.result[0], head, row, column, arguments.features, sum[u][r]);
      if (OF_KEYS) store_result(arguments.result[1], head, row, column, arguments.value_features, value_sum[u][r]);
    }
}

void main() {
  for (uint item = gl_WorkGroupID.x; item < arguments.items; item += gl_NumWorkGroups.x) {
    compute_block(item);
    barrier();  // the shared memory is the next block's
  }
}
