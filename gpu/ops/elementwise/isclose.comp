#version 460
// |a - b| <= atol + rtol |b|, where a or b is an integer. Computed in double precision, as on the CPU, so that differences
// do not wrap around.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint A_TYPE = 3;
layout(constant_id = 1) const uint B_TYPE = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, a, b;
  double rtol, atol;
  uint count;
};

double load(uint64_t address, uint i, uint type) {
  if (type == kNumber) return packDouble2x32(uvec2(uint(address), uint(address >> 32)));
  return type >= kF16 ? double(load_float(address, int64_t(i), type)) : double(load_integer(address, int64_t(i), type));
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const double x = load(a, i, A_TYPE), y = load(b, i, B_TYPE), distance = abs(x - y);
    precise const double margin = abs(y) * rtol;
    precise const double allowed = margin + atol;
    const bool finite = (unpackDouble2x32(distance).y & 0x7ff00000u) != 0x7ff00000u;
    const bool close = x == y || (finite && distance <= allowed);
    store_integer(result, int64_t(i), kBool, close ? 1L : 0L);
  }
}
