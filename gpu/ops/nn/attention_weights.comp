#version 460
// The weights of attention from the products q k^T of matrix units: softmax of the capped and masked scores,
// times dropout. 32 invocations share a row. A row whose keys are all masked has the weights 0 and the
// log-sum-exp +inf.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_operands.glsl"
layout(constant_id = 8) const uint TYPE = kBF16;  // type of the weights

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t products, weights, lse;  // products: f32 [heads, rows, width]
  Mask mask;
  Draw draw;
  Batch batch;
  uint heads, rows, width;            // of this part: heads, queries and keys
  uint first_query, queries, keys;    // the part's first query; queries and keys of a whole head
  uint first_head, inner, all_inner;  // head h of the part is number first_head + h / inner * all_inner + h % inner
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kAlong = 32;
shared float meeting[kThreads];

// The score of key k, or -inf.
float score_at(uint64_t row, int64_t mask, uint query, uint k) {
  float slope;
  const float score = score_of(load_f32(row, k), arguments.scale, slope);
  if (CAUSAL && k > query) return -infinity();
  return MASK == kNoMask ? score : masked(score, arguments.mask, mask, query, k);
}

float meet(float value, bool largest) {
  const uint id = gl_LocalInvocationID.x;
  meeting[id] = value;
  barrier();
  [[unroll]] for (uint half_way = kAlong / 2; half_way > 0; half_way /= 2) {
    if (id % kAlong < half_way)
      meeting[id] = largest ? max(meeting[id], meeting[id + half_way]) : meeting[id] + meeting[id + half_way];
    barrier();
  }
  const float result = meeting[id / kAlong * kAlong];
  barrier();
  return result;
}

void main() {
  const uint lane = gl_LocalInvocationID.x % kAlong, all = arguments.heads * arguments.rows;
  for (uint first = gl_WorkGroupID.x * (kThreads / kAlong); first < all; first += gl_NumWorkGroups.x * (kThreads / kAlong)) {
    const uint at = first + gl_LocalInvocationID.x / kAlong;
    const bool inside = at < all;
    const uint head = min(at, all - 1) / arguments.rows, query = arguments.first_query + min(at, all - 1) % arguments.rows;
    const uint number = arguments.first_head + head / arguments.inner * arguments.all_inner + head % arguments.inner;
    const uint row_number = number * arguments.queries + query;
    const uint64_t row = arguments.products + uint64_t(min(at, all - 1)) * arguments.width * 4;
    const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
    float most = -infinity(), total = 0.0;
    for (uint k = lane; k < arguments.width; k += kAlong) {
      const float score = score_at(row, mask, query, k);
      if (score > most) {
        total *= exp_of_negative(most - score);
        most = score;
      }
      if (score > -infinity()) total += exp_of_negative(score - most);
      if (lg_isnan(score)) total = score;
    }
    const float largest = meet(most, true);
    const float sum = meet(most == -infinity() && !lg_isnan(total) ? 0.0 : lg_isnan(total) ? total : total * exp_of_negative(most - largest), false);
    for (uint k = lane * 4; k < arguments.width; k += kAlong * 4) {
      const vec4 factors = DROPS ? drop_factors(arguments.draw, row_number, arguments.keys, k) : vec4(1);
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        if (k + e >= arguments.width || !inside) continue;
        const float score = score_at(row, mask, query, k + e);
        const float weight = score == -infinity() ? 0.0 : exp_of_negative(score - largest) / sum;
        store_float(arguments.weights, int64_t(at) * arguments.width + k + e, TYPE, weight * factors[e]);
      }
    }
    if (inside && lane == 0)
      store_f32(arguments.lse, row_number, sum == 0.0 ? infinity() : largest + lg_log(sum));
  }
}
