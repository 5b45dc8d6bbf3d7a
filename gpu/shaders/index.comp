#version 460
// Slices picked by index: result[o, i, n] = operand[o, index[i], n], elements carried as they are. An index
// that is out of range leaves a note in `fault` (gpu/stream.h) and picks nothing.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // an integer type of the elements' size
layout(constant_id = 1) const uint INDEX_TYPE = 3;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Fault {
  uint kind;
  uint row;
  int value;
  uint size;
};
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, operand, index;
  Fault fault;
  uint count;    // of the result
  uint picked;   // indices
  uint inner;    // elements of a slice
  uint size;     // slices to pick from
  uint kind;     // of fault
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const uint slice = i / inner, row = slice % picked;
    const int64_t at = load_integer(index, int64_t(row), INDEX_TYPE);
    if (at < 0 || at >= int64_t(size)) {
      if (atomicCompSwap(fault.kind, 0u, kind) == 0u) {
        fault.row = row;
        fault.value = int(clamp(at, -2147483647L, 2147483647L));
        fault.size = size;
      }
      continue;
    }
    const int64_t from = (int64_t(slice / picked) * int64_t(size) + at) * int64_t(inner) + int64_t(i % inner);
    store_integer(result, int64_t(i), TYPE, load_integer(operand, from, TYPE));
  }
}
