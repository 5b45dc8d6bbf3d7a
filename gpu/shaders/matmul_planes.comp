#version 460
// Splits matrices of any strides into sums of PLANES matrices of 16-bit elements, for matrix units. Lines of `close` adjacent
// elements are padded with zeros to a multiple of eight. Each plane is the rest after the planes before it, rounded to
// nearest. 1 and 2 planes of bfloat16 keep 8 and 16 bits of an f32.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint PLANES = 1;
layout(constant_id = 1) const uint TYPE = kF32;    // of the elements; types other than f32 are copied bit for bit
layout(constant_id = 2) const bool IN_FOURS = false;  // f32 that can be loaded four at a time

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t from, to;
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
  const uint64_t plane = count * 16;
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
    vec4 rest[2] = {vec4(0), vec4(0)};
    if (IN_FOURS) {
      const uint64_t from = arguments.from + (start + first) * 4;
      rest[0] = F32x4Elements(from).at;
      if (first + 4 < arguments.close) rest[1] = F32x4Elements(from + 16).at;
    } else {
      [[unroll]] for (uint i = 0; i < 8; ++i)
        if (first + i < arguments.close)
          rest[i / 4][i % 4] = load_f32(arguments.from, start + int64_t(first + i) * arguments.close_step);
    }
    [[unroll]] for (uint p = 0; p < PLANES; ++p) {
      uvec4 packed = uvec4(0);
      [[unroll]] for (uint i = 0; i < 8; ++i) {
        const uint bits = float_to_bfloat(rest[i / 4][i % 4]);
        packed[i / 2] |= bits << 16 * (i % 2);
        rest[i / 4][i % 4] -= bfloat_to_float(bits);
      }
      U32x4Elements(to + p * plane).at = packed;
    }
  }
}
