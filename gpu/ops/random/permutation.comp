#version 460
// The permutation of the Fisher-Yates shuffle (runtime/ops/random/random.cpp), computed for all elements in
// parallel. Step i of the shuffle exchanges position i with a target >= i. Let j be the last step before i
// whose target is i: before step i, position i holds what position j held before step j, or i itself if there
// is no such j. After step i, position i holds what the last earlier step with the same target moved there,
// or the target itself. The steps of each target form a linked list in any order. Lists have one element on
// average, and chains of j are about log n long.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "philox.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 3;

const uint kList = 0;   // builds the lists
const uint kFollow = 1;

const uint kNone = 0xffffffffu;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Steps { uint at[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result;
  Steps first;  // the first step in the list of each target
  Steps next;   // the next step in the same list
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
