#version 460
// result[k, d] = grad[b, d] if places[b, d] = k, else 0, where bag b has the id k: the last bag whose start is at most k.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;          // of grad and result: f32, f16 or bf16
layout(constant_id = 1) const bool IN_FOURS = false;  // rows consist of aligned vectors of four elements

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Starts { int64_t at[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, grad, places;
  Starts starts;
  uint count, bags, width, fours;  // count: ids times fours, the vectors of a row
  Divisor by_fours;
};

uint bag_of(int64_t id) {
  uint low = 0, high = bags;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (starts.at[middle] <= id)
      low = middle;
    else
      high = middle;
  }
  return low;
}

void main() {
  const uint bytes = TYPE == kF32 ? 4 : 2;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint id = quotient(i, by_fours), first = (i - id * fours) * 4;
    const int64_t from = int64_t(bag_of(int64_t(id))) * width + first, to = int64_t(id) * width + first;
    if (IN_FOURS) {
      const uvec4 begin = U32x4Elements(places + from * 8).at, end = U32x4Elements(places + from * 8 + 16).at;
      const uvec4 low = uvec4(begin.xz, end.xz);  // -1: no id
      const vec4 values = load_four(grad + from * bytes, 0, TYPE);
      store_four(result + to * bytes, 0, TYPE, mix(vec4(0), values, equal(low, uvec4(id))));
      continue;
    }
    [[unroll]] for (uint e = 0; e < 4; ++e) {
      if (first + e >= width) break;
      const bool wins = load_integer(places, from + e, kI64) == int64_t(id);
      store_float(result, to + e, TYPE, wins ? load_float(grad, from + e, TYPE) : 0.0);
    }
  }
}
