#version 460
// The gradients of attention. The weights p = exp(scale q k - lse) are computed again, tile by tile. With
// delta = dout out - dlse of each query and ds = p (dout v - delta):
//   dq = scale ds k,  dk = scale ds^T q,  dv = p^T dout,  dmask = ds.
// Dropout multiplies dout v, and p in dv, by its factors, which are drawn again. A soft cap c multiplies ds
// in dq and dk by 1 - tanh(scale q k / c)^2.
// Each gradient is summed by the workgroup that owns its elements, so no two workgroups write the same
// element. With kOfQueries a workgroup owns queries and visits keys and values, with kOfKeys vice versa. With
// kOfMask it owns R queries and S keys of a mask and visits the heads that share it.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention.glsl"
#include "turns.glsl"
layout(constant_id = 4) const uint OF = 0;
const uint kOfQueries = 0, kOfKeys = 1, kOfMask = 2;
const bool OF_KEYS = OF == kOfKeys;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Rows own[2];      // q and dout, or k and v
  Rows passing[2];  // k and v, or q and dout
  Rows result[2];   // dq, or dk and dv; address 0: not wanted
  uint64_t lse, delta;
  Mask mask, mask_result;
  Draw draw;
  Batch batch;
  uint own_rows, passing_rows, queries, features, value_features;
  // blocks: blocks of own rows in a head; items: in all heads. With kOfMask: tiles of a mask; tiles of all
  // masks and parts.
  uint blocks, items;
  uint heads, parts;  // a mask's gradient is summed in `parts` parts, each over some of the heads
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
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
  const uint64_t at = head_of(rows, arguments.batch, head, 4) + (int64_t(row) * rows.step + column * 4) * 4;
  F32x4Elements(at).at = value;
}

// Loads rows first … first + R - 1 of a head.
void load_own(uint head, uint first) {
  load_tile(0, R, head_of(arguments.own[0], arguments.batch, head, 4), arguments.own[0].step, first, arguments.own_rows,
            arguments.features);
  load_tile(R * kRow, R, head_of(arguments.own[1], arguments.batch, head, 4), arguments.own[1].step, first,
            arguments.own_rows, arguments.value_features);
}
// Loads rows pass … pass + S - 1 of the passing rows.
void load_passing(uint head, uint pass) {
  load_tile(kPassing, S, head_of(arguments.passing[0], arguments.batch, head, 4), arguments.passing[0].step, pass,
            arguments.passing_rows, arguments.features);
  load_tile(kPassing + S * kRow, S, head_of(arguments.passing[1], arguments.batch, head, 4), arguments.passing[1].step,
            pass, arguments.passing_rows, arguments.value_features);
}

// For each pair of an own and a passing row of this invocation: `weights` for dv (p with dropout), and
// `changes` (ds) for the other gradients.
void weigh_tiles(uint head, int64_t mask, uint first, uint pass, out vec4 weights[kEach], out vec4 changes[kEach]) {
  vec4 products[kEach], reaches[kEach];
  multiply_tiles(0, kPassing, products);
  multiply_tiles(R * kRow, kPassing + S * kRow, reaches);
  const int64_t of_head = int64_t(head) * arguments.queries;
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint other = pass + first_passing() + e * kApart;
    [[unroll]] for (uint r = 0; r < 4; ++r) {
      const uint row = first + own_four() + r * kFours;
      const uint query = OF_KEYS ? other : row, key = OF_KEYS ? row : other;
      weights[e][r] = changes[e][r] = 0.0;
      if (row >= arguments.own_rows || other >= arguments.passing_rows || CAUSAL && key > query) continue;
      float slope;
      const float score = score_of(products[e][r], arguments.scale, slope);
      const float away = masked(score, arguments.mask, mask, query, key) - load_f32(arguments.lse, of_head + query);
      const float weight = exp_of_negative(away > 0.0 ? 0.0 : away);  // rounding can make it slightly positive
      const float factor = DROPS ? drop_factors(arguments.draw, head * arguments.queries + query,
                                                OF_KEYS ? arguments.own_rows : arguments.passing_rows, key)[key % 4]
                                 : 1.0;
      const float gradient = factor * reaches[e][r] - load_f32(arguments.delta, of_head + query);
      changes[e][r] = weight * gradient * (OF == kOfMask ? 1.0 : slope);
      weights[e][r] = weight * factor;
    }
  }
}
void keep_weights(vec4 weights[kEach]) {
  [[unroll]] for (uint e = 0; e < kEach; ++e) {
    const uint b = first_passing() + e * kApart;
    if (b < S) memory[kWeights + b * kWeightRow + own_four()] = weights[e];
  }
}

void compute_rows(uint item) {
  const uint head = item / arguments.blocks, first = item % arguments.blocks * R, me = gl_LocalInvocationID.x;
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  load_own(head, first);
  const uint column = me % kColumns, mine = me / kColumns * kOwn;
  vec4 sum[kOwn][4], value_sum[kOwn][4];
  [[unroll]] for (uint u = 0; u < kOwn; ++u)
    [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] = value_sum[u][r] = vec4(0);

  const uint begin = CAUSAL && OF_KEYS ? first / S * S : 0;
  const uint end = CAUSAL && !OF_KEYS ? min(first + R, arguments.passing_rows) : arguments.passing_rows;
  for (uint pass = begin; pass < end; pass += S) {
    load_passing(head, pass);
    barrier();
    vec4 weights[kEach], changes[kEach];
    weigh_tiles(head, mask, first, pass, weights, changes);
    if (OF_KEYS) {
      keep_weights(weights);
      barrier();
      ADD_PRODUCT(value_sum, kPassing + S * kRow)
      barrier();
    }
    keep_weights(changes);
    barrier();
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

uint first_head(uint part) {
  return uint(uint64_t(part) * arguments.heads / arguments.parts);
}
void compute_mask(uint item) {
  const uint keys = arguments.passing_rows, across = (keys + S - 1) / S, parts = arguments.parts;
  const uint part = item % parts, block = item / parts % arguments.blocks, mask = item / parts / arguments.blocks;
  const uint first = block / across * R, pass = block % across * S;
  const int64_t size = int64_t(arguments.queries) * keys, mine = mask * size;
  const int64_t to = part * (arguments.items / parts / arguments.blocks) * size + mine;
  vec4 sum[kEach];
  [[unroll]] for (uint e = 0; e < kEach; ++e) sum[e] = vec4(0);
  const uint end = CAUSAL && pass >= first + R ? 0 : first_head(part + 1);
  for (uint head = first_head(part); head < end; ++head) {
    if (offset_of(arguments.mask_result.batch, arguments.batch, head) != mine) continue;
    load_own(head, first);
    load_passing(head, pass);
    barrier();
    vec4 weights[kEach], changes[kEach];
    weigh_tiles(head, offset_of(arguments.mask.batch, arguments.batch, head), first, pass, weights, changes);
    [[unroll]] for (uint e = 0; e < kEach; ++e) sum[e] += changes[e];
    barrier();
  }
  [[unroll]] for (uint e = 0; e < kEach; ++e)
    [[unroll]] for (uint r = 0; r < 4; ++r) {
      const uint b = first_passing() + e * kApart, query = first + own_four() + r * kFours;
      if (b < S && pass + b < keys && query < arguments.queries)
        store_f32(arguments.mask_result.at, to + int64_t(query) * keys + pass + b, sum[e][r]);
    }
}

void main() {
  if (OF == kOfMask)
    compute_mask(MY_ITEM);
  else
    compute_rows(MY_ITEM);
}
