#version 460
// arange and linspace: element i is first + i step for i < turn, else last - (count - 1 - i) step. The
// parameters are sums of floats with about 48 bits, so that results are rounded as if from double precision:
// first and last as (high, low), the step as four floats of 12 bits each, whose products with 12 bits of a
// count are exact.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;
layout(constant_id = 1) const bool WHOLE = false;  // first and step are integers

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result;
  int64_t whole_first, whole_step;
  vec2 first, last;
  vec4 step;
  uint count, turn;
};

// Adds a term to a sum (high, low). Only the low part is rounded.
vec2 plus(vec2 sum, float term) {
  precise const float total = sum.x + term;
  precise const float part = total - sum.x;
  precise const float error = (sum.x - (total - part)) + (term - part);
  precise const float low = sum.y + error;
  return vec2(total, low);
}
float at_distance(vec2 sum, uint n, vec4 by) {
  [[unroll]] for (int i = 0; i < 4; ++i) {
    sum = plus(sum, float(n >> 24) * 16777216.0 * by[i]);
    sum = plus(sum, float(n >> 12 & 4095u) * 4096.0 * by[i]);
    sum = plus(sum, float(n & 4095u) * by[i]);
  }
  return sum.x + sum.y;
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    if (WHOLE)
      store_integer(result, int64_t(i), TYPE, whole_first + int64_t(i) * whole_step);
    else
      store_float(result, int64_t(i), TYPE,
                  i < turn ? at_distance(first, i, step) : at_distance(last, count - 1 - i, -step));
  }
}
