#version 460
// frexp and nextafter, computed from the numbers' bits, so that no device flushes a subnormal number.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;
layout(constant_id = 2) const uint PER_THREAD = 4;

const uint kParts = 0;  // operand to result, and exponents (i32)
const uint kNext = 1;   // the number next to operand in the direction of other

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, exponents, operand, other;
  uint count;
};

const uint kBits = TYPE == kF32 ? 32 : 16;
const uint kSign = 1u << kBits - 1, kInfinity = TYPE == kF32 ? 0x7f800000u : TYPE == kF16 ? 0x7c00u : 0x7f80u;

uint bits_at(uint64_t address, uint i) {
  return TYPE == kF32 ? floatBitsToUint(load_f32(address, i)) : uint(load_integer(address, i, kRaw16));
}
bool is_nan(uint bits) {
  return (bits & ~kSign) > kInfinity;
}

void store_parts(uint i, float x) {
  const uint bits = floatBitsToUint(x), magnitude = bits & 0x7fffffffu;
  int exponent = int(magnitude >> 23) - 126;
  uint fraction = magnitude & 0x7fffffu;
  if (magnitude < 0x800000u) {
    const int top = findMSB(fraction);
    exponent = top - 148;
    fraction = fraction << 23 - top & 0x7fffffu;
  }
  const bool kept = magnitude == 0u || magnitude >= 0x7f800000u;
  store_float(result, i, TYPE, kept ? x : uintBitsToFloat(bits & 0x80000000u | 0x3f000000u | fraction));
  I32Element(exponents + uint64_t(i) * 4).at = kept ? 0 : exponent;
}

// Maps floats to integers in the same order: neighbours differ by 1, and both zeros are 0.
int place_of(uint bits) {
  const int magnitude = int(bits & ~kSign);
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}
void store_next(uint i, uint x, uint y) {
  const int from = place_of(x), to = place_of(y), next = from < to ? from + 1 : from - 1;
  uint bits = uint(abs(next)) | (next < 0 || next == 0 && from < 0 ? kSign : 0u);
  if (from == to) bits = TYPE == kF32 ? y : x;
  bits = is_nan(y) ? y : is_nan(x) ? x : bits;
  if (TYPE == kF32)
    store_f32(result, i, uintBitsToFloat(bits));
  else
    store_integer(result, i, kRaw16, int64_t(bits));
}

void main() {
  const uint width = 256 * PER_THREAD, blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    uint x[PER_THREAD], y[PER_THREAD];
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i >= count) continue;
      x[k] = MODE == kParts ? floatBitsToUint(load_float(operand, i, TYPE)) : bits_at(operand, i);
      if (MODE == kNext) y[k] = bits_at(other, i);
    }
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint i = first + k * 256;
      if (i >= count) continue;
      if (MODE == kParts)
        store_parts(i, uintBitsToFloat(x[k]));
      else
        store_next(i, x[k], y[k]);
    }
  }
}
