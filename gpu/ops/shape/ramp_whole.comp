#version 460
// arange and linspace with results truncated to integers: element i is first + i step for i < turn, else last
// - (count - 1 - i) step. Computed in double precision, since the last bit decides the truncation.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result;
  double first, last, step;
  uint count, turn;
};

// Conversions as in runtime/core/dtype.h: integers saturate, bool is x != 0.
int64_t whole(double value) {
  if (TYPE == kBool) return value != 0.0lf ? 1L : 0L;  // true for NaN
  const double highest = TYPE == kU8 ? 255.0lf : TYPE == kI32 ? 2147483647.0lf : 9223372036854775808.0lf;
  const double lowest = TYPE == kU8 ? 0.0lf : TYPE == kI32 ? -2147483648.0lf : -9223372036854775808.0lf;
  const uvec2 bits = unpackDouble2x32(value);
  const uint upper = bits.y & 0x7fffffffu;
  if (upper > 0x7ff00000u || (upper == 0x7ff00000u && bits.x != 0u)) return 0L;  // NaN
  if (value >= highest) return TYPE == kI64 ? 0x7fffffffffffffffL : int64_t(highest);
  if (value <= lowest) return TYPE == kI64 ? -0x7fffffffffffffffL - 1L : int64_t(lowest);
  return int64_t(value);
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    precise const double distance = double(i < turn ? i : count - 1 - i) * step;
    precise const double value = i < turn ? first + distance : last - distance;
    store_integer(result, int64_t(i), TYPE, whole(value));
  }
}
