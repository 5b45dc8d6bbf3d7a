#version 460
// tril and triu: copies the elements on one side of a diagonal and sets the others to 0, bit for bit.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 1) const bool LOWER = true;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, operand;
  int64_t diagonal;
  uint count, rows, columns;
};

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const int64_t above = int64_t(i % columns) - int64_t(i / columns % rows) - diagonal;
    const bool kept = LOWER ? above <= 0 : above >= 0;
    store_integer(result, int64_t(i), TYPE, kept ? load_integer(operand, int64_t(i), TYPE) : 0L);
  }
}
