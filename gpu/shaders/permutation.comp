#version 460
// The permutation that Fisher's and Yates' loop makes (runtime/ops/random.cpp), all elements at once. Step i of the
// loop exchanges place i with a target from i on. So what place i holds before step i is what place j held before step
// j, j being the last step before i whose target is i, or else i itself; and what step i leaves at place i is what the
// last step before i with the same target brought there, or else the target itself. The steps of each target are a
// list, whose order does not matter. Lists have one element on average, and chains of j's are some log n long.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "philox.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 3;

const uint kList = 0;   // puts the steps into the lists of their targets
const uint kFollow = 1;

const uint kNone = 0xffffffffu;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Steps { uint at[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result;
  Steps first;  // of each target's steps
  Steps next;   // of the same target
  uvec2 seed, stream;
  uint count;
};

uint target_of(uint i) {
  const uvec4 words = philox(seed, stream, i / 2);
  const uint high = words[i % 2 * 2], low = words[i % 2 * 2 + 1];
  const uint64_t range = count - i;
  return i + uint((high * range + (low * range >> 32)) >> 32);
}

uint last_before(uint i, uint target) {
  uint last = kNone;
  for (uint j = first.at[target]; j != kNone; j = next.at[j])
    if (j < i && (last == kNone || j > last)) last = j;
  return last;
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint target = target_of(i);
    if (MODE == kList) {
      next.at[i] = atomicExchange(first.at[target], i);
      continue;
    }
    uint held = target;
    for (uint j = last_before(i, target); j != kNone; j = last_before(j, j)) held = j;
    store_integer(result, int64_t(i), TYPE, int64_t(held));
  }
}
