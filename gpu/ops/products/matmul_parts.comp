#version 460
// The end of a split-K product: C = activation(sum of the parts + bias of each column). ALONG invocations
// share a result: each adds every ALONG-th part, then they add their sums in shared memory.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "activation.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint ALONG = 1;
layout(constant_id = 1) const uint OUT_TYPE = kF32;  // type of C and the bias; parts are f32
layout(constant_id = 2) const bool HAS_BIAS = false;
// a result is four adjacent elements of a row, else one element
layout(constant_id = 4) const bool VECTOR = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t c, parts, bias;
  int64_t bias_step;
  uint64_t part_bytes;
  uint part_count;
  uint results, row;  // results in C, and in a row of C
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared vec4 meeting[256];

vec4 load(uint part, uint result) {
  const uint64_t from = arguments.parts + part * arguments.part_bytes;
  return VECTOR ? load_f32x4(from, int64_t(result)) : vec4(load_f32(from, int64_t(result)), 0, 0, 0);
}

// Loads several parts at a time, so that the loads overlap.
vec4 sum_of(uint result, uint along) {
  const uint kTogether = 4;
  vec4 sum = vec4(0);
  uint part = along;
  for (; part + (kTogether - 1) * ALONG < arguments.part_count; part += kTogether * ALONG) {
    vec4 next[kTogether];
    [[unroll]] for (uint i = 0; i < kTogether; ++i) next[i] = load(part + i * ALONG, result);
    [[unroll]] for (uint i = 0; i < kTogether; ++i) sum += next[i];
  }
  for (; part < arguments.part_count; part += ALONG) sum += load(part, result);
  return sum;
}

void finish(uint result, vec4 values) {
  const uint kVectorSize = VECTOR ? 4 : 1;
  [[unroll]] for (uint i = 0; i < kVectorSize; ++i) {
    const int64_t column = int64_t(result % arguments.row * kVectorSize + i);
    if (HAS_BIAS) values[i] += load_float(arguments.bias, column * arguments.bias_step, OUT_TYPE);
    values[i] = activated(values[i]);
  }
  if (VECTOR)
    store_four(arguments.c, int64_t(result), OUT_TYPE, values);
  else
    store_float(arguments.c, int64_t(result), OUT_TYPE, values.x);
}

void main() {
  const uint side = 256 / ALONG, beside = gl_LocalInvocationID.x % side, along = gl_LocalInvocationID.x / side;
  const uint blocks = (arguments.results + side - 1) / side;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint result = block * side + beside;
    const bool inside = result < arguments.results;
    vec4 sum = inside ? sum_of(result, along) : vec4(0);
    if (ALONG > 1) {
      barrier();
      meeting[along * side + beside] = sum;
      [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
        barrier();
        if (along < apart) meeting[along * side + beside] += meeting[(along + apart) * side + beside];
      }
      sum = meeting[beside];
    }
    if (inside && along == 0) finish(result, sum);
  }
}
