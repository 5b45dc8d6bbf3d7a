#version 460
// What is made of a draw: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011), the words of runtime/random.h
// bit for bit. A thread makes one block of four words, for elements 4 i … 4 i + 3.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;

const uint kDropout = 0;  // word < threshold ? 0 : operand * scale
const uint kUniform = 1;  // the upper 24 bits as a number in [0, 1)

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, operand;
  uvec2 seed, stream;
  uint count;
  uint threshold;
  float factor;
};

uvec4 philox(uint counter) {
  uvec4 c = uvec4(counter, 0, stream.x, stream.y);
  uvec2 k = seed;
  [[unroll]] for (int i = 0; i < 10; ++i) {
    uint high_0, low_0, high_1, low_1;
    umulExtended(0xD2511F53u, c.x, high_0, low_0);
    umulExtended(0xCD9E8D57u, c.z, high_1, low_1);
    c = uvec4(high_1 ^ c.y ^ k.x, low_1, high_0 ^ c.w ^ k.y, low_0);
    k += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

void main() {
  const uint blocks = (count + 3) / 4;
  const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint block = gl_GlobalInvocationID.x; block < blocks; block += threads) {
    const uvec4 words = philox(block);
    for (uint j = 0; j < 4; ++j) {
      const int64_t i = int64_t(block) * 4 + int64_t(j);
      if (i >= int64_t(count)) break;
      if (MODE == kDropout)
        store_f32(result, i, words[j] < threshold ? 0.0 : load_f32(operand, i) * factor);
      else
        store_f32(result, i, float(words[j] >> 8) * 5.9604644775390625e-8);
    }
  }
}
