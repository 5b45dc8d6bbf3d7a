#version 460
// Complex numbers from magnitudes and angles.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint PER_THREAD = 4;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, magnitudes, angles;
  uint count;
};

// The cosine and sine of x.
vec2 direction(float x) {
  if (!lg_isfinite(x)) return vec2(nan());
  int q;
  const float r = quarter_turn(x, q), s = sin_core(r), c = cos_core(r);
  const bool swapped = (q & 1) != 0;
  const float sine = swapped ? c : s, cosine = swapped ? s : c;
  return vec2((q + 1 & 2) == 0 ? cosine : -cosine, x == 0.0 ? x : (q & 2) == 0 ? sine : -sine);
}

void main() {
  const uint width = 256 * PER_THREAD, blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    float magnitude[PER_THREAD], angle[PER_THREAD];
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i >= count) continue;
      magnitude[k] = load_f32(magnitudes, i);
      angle[k] = load_f32(angles, i);
    }
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i < count) C64Element(result + uint64_t(i) * 8).at = magnitude[k] * direction(angle[k]);
    }
  }
}
