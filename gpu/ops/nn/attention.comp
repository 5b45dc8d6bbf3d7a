#version 460
// softmax(q k^T scale) v without storing a matrix of all scores: T. Dao et al., "FlashAttention" (2022). A
// workgroup owns R queries of a head and visits S keys and values at a time. When a larger score occurs, the
// sums so far are rescaled. Scores are capped, then masked. The log-sum-exp of each query's scores is stored
// for the gradients. A query whose keys are all masked has the result 0 and the log-sum-exp +inf.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention.glsl"
#include "turns.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Rows q, k, v, result;
  uint64_t lse;
  Mask mask;
  Draw draw;
  Batch batch;
  uint queries, keys, features, value_features;
  uint blocks;  // blocks of queries in a head
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

TILE_MEMORY(1, 1)
shared float row_most[R], row_sum[R], row_factor[R];
DEFINE_TILES

const uint kPassing = R * kRow, kWeights = kPassing + S * kRow;

void compute_block(uint item) {
  const uint head = item / arguments.blocks, first = item % arguments.blocks * R, me = gl_LocalInvocationID.x;
  const uint64_t k = head_of(arguments.k, arguments.batch, head, 4), v = head_of(arguments.v, arguments.batch, head, 4);
  const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
  load_tile(0, R, head_of(arguments.q, arguments.batch, head, 4), arguments.q.step, first, arguments.queries,
            arguments.features);
  for (uint row = me; row < R; row += kThreads) {
    row_most[row] = -infinity();
    row_sum[row] = 0.0;
  }
  const uint column = me % kColumns, own = me / kColumns * kOwn;
  vec4 sum[kOwn][4];
  [[unroll]] for (uint u = 0; u < kOwn; ++u)
    [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] = vec4(0);

  const uint end = CAUSAL ? min(first + R, arguments.keys) : arguments.keys;
  for (uint key = 0; key < end; key += S) {
    load_tile(kPassing, S, k, arguments.k.step, key, arguments.keys, arguments.features);
    barrier();
    vec4 scores[kEach];
    multiply_tiles(0, kPassing, scores);
    [[unroll]] for (uint e = 0; e < kEach; ++e) {
      const uint a = own_four(), b = first_passing() + e * kApart;
      if (b >= S) continue;
      vec4 score;
      [[unroll]] for (uint r = 0; r < 4; ++r) {
        const uint query = first + a + r * kFours;
        float slope;
        score[r] = score_of(scores[e][r], arguments.scale, slope);
        if (key + b >= arguments.keys || CAUSAL && key + b > query)
          score[r] = -infinity();
        else if (MASK != kNoMask && query < arguments.queries)
          score[r] = masked(score[r], arguments.mask, mask, query, key + b);
      }
      memory[kWeights + b * kWeightRow + a] = score;
    }
    barrier();
    load_tile(kPassing, S, v, arguments.v.step, key, arguments.keys, arguments.value_features);
    for (uint row = me; row < R; row += kThreads) {
      const uint four = kWeights + row % kFours, part = row / kFours;
      float most = row_most[row];
      for (uint b = 0; b < S; ++b) most = max(most, memory[four + b * kWeightRow][part]);
      const float factor = row_most[row] == -infinity() ? 0.0 : exp_of_negative(row_most[row] - most);
      float total = row_sum[row] * factor;
      vec4 factors = vec4(1);
      for (uint b = 0; b < S; ++b) {
        if (DROPS && b % 4 == 0)
          factors = drop_factors(arguments.draw, head * arguments.queries + first + row, arguments.keys, key + b);
        const float score = memory[four + b * kWeightRow][part];
        const float weight = score == -infinity() ? 0.0 : exp_of_negative(score - most);
        memory[four + b * kWeightRow][part] = DROPS ? weight * factors[b % 4] : weight;
        total += weight;
      }
      row_most[row] = most;
      row_sum[row] = total;
      row_factor[row] = factor;
    }
    barrier();
    [[unroll]] for (uint u = 0; u < kOwn; ++u)
      [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] *= row_factor[own + u + r * kFours];
    for (uint b = 0; b < S; ++b) {
      const vec4 value = memory[kPassing + b * kRow + column];
      [[unroll]] for (uint u = 0; u < kOwn; ++u) {
        const vec4 weight = memory[kWeights + b * kWeightRow + own + u];
        [[unroll]] for (uint r = 0; r < 4; ++r) sum[u][r] += weight[r] * value;
      }
    }
    barrier();
  }

  const uint64_t result = head_of(arguments.result, arguments.batch, head, 4);
  [[unroll]] for (uint u = 0; u < kOwn; ++u)
    [[unroll]] for (uint r = 0; r < 4; ++r) {
      const uint row = own + u + r * kFours;
      if (first + row >= arguments.queries || column * 4 >= arguments.value_features) continue;
      const float total = row_sum[row];
      F32x4Elements(result + (int64_t(first + row) * arguments.result.step + column * 4) * 4).at =
          total == 0.0 ? vec4(0) : sum[u][r] / total;
    }
  for (uint row = me; row < R; row += kThreads)
    if (first + row < arguments.queries)
      store_f32(arguments.lse, int64_t(head) * arguments.queries + first + row,
                row_sum[row] == 0.0 ? infinity() : row_most[row] + lg_log(row_sum[row]));
}

void main() { compute_block(MY_ITEM); }
