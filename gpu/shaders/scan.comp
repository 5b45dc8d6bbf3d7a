#version 460
// Running sums along a dim, from either end, inclusive or exclusive. Each thread of a row owns one contiguous part of it:
// it sums its part, adds the sums of the parts before it, and writes.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

// MODE is the type of the operand: f32, or an integer type, which is summed in i64.
layout(constant_id = 2) const bool EXCLUSIVE = false;
layout(constant_id = 3) const bool REVERSE = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand;
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared int64_t whole_meeting[256];

void main() {
  const uint length = arguments.rows.extent, me = gl_LocalInvocationID.x;
  const uint rounds = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  const uint each = (length + ALONG - 1) / ALONG;
  for (uint round = gl_WorkGroupID.x; round < rounds; round += gl_NumWorkGroups.x) {
    const uint row = round * kRowsPerGroup + beside();
    int64_t to = 0, from = 0;
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.rows.size[d];
      rest /= arguments.rows.size[d];
      to += int64_t(place) * arguments.rows.stride[0][d];
      from += int64_t(place) * arguments.rows.stride[1][d];
    }
    const uint begin = min(along() * each, length), end = row < arguments.rows.count ? min(begin + each, length) : begin;
    float sum = 0.0;
    int64_t whole = 0;
    for (uint i = begin; i < end; ++i) {
      const int64_t at = int64_t(REVERSE ? length - 1 - i : i);
      if (MODE == kF32)
        sum += load_f32(arguments.operand, from + at * arguments.rows.step[1]);
      else
        whole += load_integer(arguments.operand, from + at * arguments.rows.step[1], MODE);
    }
    barrier();
    meeting[me] = sum;
    whole_meeting[me] = whole;
    barrier();
    sum = 0.0;
    whole = 0;
    for (uint k = 0; k < along(); ++k) {
      sum += meeting[beside() * ALONG + k];
      whole += whole_meeting[beside() * ALONG + k];
    }
    for (uint i = begin; i < end; ++i) {
      const int64_t at = int64_t(REVERSE ? length - 1 - i : i);
      if (MODE == kF32) {
        const float x = load_f32(arguments.operand, from + at * arguments.rows.step[1]);
        store_f32(arguments.result, to + at * arguments.rows.step[0], EXCLUSIVE ? sum : sum + x);
        sum += x;
      } else {
        const int64_t x = load_integer(arguments.operand, from + at * arguments.rows.step[1], MODE);
        store_integer(arguments.result, to + at * arguments.rows.step[0], kI64, EXCLUSIVE ? whole : whole + x);
        whole += x;
      }
    }
  }
}
