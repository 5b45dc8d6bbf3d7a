#version 460
// The gradients of distances and cosines of rows (runtime/ops/loss/row_measures.cpp). An invocation computes
// one element of an operand's gradient, or four adjacent ones. Where the operand repeats, it adds up the
// elements that it stands for, in order; with several parts, each part of them has a result of its own.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MEASURE = 0;
const uint kPower = 0, kSquare = 1, kAbsolute = 2, kLargest = 3, kCosine = 4;
const uint kTies = 5;  // counts the largest differences of each row, for kLargest
layout(constant_id = 1) const uint TYPE = 6;
layout(constant_id = 2) const bool SECOND = false;  // the gradient of x2 instead of x1
layout(constant_id = 3) const bool BOTH = false;    // result2 gets the gradient of x2
layout(constant_id = 4) const bool FOURS = false;
layout(constant_id = 5) const bool FLAT = false;  // a length of eps is constant
layout(constant_id = 6) const uint RESULT_TYPE = 6;
layout(constant_id = 7) const uint GRAD_TYPE = 6;
layout(constant_id = 8) const uint VALUE_TYPE = 6;

struct Dims {
  uint dims, count;
  uint size[8];
  Divisor by[8];
  int64_t stride[4][8];  // of x1, x2, grad, result
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t x1, x2, grad, value, length1, length2, ties;
  uint64_t result1, result2;
  float exponent, shift;
  uint parts, part;  // of the repeats: their number, and the repeats of a part
  Dims own, repeated;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

struct Place {
  int64_t x1, x2, grad, row;
};
// i < 2^31
#define PLACE(DIMS, I, AT)                                                                    \
  {                                                                                           \
    uint rest = I;                                                                            \
    for (int d = int(DIMS.dims) - 1; d >= 0; --d) {                                           \
      const uint above = quotient(rest, DIMS.by[d]);                                          \
      const int64_t along = int64_t(rest - above * DIMS.size[d]);                             \
      AT.x1 += along * DIMS.stride[0][d], AT.x2 += along * DIMS.stride[1][d];                 \
      AT.grad += along * DIMS.stride[2][d], AT.row += along * DIMS.stride[3][d];              \
      rest = above;                                                                           \
    }                                                                                         \
  }

float quotient_of(float a, float b) {
  const float kUp = 1.8446744e19;  // 2^64
  return b < 1.0 / kUp ? (a * kUp) / (b * kUp) : lg_quotient(a, b);
}
// What the elements of a row share.
struct Row {
  float grad, value, own_length, other_length;
};
Row row_at(Place at) {
  Row row;
  row.grad = load_float(arguments.grad, at.grad, GRAD_TYPE);
  row.value = load_float(arguments.value, at.row, VALUE_TYPE);
  if (MEASURE == kCosine) {
    row.own_length = load_f32(SECOND ? arguments.length2 : arguments.length1, at.row);
    row.other_length = load_f32(SECOND ? arguments.length1 : arguments.length2, at.row);
  }
  if (MEASURE == kLargest) row.grad /= load_f32(arguments.ties, at.row);
  return row;
}
float cosine_slope(float own, float other, float own_length, float other_length, Row row) {
  float turned = quotient_of(other, other_length);
  if (!(FLAT && own_length == arguments.exponent)) turned -= row.value * quotient_of(own, own_length);
  return quotient_of(turned * row.grad, own_length);
}
// The slopes by x1 and by x2 of an element. Of distances both are the same but for the sign.
vec2 slopes_at(float x1, float x2, Row row) {
  if (MEASURE == kCosine) {
    if (BOTH)
      return vec2(cosine_slope(x1, x2, row.own_length, row.other_length, row),
                  cosine_slope(x2, x1, row.other_length, row.own_length, row));
    return vec2(SECOND ? cosine_slope(x2, x1, row.own_length, row.other_length, row)
                       : cosine_slope(x1, x2, row.own_length, row.other_length, row));
  }
  const float t = x1 - x2 + arguments.shift;
  float slope;
  if (MEASURE == kAbsolute) {
    slope = lg_sign(t) * row.grad;
  } else if (MEASURE == kLargest) {
    slope = abs(t) == row.value ? lg_sign(t) * row.grad : lg_isnan(t) ? t : 0.0;
  } else if (row.value == 0.0) {
    slope = 0.0;
  } else if (MEASURE == kSquare) {
    slope = quotient_of(t, row.value) * row.grad;
  } else {
    slope = t == 0.0 ? 0.0 : lg_pow(quotient_of(abs(t), row.value), arguments.exponent - 1.0) * lg_sign(t) * row.grad;
  }
  return BOTH ? vec2(slope, -slope) : vec2(SECOND ? -slope : slope);
}

void compute_four(uint at) {
  Place place = Place(0, 0, 0, 0);
  PLACE(arguments.own, at * 4, place)
  const Row row = row_at(place);
  const vec4 x1 = load_four(arguments.x1, place.x1 / 4, TYPE), x2 = load_four(arguments.x2, place.x2 / 4, TYPE);
  vec4 first, second;
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    const vec2 slopes = slopes_at(x1[k], x2[k], row);
    first[k] = slopes.x, second[k] = slopes.y;
  }
  store_four(arguments.result1, int64_t(at), RESULT_TYPE, first);
  if (BOTH) store_four(arguments.result2, int64_t(at), RESULT_TYPE, second);
}
// The elements that element `at` of the operand stands for, in one part.
void compute_one(uint at, uint part) {
  Place own = Place(0, 0, 0, 0);
  PLACE(arguments.own, at, own)
  const uint begin = part * arguments.part, end = min(begin + arguments.part, arguments.repeated.count);
  vec2 total = vec2(0.0);
  for (uint i = begin; i < end; ++i) {
    Place place = own;
    PLACE(arguments.repeated, i, place)
    if (MEASURE == kTies) {
      const float t = load_float(arguments.x1, place.x1, TYPE) - load_float(arguments.x2, place.x2, TYPE);
      total.x += abs(t + arguments.shift) == load_f32(arguments.value, own.row) ? 1.0 : 0.0;
      continue;
    }
    total += slopes_at(load_float(arguments.x1, place.x1, TYPE), load_float(arguments.x2, place.x2, TYPE), row_at(place));
  }
  const int64_t to = int64_t(part) * arguments.own.count + at;
  store_float(arguments.result1, to, RESULT_TYPE, total.x);
  if (BOTH) store_float(arguments.result2, to, RESULT_TYPE, total.y);
}

void main() {
  const uint count = FOURS ? arguments.own.count / 4 : arguments.own.count * arguments.parts;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 256) {
    if (FOURS)
      compute_four(i);
    else
      compute_one(i % arguments.own.count, i / arguments.own.count);
  }
}
