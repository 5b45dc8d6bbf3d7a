#version 460
// A strided copy with a conversion: result[i] = operand[i] for every index i of the merged shape. A thread copies
// PER_THREAD units, a work group's width apart. It loads all of them before the first store, since compilers do not move
// loads before stores.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint DIMS = 0;  // 0: both are contiguous
layout(constant_id = 1) const uint RESULT_TYPE = 6;
layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const bool AS_INTEGER = false;  // convert by way of 64-bit integers, else of floats
layout(constant_id = 4) const uint PER_THREAD = 4;
// What is copied at a time: an element, four adjacent floats, or 16 bytes without a conversion.
layout(constant_id = 5) const uint UNIT = 0;
const uint kElement = 0, kFourFloats = 1, kSixteenBytes = 2;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint size[8];
  int64_t stride[2][8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  uint64_t result;
  uint64_t operand;
  uint count;  // of units
};

uint size[DIMS + 1];
int64_t stride[2][DIMS + 1];

// The loaded units: destination, and the value in one of the others.
int64_t to[PER_THREAD];
int64_t integers[PER_THREAD];
float floats[PER_THREAD];
vec4 fours[PER_THREAD];
uvec4 bytes[PER_THREAD];

void load(uint k, uint index) {
  int64_t from = int64_t(index);
  to[k] = int64_t(index);
  if (DIMS > 0) {
    to[k] = 0;
    from = 0;
    [[unroll]] for (int d = int(DIMS) - 1; d >= 0; --d) {
      const uint place = d == 0 ? index : index % size[d];
      index = d == 0 ? 0 : index / size[d];
      to[k] += int64_t(place) * stride[0][d];
      from += int64_t(place) * stride[1][d];
    }
  }
  if (UNIT == kSixteenBytes)
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
    U32x4Elements(result + to[k] * 16).at = bytes[k];
  else if (UNIT == kFourFloats)
    store_four(result, to[k], RESULT_TYPE, fours[k]);
  else if (AS_INTEGER)
    store_integer(result, to[k], RESULT_TYPE, integers[k]);
  else
    store_float(result, to[k], RESULT_TYPE, floats[k]);
}

void main() {
  [[unroll]] for (uint d = 0; d < DIMS; ++d) {
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
