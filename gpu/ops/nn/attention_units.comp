#version 460
// Attention of 16-bit floats on matrix units, in two passes over the keys: the first finds the log-sum-exp of
// each query's scores, the second computes the scores again and adds the weighted values. So no sum has to be
// rescaled on the way. A query whose keys are all masked has the result 0 and the log-sum-exp +inf.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_units.glsl"
#include "turns.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Rows q, k, v, result;
  uint64_t lse;
  Mask mask;
  Draw draw;
  Batch batch;
  uint queries, keys, features, value_features;
  uint blocks;
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

const uint kScoreRow = S / 4 + 1, kWeightRow = S / 8 + 1;
DEFINE_MEMORY(16 * kScoreRow)
DEFINE_WEIGHTS(16, kScoreRow)

const uint kSharing = kSubgroup / 16;        // invocations with scores of the same query, which are 16 lanes apart
const uint kComponents = M * N / kSubgroup;  // elements of a fragment of sums in each invocation

#define EACH_PASSING(DO, a) DO(a, 0) DO(a, 1) DO(a, 2) DO(a, 3)
#define ADD_SCORE(name, i)                                                                \
  if (i < kFragments) {                                                                   \
    coopMatLoadNV(right, memory, passing * 16 * kRow + i * 2, kRow, true);                \
    products = coopMatMulAddNV(name##_##i, right, products);                              \
  }
// The products of the own queries with 16 keys of the tile.
#define MULTIPLY_KEYS(name, j)                                                            \
  if (j < kAcross) {                                                                      \
    const uint passing = j;                                                               \
    SUMS products = SUMS(0.0);                                                            \
    if (STAGED) coopMatLoadNV(products, memory, region + j * 4, kScoreRow, false);        \
    RIGHT right;                                                                          \
    EACH_FRAGMENT(ADD_SCORE, q)                                                           \
    name##_##j = products;                                                                \
  }
#define FIND_LARGEST(name, j)                                                             \
  if (j < kAcross)                                                                        \
    [[unroll]] for (uint i = 0; i < kComponents; ++i) {                                   \
      name##_##j[i] = score_at(name##_##j[i], mask, first, places[i], key + j * 16, inside); \
      larger[i] = max(larger[i], name##_##j[i]);                                          \
    }
#define ADD_TOTAL(name, j)                                                                \
  if (j < kAcross)                                                                        \
    [[unroll]] for (uint i = 0; i < kComponents; ++i) total[i] += exp2(name##_##j[i] - larger[i]);
#define KEEP_SCORES(name, j) \
  if (j < kAcross) coopMatStoreNV(name##_##j, memory, region + j * 4, kScoreRow, false);
#define ADD_VALUE(name, i)                                                                \
  if (i < kFragments) {                                                                   \
    coopMatLoadNV(right, memory, kPassing + j * 16 * kRow + i * 2, kRow, false);          \
    name##_##i = coopMatMulAddNV(left, right, name##_##i);                                \
  }
#define POISON(name, i) \
  if (i < kFragments) name##_##i[c] = nan();

// The score times log2(e) of a fragment's element in row place / 16 and column place % 16; -inf if it is
// masked.
float score_at(float product, int64_t mask, uint first, uint place, uint key, bool inside) {
  float slope;
  float score = score_of(product, arguments.scale, slope);
  if (!inside || MASK != kNoMask && !STAGED) {
    const uint query = first + place / 16;
    key += place % 16;
    if (query >= arguments.queries || key >= arguments.keys || CAUSAL && key > query)
      score = -infinity();
    else if (MASK != kNoMask && !STAGED)
      score = masked(score, arguments.mask, mask, query, key);
  }
  return score * kLog2E;
}

// Replaces -inf by 0, so that exp2(-inf - x) is 0.
float finite(float largest) {
  return largest == -infinity() ? 0.0 : largest;
}

void compute_block(uint item) {
  const uint head = item / arguments.blocks, own = item % arguments.blocks * R, first = own + gl_SubgroupID * 16;
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  const uint64_t keys = head_of(arguments.k, arguments.batch, head, 2);
  const uint64_t values = head_of(arguments.v, arguments.batch, head, 2);
  load_tile(0, R, head_of(arguments.q, arguments.batch, head, 2), arguments.q.step, own, arguments.queries, arguments.features);
  const uint region = kRegion + gl_SubgroupID * 16 * kScoreRow;
  // Finds which elements of a fragment this invocation holds, by loading a matrix of the elements' numbers.
  for (uint i = lane(); i < 64; i += kSubgroup)
    memory[region + i / 4 * kScoreRow + i % 4] = floatBitsToUint(vec4(i * 4) + vec4(0, 1, 2, 3));
  barrier();
  EACH_FRAGMENT(DECLARE_LEFT, q)
  EACH_FRAGMENT(LOAD_LEFT, q)
  SUMS numbers;
  coopMatLoadNV(numbers, memory, region, kScoreRow, false);
  uint places[kComponents];
  float largest[kComponents], total[kComponents];
  [[unroll]] for (uint i = 0; i < kComponents; ++i) {
    places[i] = uint(numbers[i]);
    largest[i] = -infinity();
    total[i] = 0.0;
  }
  barrier();

  const uint end = CAUSAL ? min(own + R, arguments.keys) : arguments.keys;
  uvec4 next_keys[kFetches], next_values[kFetches];
  fetch_tile(next_keys, keys, arguments.k.step, 0, end, arguments.features);
  for (uint key = 0; key < end; key += S) {
    keep_tile(0, next_keys);
    barrier();
    fetch_tile(next_keys, keys, arguments.k.step, key + S, end, arguments.features);
    const bool inside =
        first + 16 <= arguments.queries && key + S <= arguments.keys && (!CAUSAL || key + S <= first + 1);
    stage_mask(region, mask, first, key, arguments.keys);
    EACH_PASSING(DECLARE_SUM, score)
    EACH_PASSING(MULTIPLY_KEYS, score)
    float larger[kComponents];
    [[unroll]] for (uint i = 0; i < kComponents; ++i) larger[i] = largest[i];
    EACH_PASSING(FIND_LARGEST, score)
    [[unroll]] for (uint i = 0; i < kComponents; ++i) {
      total[i] *= exp2(finite(largest[i]) - finite(larger[i]));
      largest[i] = larger[i];
      larger[i] = finite(larger[i]);
    }
    EACH_PASSING(ADD_TOTAL, score)
    barrier();
  }
  // Combines the components of each query: in shared memory, then across the invocations that share the
  // query.
  [[unroll]] for (uint i = 0; i < kComponents; ++i) numbers[i] = largest[i];
  coopMatStoreNV(numbers, memory, region, kScoreRow, false);
  [[unroll]] for (uint i = 0; i < kComponents; ++i) numbers[i] = total[i];
  coopMatStoreNV(numbers, memory, region + 4, kScoreRow, false);
  subgroupBarrier();
  const uint row = row_of(0), part = four_of(0), query = first + row;
  float most = -infinity(), all = 0.0;
  for (uint four = part; four < 4; four += kSharing) {
    const vec4 found = sums_at(region + row * kScoreRow + four);
    most = max(most, max(max(found.x, found.y), max(found.z, found.w)));
  }
  for (uint apart = 16; apart < kSubgroup; apart *= 2) most = max(most, subgroupShuffleXor(most, apart));
  for (uint four = part; four < 4; four += kSharing) {
    const vec4 found = sums_at(region + row * kScoreRow + four), totals = sums_at(region + row * kScoreRow + four + 4);
    [[unroll]] for (uint i = 0; i < 4; ++i) all += totals[i] * exp2(finite(found[i]) - finite(most));
  }
  for (uint apart = 16; apart < kSubgroup; apart *= 2) all += subgroupShuffleXor(all, apart);
  const float lse = all == 0.0 ? infinity() : lg_isnan(all) ? all : most / kLog2E + lg_log(all);
  if (part == 0 && query < arguments.queries) store_f32(arguments.lse, int64_t(head) * arguments.queries + query, lse);
  subgroupBarrier();

  EACH_FRAGMENT(DECLARE_SUM, sum)
  fetch_tile(next_keys, keys, arguments.k.step, 0, end, arguments.features);
  fetch_tile(next_values, values, arguments.v.step, 0, end, arguments.value_features);
  for (uint key = 0; key < end; key += S) {
    keep_tile(0, next_keys);
    keep_tile(kPassing, next_values);
    barrier();
    fetch_tile(next_keys, keys, arguments.k.step, key + S, end, arguments.features);
    fetch_tile(next_values, values, arguments.v.step, key + S, end, arguments.value_features);
    const bool inside =
        first + 16 <= arguments.queries && key + S <= arguments.keys && (!CAUSAL || key + S <= first + 1);
    stage_mask(region, mask, first, key, arguments.keys);
    EACH_PASSING(DECLARE_SUM, score)
    EACH_PASSING(MULTIPLY_KEYS, score)
    EACH_PASSING(KEEP_SCORES, score)
    subgroupBarrier();
    uvec2 weights[kEach];
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint four = four_of(e);
      vec4 slopes;
      vec4 weight = weights_of(sums_at(region + row * kScoreRow + four), lse, mask, query, key + four * 4, arguments.keys,
                               inside, slopes);
      if (DROPS) weight *= drop_factors(arguments.draw, head * arguments.queries + query, arguments.keys, key + four * 4);
      weights[e] = four_weights(weight);
    }
    subgroupBarrier();
    [[unroll]] for (uint e = 0; e < kEach; ++e) keep_four(region + row * kWeightRow, four_of(e), weights[e]);
    subgroupBarrier();
    [[unroll]] for (uint j = 0; j < kAcross; ++j) {
      LEFT left;
      RIGHT right;
      coopMatLoadNV(left, memory, region + j * 2, kWeightRow, false);
      EACH_FRAGMENT(ADD_VALUE, sum)
    }
    barrier();
  }
  // four_weights() takes no NaN: a query with NaN gets its NaN result here.
  memory[region + lane()].x = floatBitsToUint(lse);
  subgroupBarrier();
  [[unroll]] for (uint c = 0; c < kComponents; ++c)
    if (lg_isnan(uintBitsToFloat(memory[region + places[c] / 16].x))) {
      EACH_FRAGMENT(POISON, sum)
    }
  STORE_RESULTS(sum, arguments.result, head, own, arguments.queries, arguments.value_features)
}

void main() { compute_block(MY_ITEM); }
