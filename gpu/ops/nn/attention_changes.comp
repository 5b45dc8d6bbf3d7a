#version 460
// For the gradients of attention by matrix products: computes from q k^T and dout v^T the weights p for dv,
// with dropout, and the changes ds for dq and dk, as in attention_grad.comp. An invocation computes four keys
// of a query.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_operands.glsl"
layout(constant_id = 8) const uint TYPE = kBF16;  // type of weights and changes

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t products, reaches;  // f32 [heads, rows, width]
  uint64_t weights, changes;
  uint64_t lse, delta;
  Mask mask;
  Draw draw;
  Batch batch;
  uint heads, rows, width;  // these and the next ones as in attention_weights.comp
  uint first_query, queries, keys;
  uint first_head, inner, all_inner;
  Scale scale;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  const uint fours = (arguments.width + 3) / 4, all = arguments.heads * arguments.rows * fours;
  for (uint i = gl_GlobalInvocationID.x; i < all; i += gl_NumWorkGroups.x * kThreads) {
    const uint at = i / fours, key = i % fours * 4;
    const uint head = at / arguments.rows, query = arguments.first_query + at % arguments.rows;
    const uint number = arguments.first_head + head / arguments.inner * arguments.all_inner + head % arguments.inner;
    const int64_t row_number = int64_t(number) * arguments.queries + query;
    const int64_t mask = MASK == kNoMask ? 0 : offset_of(arguments.mask.batch, arguments.batch, head);
    const float lse = load_f32(arguments.lse, row_number), delta = load_f32(arguments.delta, row_number);
    const vec4 factors = DROPS ? drop_factors(arguments.draw, uint(row_number), arguments.keys, key) : vec4(1);
    [[unroll]] for (uint e = 0; e < 4; ++e) {
      const uint k = key + e;
      if (k >= arguments.width) continue;
      const int64_t place = int64_t(at) * arguments.width + k;
      float weight = 0.0, change = 0.0;
      if (!CAUSAL || k <= query) {
        float slope;
        const float score = score_of(load_f32(arguments.products, place), arguments.scale, slope);
        const float away = (MASK == kNoMask ? score : masked(score, arguments.mask, mask, query, k)) - lse;
        weight = exp_of_negative(away > 0.0 ? 0.0 : away);  // rounding can make it slightly positive
        change = weight * (factors[e] * load_f32(arguments.reaches, place) - delta) * slope;
        weight *= factors[e];
      }
      store_float(arguments.weights, place, TYPE, weight);
      store_float(arguments.changes, place, TYPE, change);
    }
  }
}
