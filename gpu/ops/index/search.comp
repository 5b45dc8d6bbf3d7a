#version 460
// The positions of values in sorted rows: how many elements of the row are less than the value, or with RIGHT
// not greater. NaN is the largest.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "order.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;
layout(constant_id = 1) const bool RIGHT = false;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, sequence, values;
  uint count;  // values
  uint each;   // values per row
  uint n;      // elements per row
  uint step;   // from row to row; 0: one row for all
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const int64_t first = int64_t(i / each) * step;
    const uint64_t wanted = order_at(values, int64_t(i), TYPE);
    uint low = 0, high = n;
    while (low < high) {
      const uint middle = low + (high - low) / 2;
      const uint64_t there = order_at(sequence, first + middle, TYPE);
      if (RIGHT ? there <= wanted : there < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    store_integer(result, int64_t(i), kI64, int64_t(low));
  }
}
