#version 460
// Computes where each index of a contiguous tensor points in a contiguous target: the key by which sums by
// index are sorted. An index out of range is noted as a fault and gets the key `nowhere`, which comes after
// all others.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint INDEX_TYPE = 3;

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Keys { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t index, fault;
  Keys keys;
  uint count, dims;  // of the index
  uint dim;          // the dim along which it selects
  uint size;         // size of the target along that dim
  uint kind;         // kind of fault
  uint nowhere;
  uint wraps;        // 1: negative indices count from the end
  uint extent[8];    // of the index
  uint stride[8];    // of the target
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const int64_t given = load_integer(arguments.index, int64_t(i), INDEX_TYPE);
    const int64_t chosen = arguments.wraps != 0 && given < 0 ? given + int64_t(arguments.size) : given;
    if (chosen < 0 || chosen >= int64_t(arguments.size)) {
      note_index(arguments.fault, arguments.kind, i, given, arguments.size);
      arguments.keys.at[i] = arguments.nowhere;
      continue;
    }
    uint key = uint(chosen) * arguments.stride[arguments.dim], rest = i;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.extent[d];
      rest /= arguments.extent[d];
      if (d != int(arguments.dim)) key += place * arguments.stride[d];
    }
    arguments.keys.at[i] = key;
  }
}
