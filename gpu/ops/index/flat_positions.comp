#version 460
// The rows of a tensor that several index tensors name together: result = (i0 * size1 + i1) * size2 + i2 ... of the
// indices at the same place; they are broadcast. Negative indices count from the end. An index out of range is
// noted as a fault and counts as 0.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint INDICES = 1;  // index tensors

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, fault;
  uint count, dims, kind, padding;  // dims: of the broadcast shape; kind: of fault
  Divisor by[8];
  uint extent[8];      // of the broadcast shape
  uint64_t index[8];
  int64_t stride[64];  // of each index, for each dim
  int64_t size[8];     // of the dim that an index selects along
  uint type[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < a.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    uint place[8];
    uint rest = i;
    for (int d = int(a.dims) - 1; d >= 0; --d) {
      const uint above = d == 0 ? 0 : quotient(rest, a.by[d]);
      place[d] = rest - above * a.extent[d];
      rest = above;
    }
    int64_t row = 0;
    for (uint k = 0; k < INDICES; ++k) {
      int64_t from = 0;
      for (uint d = 0; d < a.dims; ++d) from += int64_t(place[d]) * a.stride[k * 8 + d];
      const int64_t given = load_integer(a.index[k], from, a.type[k]), size = a.size[k];
      int64_t chosen = given < 0 ? given + size : given;
      if (chosen < 0 || chosen >= size) {
        note_index(a.fault, a.kind, k, given, uint(size));
        chosen = 0;
      }
      row = row * size + chosen;
    }
    store_integer(a.result, int64_t(i), kI64, row);
  }
}
