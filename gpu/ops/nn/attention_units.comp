#version 460
// Attention of 16-bit floats on matrix units. The weights of a query are relative to a reference, its largest
// score so far (Dao and others, "FlashAttention", 2022). The reference rises, and the sums are rescaled, only
// when a score is more than kSlack above it: rows of a fragment are spread over invocations, and finding the
// largest score of a row goes through shared memory. A query whose keys are all masked has the result 0 and
// the log-sum-exp +inf.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_units.glsl"
#extension GL_KHR_shader_subgroup_vote : require
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

const uint kScoreRow = S / 4 + 1;
DEFINE_MEMORY(16 * kScoreRow)
DEFINE_WEIGHTS(16, kScoreRow)

const uint kSharing = kSubgroup / 16;  // invocations with scores of the same query, which are 16 lanes apart
const float kSlack = 8.0;              // in units of log(2): a weight is at most 256
const float kNone = -3e38;             // the reference of a row without scores: exp2(-infinity - kNone) is 0

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
#define WRITE_COMPONENT(to, from, c) \
  if (c < kComponents) to[c] = from[c];
#define SCALE_COMPONENT(score, j, c) \
  if (c < kComponents) score[c] = score_at(score[c]);
#define MASK_COMPONENT(score, j, c) \
  if (c < kComponents) score[c] = masked_score(score[c], mask, first, places[c], key + j * 16);
#define COMPARE_COMPONENT(score, j, c) \
  if (c < kComponents) largest[c] = max(largest[c], score[c]);
#define EACH_SCORE(DO, name) \
  if (0 < kAcross) { EACH_COMPONENT(DO, name##_0, 0) } \
  if (1 < kAcross) { EACH_COMPONENT(DO, name##_1, 1) } \
  if (2 < kAcross) { EACH_COMPONENT(DO, name##_2, 2) } \
  if (3 < kAcross) { EACH_COMPONENT(DO, name##_3, 3) }
#define RESCALE_COMPONENT(sum, unused, c) \
  if (c < kComponents) sum[c] *= factors[c];
#define RESCALE(name, i) \
  if (i < kFragments) { EACH_COMPONENT(RESCALE_COMPONENT, name##_##i, 0) }
// Replaces two scores by their weights.
#define WEIGH_TWO(score, j, c, d)                                                         \
  if (d < kComponents) {                                                                  \
    float low = exp2(score[c] - reference[c]), high = exp2(score[d] - reference[d]);      \
    total[c] += low;                                                                      \
    total[d] += high;                                                                     \
    if (DROPS) {                                                                          \
      const uint bits = bits_of(kept, places[c] / 16, j * 16 + places[c] % 16);           \
      low *= (bits & 1) != 0 ? arguments.draw.kept : 0.0;                                 \
      high *= (bits & 2) != 0 ? arguments.draw.kept : 0.0;                                \
    }                                                                                     \
    KEEP_TWO(region + j * 2, kScoreRow, c, two_weights(low, high))                     \
  }
#define WEIGH(name, j) \
  if (j < kAcross) { EACH_PAIR(WEIGH_TWO, name##_##j, j) }
#define ADD_VALUE(name, i)                                                                \
  if (i < kFragments) {                                                                   \
    coopMatLoadNV(right, memory, kPassing + j * 16 * kRow + i * 2, kRow, false);          \
    name##_##i = coopMatMulAddNV(left, right, name##_##i);                                \
  }

// The score times log2(e).
float score_at(float product) {
  float slope;
  return score_of(product, arguments.scale, slope) * kLog2E;
}
// The masked score of a fragment's element in row place / 16 and column place % 16; -inf if it is masked.
float masked_score(float score, int64_t mask, uint first, uint place, uint key) {
  const uint query = first + place / 16;
  key += place % 16;
  if (query >= arguments.queries || key >= arguments.keys || CAUSAL && key > query) return -infinity();
  if (MASK == kShows && !STAGED && masked(0.0, arguments.mask, mask, query, key) != 0.0) return -infinity();
  return score;
}

// The largest number in row lane % 16 of a fragment in the region.
float row_largest(uint region) {
  float most = -infinity();
  for (uint four = lane() / 16; four < 4; four += kSharing) {
    const vec4 found = sums_at(region + lane() % 16 * kScoreRow + four);
    most = max(most, max(max(found.x, found.y), max(found.z, found.w)));
  }
  for (uint apart = 16; apart < kSubgroup; apart *= 2) most = max(most, subgroupShuffleXor(most, apart));
  return most;
}
float row_total(uint region) {
  float all = 0.0;
  for (uint four = lane() / 16; four < 4; four += kSharing) {
    const vec4 found = sums_at(region + lane() % 16 * kScoreRow + four);
    [[unroll]] for (uint i = 0; i < 4; ++i) all += found[i];
  }
  for (uint apart = 16; apart < kSubgroup; apart *= 2) all += subgroupShuffleXor(all, apart);
  return all;
}

void compute_block(uint item) {
  const uint head = item / arguments.blocks, own = item % arguments.blocks * R, first = own + gl_SubgroupID * 16;
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  const uint64_t keys = head_of(arguments.k, arguments.batch, head, 2);
  const uint64_t values = head_of(arguments.v, arguments.batch, head, 2);
  load_tile(0, R, head_of(arguments.q, arguments.batch, head, 2), arguments.q.step, own, arguments.queries, arguments.features);
  const uint region = kRegion + gl_SubgroupID * 16 * kScoreRow;
  FIND_PLACES(region, kScoreRow)
  barrier();
  EACH_FRAGMENT(DECLARE_LEFT, q)
  EACH_FRAGMENT(LOAD_LEFT, q)
  // For each component the reference of its row, a score times log2(e), and the sum of its weights.
  // row_reference: the reference of row lane % 16.
  float reference[8], total[8], row_reference = kNone;
  [[unroll]] for (uint i = 0; i < kComponents; ++i) {
    reference[i] = kNone;
    total[i] = 0.0;
  }
  EACH_FRAGMENT(DECLARE_SUM, sum)
  barrier();

  const uint end = CAUSAL ? min(own + R, arguments.keys) : arguments.keys;
  uvec4 next_keys[kFetches], next_values[kFetches];
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
    float largest[8];
    [[unroll]] for (uint i = 0; i < kComponents; ++i) largest[i] = -infinity();
    EACH_SCORE(SCALE_COMPONENT, score)
    if (!inside || MASK != kNoMask && !STAGED) {
      EACH_SCORE(MASK_COMPONENT, score)
    }
    EACH_SCORE(COMPARE_COMPONENT, score)
    bool above = false;
    [[unroll]] for (uint i = 0; i < kComponents; ++i) above = above || largest[i] > reference[i] + kSlack;
    if (STAGED) subgroupBarrier();
    if (subgroupAny(above)) {
      EACH_COMPONENT(WRITE_COMPONENT, numbers, largest)
      coopMatStoreNV(numbers, memory, region, kScoreRow, false);
      subgroupBarrier();
      row_reference = max(row_reference, row_largest(region));
      float factors[8];
      [[unroll]] for (uint i = 0; i < kComponents; ++i) {
        const float raised = subgroupShuffle(row_reference, places[i] / 16);
        factors[i] = exp2(reference[i] - raised);
        reference[i] = raised;
        total[i] *= factors[i];
      }
      EACH_FRAGMENT(RESCALE, sum)
      subgroupBarrier();
    }
    const uint kept = DROPS ? draw_kept(head, first, key, arguments.keys) : 0;
    EACH_PASSING(WEIGH, score)
    subgroupBarrier();
    [[unroll]] for (uint j = 0; j < kAcross; ++j) {
      LEFT left;
      RIGHT right;
      coopMatLoadNV(left, memory, region + j * 2, kScoreRow, false);
      EACH_FRAGMENT(ADD_VALUE, sum)
    }
    barrier();
  }
  EACH_COMPONENT(WRITE_COMPONENT, numbers, total)
  coopMatStoreNV(numbers, memory, region, kScoreRow, false);
  subgroupBarrier();
  const float all = row_total(region);
  // A score of +inf makes its row NaN, as on the CPU.
  const float lse = all == 0.0 ? infinity() : lg_isnan(all) ? all : row_reference / kLog2E + lg_log(all);
  const uint query = first + lane() % 16;
  if (lane() < 16 && query < arguments.queries) store_f32(arguments.lse, int64_t(head) * arguments.queries + query, lse);
  // two_weights() takes no NaN: a query with NaN gets its NaN result here.
  const float share = all == 0.0 ? 0.0 : 1.0 / all;
  float factors[8];
  [[unroll]] for (uint c = 0; c < kComponents; ++c) factors[c] = subgroupShuffle(share, places[c] / 16);
  EACH_FRAGMENT(RESCALE, sum)
  STORE_RESULTS(sum, arguments.result, head, own, arguments.queries, arguments.value_features)
}

void main() { compute_block(MY_ITEM); }
