#version 460
// A strided copy with a conversion: result[i] = operand[i] for every index i of the merged shape. An
// invocation copies PER_THREAD units, a workgroup's width apart. It loads all of them before the first store,
// since compilers do not move loads before stores.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint DIMS = 0;  // 0: both tensors are contiguous
layout(constant_id = 1) const uint RESULT_TYPE = 6;
layout(constant_id = 2) const uint TYPE = 6;
// convert through 64-bit integers, else through floats
layout(constant_id = 3) const bool AS_INTEGER = false;
layout(constant_id = 4) const uint PER_THREAD = 4;
// What is copied at a time, and what sizes and strides count: an element, four adjacent floats, or 16 bytes
// without a conversion.
layout(constant_id = 5) const uint UNIT = 0;
const uint kElement = 0, kFourFloats = 1, kSixteenBytes = 2;
// Reverses the order of elements of this many bytes within each 16 bytes; 0: keeps the order.
layout(constant_id = 6) const uint REVERSED = 0;
layout(constant_id = 7) const bool FAR = false;  // offsets need more than 32 bits

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Divisor by[8];
  uint size[8];
  int64_t stride[2][8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  uint64_t result;
  uint64_t operand;
  uint count;  // number of units
};

Divisor by[DIMS + 1];
uint size[DIMS + 1];
int64_t stride[2][DIMS + 1];

// The loaded units: the destination, and the value in the array that fits the unit.
int64_t to[PER_THREAD];
int64_t integers[PER_THREAD];
float floats[PER_THREAD];
vec4 fours[PER_THREAD];
uvec4 bytes[PER_THREAD];

// The elements of 16 bytes, in reverse order.
uvec4 reversed(uvec4 x) {
  if (REVERSED == 8) return x.zwxy;
  if (REVERSED <= 4) x = x.wzyx;
  if (REVERSED <= 2) x = x << 16 | x >> 16;
  if (REVERSED == 1) x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
  return x;
}

void load(uint k, uint index) {
  int64_t from = int64_t(index);
  to[k] = int64_t(index);
  if (DIMS > 0) {
    int near_to = 0, near_from = 0;
    to[k] = 0;
    from = 0;
    [[unroll]] for (int d = int(DIMS) - 1; d >= 0; --d) {
      const uint rest = d == 0 ? 0 : quotient(index, by[d]), place = index - rest * size[d];
      index = rest;
      if (FAR) {
        to[k] += int64_t(place) * stride[0][d];
        from += int64_t(place) * stride[1][d];
      } else {
        near_to += int(place) * int(stride[0][d]);
        near_from += int(place) * int(stride[1][d]);
      }
    }
    if (!FAR) {
      to[k] = int64_t(near_to);
      from = int64_t(near_from);
    }
  }
  if (UNIT == kSixteenBytes && TYPE == kNumber)
    bytes[k] = uvec2(uint(operand), uint(operand >> 32)).xyxy;
  else if (UNIT == kSixteenBytes)
    bytes[k] = U32x4Elements(operand + from * 16).at;
  else if (UNIT == kFourFloats)
    fours[k] = load_four(operand, from, TYPE);
  else if (AS_INTEGER)
    integers[k] = load_integer(operand, from, TYPE);
  else
    floats[k] = load_float(operand, from, TYPE);
}
void store(uint k) {
  if (UNIT == kSixteenBytes)
    U32x4Elements(result + to[k] * 16).at = REVERSED > 0 ? reversed(bytes[k]) : bytes[k];
  else if (UNIT == kFourFloats)
    store_four(result, to[k], RESULT_TYPE, fours[k]);
  else if (AS_INTEGER)
    store_integer(result, to[k], RESULT_TYPE, integers[k]);
  else
    store_float(result, to[k], RESULT_TYPE, floats[k]);
}

void main() {
  [[unroll]] for (uint d = 0; d < DIMS; ++d) {
    by[d] = arguments.by[d];
    size[d] = arguments.size[d];
    [[unroll]] for (uint k = 0; k < 2; ++k) stride[k][d] = arguments.stride[k][d];
  }
  const uint width = gl_WorkGroupSize.x * PER_THREAD;
  const uint blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < count) load(k, first + k * gl_WorkGroupSize.x);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < count) store(k);
  }
}
