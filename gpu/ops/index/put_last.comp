#version 460
// target[key] = source[i] for each key i of a list; among equal keys the last one counts. First each target
// gets the largest i of its keys, then the keys that won write. Large i claim first: with few targets, most of the
// others see a larger owner and need no atomic operation. An owner that was read too early costs one, no more.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 2;  // an integer type of the same size as the elements

const uint kClaim = 0, kPut = 1;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t target, source;
  Words keys, owners;  // owners: i + 1 for each element of the target, or 0
  uint count, size;    // keys, and elements of the target; larger keys are ignored
  uint step;           // step of the source: 1, or 0 if all keys get one element
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint place = MODE == kClaim ? count - 1 - i : i, key = keys.at[place];
    if (key >= size) continue;
    if (MODE == kClaim) {
      if (owners.at[key] <= place) atomicMax(owners.at[key], place + 1);
    } else if (owners.at[key] == i + 1) {
      store_integer(target, int64_t(key), TYPE, load_integer(source, int64_t(i * step), TYPE));
    }
  }
}
