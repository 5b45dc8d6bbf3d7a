#version 460
// The gradients of attention of 16-bit floats on matrix units, by the formulas of attention_grad.comp. With
// kOfQueries the workgroup owns queries and visits keys and values, with kOfKeys vice versa. Each own row
// takes part in two products: q or k for the weights, dout or v for their gradients.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_units.glsl"
#include "turns.glsl"
layout(constant_id = 4) const uint OF = 0;
layout(constant_id = 9) const bool FIRST = true;    // result[0] is wanted
layout(constant_id = 10) const bool SECOND = true;  // result[1] is wanted
const uint kOfQueries = 0, kOfKeys = 1;
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
  uint blocks, items;
  uint heads, parts;
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

// The scores in a subgroup's region, one row per query: 16 queries by S keys, or S queries by 16 keys.
const uint kRows = OF_KEYS ? S : 16;
const uint kScoreRow = (OF_KEYS ? 16 : S) / 4 + 1, kWeightRow = (OF_KEYS ? 16 : S) / 8 + 1;
const uint kScores = kRows * kScoreRow;
DEFINE_MEMORY(kScores)
DEFINE_WEIGHTS(kRows, kScoreRow)

#define ADD_TO_QUERY(name, i)                                                                     \
  if (!OF_KEYS && i < kFragments) {                                                               \
    RIGHT right;                                                                                  \
    coopMatLoadNV(right, memory, tile + j * 16 * kRow + i * 2, kRow, true);                       \
    score = coopMatMulAddNV(query_##name##_##i, right, score);                                    \
  }
#define ADD_TO_KEY(name, i)                                                                       \
  if (OF_KEYS && i < kFragments) {                                                                \
    LEFT left;                                                                                    \
    coopMatLoadNV(left, memory, tile + j * 16 * kRow + i * 2, kRow, false);                       \
    score = coopMatMulAddNV(left, key_##name##_##i, score);                                       \
  }
// Writes the products of own rows with a tile to the subgroup's region; adds them to its contents if
// `staged`.
#define MULTIPLY(name, at, staged)                                                                \
  {                                                                                               \
    const uint tile = at;                                                                         \
    [[unroll]] for (uint j = 0; j < kAcross; ++j) {                                               \
      const uint place = region + (OF_KEYS ? j * 16 * kScoreRow : j * 4);                         \
      SUMS score = SUMS(0.0);                                                                     \
      if (staged) coopMatLoadNV(score, memory, place, kScoreRow, false);                          \
      EACH_FRAGMENT(ADD_TO_QUERY, name)                                                           \
      EACH_FRAGMENT(ADD_TO_KEY, name)                                                             \
      coopMatStoreNV(score, memory, place, kScoreRow, false);                                     \
    }                                                                                             \
    subgroupBarrier();                                                                            \
  }
#define ADD_PRODUCT(name, i)                                                                      \
  if (i < kFragments) {                                                                           \
    coopMatLoadNV(right, memory, tile + j * 16 * kRow + i * 2, kRow, false);                      \
    name##_##i = coopMatMulAddNV(left, right, name##_##i);                                        \
  }
// Adds the 16-bit weights in the region times the tile. With OF_KEYS the region's rows are the passing rows.
#define ADD_PRODUCTS(name, at)                                                                    \
  {                                                                                               \
    const uint tile = at;                                                                         \
    [[unroll]] for (uint j = 0; j < kAcross; ++j) {                                               \
      LEFT left;                                                                                  \
      RIGHT right;                                                                                \
      if (OF_KEYS)                                                                                \
        coopMatLoadNV(left, memory, region + j * 16 * kWeightRow, kWeightRow, true);              \
      else                                                                                        \
        coopMatLoadNV(left, memory, region + j * 2, kWeightRow, false);                           \
      EACH_FRAGMENT(ADD_PRODUCT, name)                                                            \
    }                                                                                             \
  }

#define LOAD_OWN(name)                                         \
  if (OF_KEYS) {                                               \
    EACH_FRAGMENT(LOAD_RIGHT, key_##name)                      \
  } else {                                                     \
    EACH_FRAGMENT(LOAD_LEFT, query_##name)                     \
  }

shared vec2 statistics[64];  // lse and delta of the passing queries

vec2 statistics_of(uint head, uint query) {
  const int64_t at = int64_t(head) * arguments.queries + min(query, arguments.queries - 1);
  return vec2(load_f32(arguments.lse, at), load_f32(arguments.delta, at));
}

void load_own(uint which, uint head, uint first, uint features) {
  load_tile(0, R, head_of(arguments.own[which], arguments.batch, head, 2), arguments.own[which].step, first, arguments.own_rows,
            features);
}
void compute_rows(uint item) {
  const uint head = item / arguments.blocks, first = item % arguments.blocks * R;
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  EACH_FRAGMENT(DECLARE_LEFT, query_first)
  EACH_FRAGMENT(DECLARE_LEFT, query_second)
  EACH_FRAGMENT(DECLARE_RIGHT, key_first)
  EACH_FRAGMENT(DECLARE_RIGHT, key_second)
  load_own(0, head, first, arguments.features);
  barrier();
  LOAD_OWN(first)
  barrier();
  load_own(1, head, first, arguments.value_features);
  barrier();
  LOAD_OWN(second)
  barrier();

  EACH_FRAGMENT(DECLARE_SUM, sum)
  EACH_FRAGMENT(DECLARE_SUM, value_sum)
  const uint region = kRegion + gl_SubgroupID * kScores, mine = first + gl_SubgroupID * 16;
  const uint keys = OF_KEYS ? arguments.own_rows : arguments.passing_rows;
  const vec2 own = OF_KEYS ? vec2(0) : statistics_of(head, mine + lane() % 16);
  const uint begin = CAUSAL && OF_KEYS ? first / S * S : 0;
  const uint end = CAUSAL && !OF_KEYS ? min(first + R, arguments.passing_rows) : arguments.passing_rows;
  const uint64_t passing[2] = {head_of(arguments.passing[0], arguments.batch, head, 2),
                               head_of(arguments.passing[1], arguments.batch, head, 2)};
  uvec4 next_first[kFetches], next_second[kFetches];
  fetch_tile(next_first, passing[0], arguments.passing[0].step, begin, end, arguments.features);
  fetch_tile(next_second, passing[1], arguments.passing[1].step, begin, end, arguments.value_features);
  for (uint pass = begin; pass < end; pass += S) {
    keep_tile(0, next_first);
    keep_tile(kPassing, next_second);
    const uint me = gl_LocalInvocationID.x;
    if (OF_KEYS && me < S) statistics[me] = statistics_of(head, pass + me);
    barrier();
    fetch_tile(next_first, passing[0], arguments.passing[0].step, pass + S, end, arguments.features);
    fetch_tile(next_second, passing[1], arguments.passing[1].step, pass + S, end, arguments.value_features);

    const uint first_query = OF_KEYS ? pass : mine, queries = OF_KEYS ? S : 16;
    const uint first_key = OF_KEYS ? mine : pass, end_key = first_key + (OF_KEYS ? 16 : S);
    const bool inside =
        first_query + queries <= arguments.queries && end_key <= keys && (!CAUSAL || end_key <= first_query + 1);
    stage_mask(region, mask, first_query, first_key, keys);
    MULTIPLY(first, 0, STAGED)
    // slopes: weights times the derivatives of the scores; factors: of dropout
    vec4 slopes[kEach], factors[kEach];
    uvec2 weights[kEach];
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint query = (OF_KEYS ? pass : mine) + row_of(e), key = (OF_KEYS ? mine : pass) + four_of(e) * 4;
      const float lse = OF_KEYS ? statistics[row_of(e)].x : own.x;
      const vec4 products = sums_at(region + row_of(e) * kScoreRow + four_of(e));
      factors[e] = DROPS ? drop_factors(arguments.draw, head * arguments.queries + query, keys, key) : vec4(1);
      const vec4 weight = weights_of(products, lse, mask, query, key, keys, inside, slopes[e]);
      if (OF_KEYS && SECOND) weights[e] = four_halves(weight * factors[e]);
    }
    subgroupBarrier();
    if (OF_KEYS && SECOND) {
      [[unroll]] for (uint e = 0; e < kEach; ++e) keep_four(region + row_of(e) * kWeightRow, four_of(e), weights[e]);
      subgroupBarrier();
      ADD_PRODUCTS(value_sum, kPassing)
      subgroupBarrier();
    }
    if (FIRST) {
      MULTIPLY(second, kPassing, false)
      [[unroll]] for (uint e = 0; e < kEach; ++e) {
        const float delta = OF_KEYS ? statistics[row_of(e)].y : own.y;
        const vec4 reaches = sums_at(region + row_of(e) * kScoreRow + four_of(e));
        weights[e] = four_halves(slopes[e] * (factors[e] * reaches - delta));
      }
      subgroupBarrier();
      [[unroll]] for (uint e = 0; e < kEach; ++e) keep_four(region + row_of(e) * kWeightRow, four_of(e), weights[e]);
      subgroupBarrier();
      ADD_PRODUCTS(sum, 0)
    }
    barrier();
  }
  if (FIRST) {
    STORE_RESULTS(sum, arguments.result[0], head, first, arguments.own_rows, arguments.features)
  }
  if (OF_KEYS && SECOND) {
    STORE_RESULTS(value_sum, arguments.result[1], head, first, arguments.own_rows, arguments.value_features)
  }
}

void main() { compute_rows(MY_ITEM); }
