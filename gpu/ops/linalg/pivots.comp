#version 460
// The row order that the pivots of LU factors give: for each batch item an invocation exchanges the numbers 0
// … rows - 1.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // type of the pivots, which count from 1

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, pivots;
  uint64_t fault;
  uint count;     // batch items
  uint rows;
  uint each;  // pivots of an item
  uint kind;  // kind of fault
};

void main() {
  for (uint item = gl_GlobalInvocationID.x; item < count; item += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const int64_t first = int64_t(item) * rows;
    for (uint i = 0; i < rows; ++i) store_integer(result, first + i, kI64, int64_t(i));
    for (uint i = 0; i < each; ++i) {
      const int64_t pivot = load_integer(pivots, int64_t(item) * each + i, TYPE), other = pivot - 1;
      if (i >= rows || other < int64_t(i) || other >= int64_t(rows)) {
        note_index(fault, kind, i, pivot, rows);
        break;
      }
      const int64_t here = load_integer(result, first + i, kI64);
      store_integer(result, first + i, kI64, load_integer(result, first + other, kI64));
      store_integer(result, first + other, kI64, here);
    }
  }
}
