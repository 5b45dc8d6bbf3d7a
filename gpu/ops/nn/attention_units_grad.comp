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

// A subgroup's region, one row per query: 16 queries by S keys, or S queries by 16 keys. A row holds the
// scores that start from the mask; then, as 16-bit elements, the weights and the gradients of the products.
const uint kRows = OF_KEYS ? S : 16, kColumns = OF_KEYS ? 16 : S;
const uint kScoreRow = kColumns / 4 + 1, kSlopes = kColumns / 8;
const uint kScores = kRows * kScoreRow;
DEFINE_MEMORY(kScores)
DEFINE_WEIGHTS(kRows, kScoreRow)

#define ADD_TO_QUERY(name, i)                                                                     \
  if (!OF_KEYS && i < kFragments) {                                                               \
    RIGHT right;                                                                                  \
    coopMatLoadNV(right, memory, tile + passing * 16 * kRow + i * 2, kRow, true);                 \
    products = coopMatMulAddNV(query_##name##_##i, right, products);                              \
  }
#define ADD_TO_KEY(name, i)                                                                       \
  if (OF_KEYS && i < kFragments) {                                                                \
    LEFT left;                                                                                    \
    coopMatLoadNV(left, memory, tile + passing * 16 * kRow + i * 2, kRow, false);                 \
    products = coopMatMulAddNV(left, key_##name##_##i, products);                                 \
  }
// The products of queries and keys for fragment j of the passing rows.
#define MULTIPLY_FIRST(name, j)                                                                   \
  if (j < kAcross) {                                                                              \
    const uint passing = j, tile = 0;                                                             \
    SUMS products = SUMS(0.0);                                                                    \
    if (STAGED) coopMatLoadNV(products, memory, region + (OF_KEYS ? j * 16 * kScoreRow : j * 4), kScoreRow, false); \
    EACH_FRAGMENT(ADD_TO_QUERY, first)                                                            \
    EACH_FRAGMENT(ADD_TO_KEY, first)                                                              \
    name##_##j = products;                                                                        \
  }
#define MASK_COMPONENT(score, j, c)                                                               \
  if (c < kComponents && is_masked(mask, first_query + places[c] / 16 + (OF_KEYS ? j * 16 : 0),   \
                                   first_key + places[c] % 16 + (OF_KEYS ? 0 : j * 16), keys))    \
    score[c] = -infinity();
#define MASK_SCORES(name, j) \
  if (j < kAcross) { EACH_COMPONENT(MASK_COMPONENT, name##_##j, j) }
#define WEIGH_ONE(score, j, c, bit, weight, change)                                                  \
  {                                                                                               \
    const uint row = places[c] / 16 + (OF_KEYS ? j * 16 : 0);                                     \
    const vec2 known = OF_KEYS ? statistics[row] : vec2(lse[c], delta[c]);                        \
    float slope;                                                                                  \
    weight = exp2(score_of(score[c], arguments.scale, slope) * kLog2E - known.x * kLog2E);        \
    if (CAPS && score[c] == -infinity()) weight = 0.0;                                            \
    slope *= weight;                                                                              \
    const float factor = !DROPS ? 1.0 : (bits & bit) != 0 ? arguments.draw.kept : 0.0;            \
    weight *= factor;                                                                             \
    change = slope * (factor * products[c] - known.y);                                            \
  }
#define WEIGH_TWO(score, j, c, d)                                                                 \
  if (d < kComponents) {                                                                          \
    const uint bits = !DROPS ? 0                                                                  \
                             : bits_of(kept, places[c] / 16 + (OF_KEYS ? j * 16 : 0),             \
                                       places[c] % 16 + (OF_KEYS ? 0 : j * 16));                  \
    float low, high, low_change, high_change;                                                     \
    WEIGH_ONE(score, j, c, 1, low, low_change)                                                    \
    WEIGH_ONE(score, j, d, 2, high, high_change)                                                  \
    if (OF_KEYS && SECOND) KEEP_TWO(at, kScoreRow, c, two_halves(low, high))                   \
    if (FIRST) KEEP_TWO(at + kSlopes, kScoreRow, c, two_halves(low_change, high_change))       \
  }
// The weights of these pairs and the gradients of their products. reaches: the products of dout and v.
#define WEIGH(name, j)                                                                            \
  if (j < kAcross) {                                                                              \
    const uint passing = j, tile = kPassing, at = place_of(region, j);                            \
    SUMS products = SUMS(0.0);                                                                    \
    if (FIRST) {                                                                                  \
      EACH_FRAGMENT(ADD_TO_QUERY, second)                                                         \
      EACH_FRAGMENT(ADD_TO_KEY, second)                                                           \
    }                                                                                             \
    EACH_PAIR(WEIGH_TWO, name##_##j, j)                                                           \
  }
#define ADD_PRODUCT(name, i)                                                                      \
  if (i < kFragments) {                                                                           \
    coopMatLoadNV(right, memory, tile + j * 16 * kRow + i * 2, kRow, false);                      \
    name##_##i = coopMatMulAddNV(left, right, name##_##i);                                        \
  }
// Adds 16-bit elements of the region times the tile. With OF_KEYS the region's rows are the passing rows.
#define ADD_PRODUCTS(name, from, at)                                                              \
  {                                                                                               \
    const uint tile = at;                                                                         \
    [[unroll]] for (uint j = 0; j < kAcross; ++j) {                                               \
      LEFT left;                                                                                  \
      RIGHT right;                                                                                \
      if (OF_KEYS)                                                                                \
        coopMatLoadNV(left, memory, from + j * 16 * kScoreRow, kScoreRow, true);                  \
      else                                                                                        \
        coopMatLoadNV(left, memory, from + j * 2, kScoreRow, false);                              \
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

// Where fragment j of the passing rows begins in a region.
uint place_of(uint region, uint j) {
  return region + (OF_KEYS ? j * 16 * kScoreRow : j * 2);
}

bool is_masked(int64_t mask, uint query, uint key, uint keys) {
  return query >= arguments.queries || key >= keys || CAUSAL && key > query ||
         MASK == kShows && !STAGED && masked(0.0, arguments.mask, mask, query, key) != 0.0;
}

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
  FIND_PLACES(region, kScoreRow)
  float lse[8], delta[8];  // of the own queries
  [[unroll]] for (uint c = 0; c < kComponents; ++c) {
    const vec2 known = OF_KEYS ? vec2(0) : statistics_of(head, mine + places[c] / 16);
    lse[c] = known.x;
    delta[c] = known.y;
  }
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

    const uint first_query = OF_KEYS ? pass : mine, first_key = OF_KEYS ? mine : pass;
    const bool inside = first_query + kRows <= arguments.queries && first_key + kColumns <= keys &&
                        (!CAUSAL || first_key + kColumns <= first_query + 1);
    stage_mask(region, mask, first_query, first_key, keys);
    const uint kept = DROPS ? draw_kept(head, first_query, first_key, keys) : 0;
    EACH_PASSING(DECLARE_SUM, score)
    EACH_PASSING(MULTIPLY_FIRST, score)
    if (!inside || MASK != kNoMask && !STAGED) {
      EACH_PASSING(MASK_SCORES, score)
    }
    if (STAGED) subgroupBarrier();
    EACH_PASSING(WEIGH, score)
    subgroupBarrier();
    if (OF_KEYS && SECOND) ADD_PRODUCTS(value_sum, region, kPassing)
    if (FIRST) ADD_PRODUCTS(sum, region + kSlopes, 0)
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
