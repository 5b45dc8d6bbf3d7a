#version 460
// Rows of x [outer, size, inner] that keys select, compared with another tensor or times it: result[o, k, n] =
// other[o, k, n] combined with x[o, key[k], n], f32.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool COMPARES = false;
layout(constant_id = 1) const bool FOURS = false;  // vectors of four elements

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Keys { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, x, other;
  Keys keys;               // `size` for an index out of range, which has been noted
  uint count;              // elements or vectors of the result
  uint picked, inner, size;
  Divisor by_inner, by_picked;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < a.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint slice = quotient(i, a.by_inner), o = quotient(slice, a.by_picked);
    const uint key = a.keys.at[slice - o * a.picked];
    if (key >= a.size) continue;  // the result is refused
    const int64_t from = (int64_t(o) * int64_t(a.size) + int64_t(key)) * int64_t(a.inner) + int64_t(i - slice * a.inner);
    if (FOURS) {
      const vec4 x = load_f32x4(a.x, from), other = load_f32x4(a.other, int64_t(i));
      store_f32x4(a.result, int64_t(i), COMPARES ? vec4(equal(x, other)) : x * other);
    } else {
      const float x = load_f32(a.x, from), other = load_f32(a.other, int64_t(i));
      store_f32(a.result, int64_t(i), COMPARES ? float(x == other) : x * other);
    }
  }
}
