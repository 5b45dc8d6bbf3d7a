#version 460
// For the gradients of attention of 16-bit floats: dout out - dlse for each query. Eight invocations share a
// row.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "memory.glsl"
#include "functions.glsl"
#include "philox.glsl"
#include "attention_operands.glsl"
layout(constant_id = 8) const uint TYPE = kBF16;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Rows d_out, result;
  uint64_t d_lse, delta;  // f32 [heads, queries]; d_lse: 0 if there is none
  Batch batch;
  uint rows, queries, features;  // rows: queries of all heads
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kSharing = 8;

void main() {
  const uint part = gl_LocalInvocationID.x % kSharing, each = kThreads / kSharing;
  for (uint first = gl_WorkGroupID.x * each; first < arguments.rows; first += gl_NumWorkGroups.x * each) {
    const uint row = first + gl_LocalInvocationID.x / kSharing;
    const uint safe = min(row, arguments.rows - 1), head = safe / arguments.queries, query = safe % arguments.queries;
    const uint64_t left = head_of(arguments.d_out, arguments.batch, head, 2) + int64_t(query) * arguments.d_out.step * 2;
    const uint64_t right = head_of(arguments.result, arguments.batch, head, 2) + int64_t(query) * arguments.result.step * 2;
    float sum = 0.0;
    for (uint i = part; i < arguments.features / 4; i += kSharing)
      sum += dot(load_four(left, int64_t(i), TYPE), load_four(right, int64_t(i), TYPE));
    [[unroll]] for (uint apart = 1; apart < kSharing; apart *= 2) sum += subgroupShuffleXor(sum, apart);
    if (part == 0 && row < arguments.rows)
      store_f32(arguments.delta, row, arguments.d_lse == 0 ? sum : sum - load_f32(arguments.d_lse, row));
  }
}
