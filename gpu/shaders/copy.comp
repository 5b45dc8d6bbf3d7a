#version 460
// A strided copy with a conversion: result[i] = operand[i] for every index i of a merged shape.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint DIMS = 0;  // 0: both lie in order
layout(constant_id = 1) const uint RESULT_TYPE = 6;
layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const bool AS_INTEGER = false;  // carry 64-bit integers, else floats
layout(constant_id = 4) const uint PER_THREAD = 4;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint size[8];
  int64_t stride[2][8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  uint64_t result;
  uint64_t operand;
  uint count;
};

uint size[DIMS + 1];
int64_t stride[2][DIMS + 1];

void element(uint index) {
  int64_t to = int64_t(index), from = int64_t(index);
  if (DIMS > 0) {
    to = 0;
    from = 0;
    [[unroll]] for (int d = int(DIMS) - 1; d >= 0; --d) {
      const uint place = d == 0 ? index : index % size[d];
      index = d == 0 ? 0 : index / size[d];
      to += int64_t(place) * stride[0][d];
      from += int64_t(place) * stride[1][d];
    }
  }
  if (AS_INTEGER)
    store_integer(result, to, RESULT_TYPE, load_integer(operand, from, TYPE));
  else
    store_float(result, to, RESULT_TYPE, load_float(operand, from, TYPE));
}

void main() {
  [[unroll]] for (uint d = 0; d < DIMS; ++d) {
    size[d] = arguments.size[d];
    [[unroll]] for (uint k = 0; k < 2; ++k) stride[k][d] = arguments.stride[k][d];
  }
  const uint width = gl_WorkGroupSize.x * PER_THREAD;
  const uint blocks = (count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x)
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k) {
      const uint index = block * width + k * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
      if (index < count) element(index);
    }
}
