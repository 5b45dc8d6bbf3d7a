#version 460
// Writes element i of a lane to position index[i] of a longer lane. No position occurs twice. Lanes are [outer, length, inner]
// in both tensors.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RAW_TYPE = 2;  // an integer type with the size of the elements
layout(constant_id = 1) const uint PER_THREAD = 4;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, source, index;
  uint count;         // elements of the source
  uint length, size;  // length of its lanes; size: of the result's lanes
  uint inner;
};

void main() {
  const uint width = 256 * PER_THREAD, blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    int64_t place[PER_THREAD], value[PER_THREAD];
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i >= count) continue;
      place[k] = I64Element(index + uint64_t(i) * 8).at;
      value[k] = load_integer(source, i, RAW_TYPE);
    }
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i >= count || uint64_t(place[k]) >= size) continue;
      const uint line = inner == 1 ? i : i / inner, outer = line / length;
      store_integer(result, (int64_t(outer) * size + place[k]) * inner + (i - line * inner), RAW_TYPE, value[k]);
    }
  }
}
