#version 460
// Computes which row of a target each entry of an index selects: the key by which entries are sorted. An index
// out of range is noted as a fault and gets the key `nowhere`, which comes after all others.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint INDEX_TYPE = 3;

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Keys { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t index, fault;
  Keys keys;
  uint count, dims;         // of the index
  uint dim;                 // the dim along which it selects
  uint choices;             // size of the target along that dim
  uint kind;                // kind of fault
  uint nowhere;
  uint wraps;               // 1: negative indices count from the end
  uint repeats;             // how often each entry follows in the index that the script gave
  uint extent[8];           // of the index
  uint stride[8];           // of the target, in rows
  int64_t index_stride[8];  // of the index, in elements
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    int64_t from = 0;
    uint key = 0, rest = i;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      const uint above = d == 0 ? 0 : rest / arguments.extent[d], place = rest - above * arguments.extent[d];
      rest = above;
      from += int64_t(place) * arguments.index_stride[d];
      if (d != int(arguments.dim)) key += place * arguments.stride[d];
    }
    const int64_t given = load_integer(arguments.index, from, INDEX_TYPE);
    const int64_t chosen = arguments.wraps != 0 && given < 0 ? given + int64_t(arguments.choices) : given;
    const bool in_range = chosen >= 0 && chosen < int64_t(arguments.choices);
    if (!in_range) note_index(arguments.fault, arguments.kind, i * arguments.repeats, given, arguments.choices);
    arguments.keys.at[i] = in_range ? key + uint(chosen) * arguments.stride[arguments.dim] : arguments.nowhere;
  }
}
