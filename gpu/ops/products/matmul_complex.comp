#version 460
// The right factor of a complex product as a real matrix: z = x + iy in row p and column j becomes the block (x, y; -y, x)
// in rows 2p, 2p + 1 and columns 2j, 2j + 1. A row of alternating real and imaginary parts, times this matrix, is the
// product's row of alternating parts.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool TRANSPOSED = false;  // the factor and the result are transposed

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand;
  uint count, columns;
  uint dims, padding;
  uint size[8];
  int64_t stride[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  const uint columns = arguments.columns;
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    int64_t from = 0;
    uint rest = i;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      from += int64_t(rest % arguments.size[d]) * arguments.stride[d];
      rest /= arguments.size[d];
    }
    const vec2 z = C64Element(arguments.operand + from * 8).at;
    const int64_t to = int64_t(i / columns) * 2 * columns + i % columns;
    C64Element(arguments.result + to * 8).at = TRANSPOSED ? vec2(z.x, -z.y) : z;
    C64Element(arguments.result + (to + columns) * 8).at = TRANSPOSED ? vec2(z.y, z.x) : vec2(-z.y, z.x);
  }
}
