#version 460
// Slices selected by index: result[o, i, n] = operand[o, index[i], n], copied bit for bit. An index that is out of
// range is noted as a fault and copies nothing.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 1) const uint INDEX_TYPE = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, operand, index;
  uint64_t fault;
  uint count;   // elements of the result
  uint picked;  // indices
  uint inner;   // elements of a slice
  uint size;    // slices to select from
  uint kind;    // of a fault
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint slice = i / inner, row = slice % picked;
    const int64_t at = load_integer(index, int64_t(row), INDEX_TYPE);
    if (at < 0 || at >= int64_t(size)) {
      note_index(fault, kind, row, at, size);
      continue;
    }
    const int64_t from = (int64_t(slice / picked) * int64_t(size) + at) * int64_t(inner) + int64_t(i % inner);
    store_integer(result, int64_t(i), TYPE, load_integer(operand, from, TYPE));
  }
}
