#version 460
// Copies matrices of any strides for matrix units. Lines of `close` adjacent elements are padded with zeros
// to a multiple of eight. 16-bit elements stay unchanged. f32 elements are rounded to bfloat16, or scaled and
// rounded to f16.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "unit_scale.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = kF32;       // type of the elements
layout(constant_id = 1) const bool IN_FOURS = false;  // f32 that can be loaded four at a time
layout(constant_id = 2) const bool SCALED = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t from, to, largest;
  int64_t close_step, far_step;
  uint close, far, eights;  // elements of a line, lines of a matrix, vectors of eight of a line
  uint matrices, batch_dims;
  uint batch_size[8];
  int64_t batch_step[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  const uint64_t count = uint64_t(arguments.matrices) * arguments.far * arguments.eights;
  const float scale = SCALED ? scale_for(arguments.largest) : 1.0;
  for (uint64_t at = gl_GlobalInvocationID.x; at < count; at += gl_NumWorkGroups.x * 256) {
    const uint line = uint(at / arguments.eights), first = uint(at % arguments.eights) * 8;
    uint item = line / arguments.far;
    int64_t start = int64_t(line % arguments.far) * arguments.far_step;
    for (int d = int(arguments.batch_dims) - 1; d >= 0; --d) {
      start += int64_t(item % arguments.batch_size[d]) * arguments.batch_step[d];
      item /= arguments.batch_size[d];
    }
    const uint64_t to = arguments.to + at * 16;
    if (TYPE != kF32) {
      uvec4 packed = uvec4(0);
      [[unroll]] for (uint i = 0; i < 8; ++i)
        if (first + i < arguments.close) {
          const int64_t element = start + int64_t(first + i) * arguments.close_step;
          packed[i / 2] |= uint(U16Element(arguments.from + element * 2).at) << 16 * (i % 2);
        }
      U32x4Elements(to).at = packed;
      continue;
    }
    vec4 eight[2] = {vec4(0), vec4(0)};
    if (IN_FOURS) {
      const uint64_t from = arguments.from + (start + first) * 4;
      eight[0] = F32x4Elements(from).at;
      if (first + 4 < arguments.close) eight[1] = F32x4Elements(from + 16).at;
    } else {
      [[unroll]] for (uint i = 0; i < 8; ++i)
        if (first + i < arguments.close)
          eight[i / 4][i % 4] = load_f32(arguments.from, start + int64_t(first + i) * arguments.close_step);
    }
    uvec4 packed = uvec4(0);
    [[unroll]] for (uint i = 0; i < 8; ++i) {
      const float x = eight[i / 4][i % 4];
      packed[i / 2] |= (SCALED ? float_to_half(x * scale) : float_to_bfloat(x)) << 16 * (i % 2);
    }
    U32x4Elements(to).at = packed;
  }
}
