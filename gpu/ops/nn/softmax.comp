#version 460
// softmax:      y = exp(x - max) / sum exp(x - max)     gradient: y (g - sum g y)
// log_softmax:  y = x - max - log sum exp(x - max)      gradient: g - exp(y) sum g
// A row whose g is 0 everywhere gets the gradient 0 even if its y are NaN, which happens if all x are -inf.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

layout(constant_id = 2) const uint TYPE = 6;  // type of all tensors
const int64_t kBytes = TYPE == kF32 ? 4 : 2;  // bytes of an element
const uint kSoftmax = 0, kLogSoftmax = 1, kSoftmaxGrad = 2, kLogSoftmaxGrad = 3;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result;
  uint64_t operand[2];  // x; or g and y
  Rows rows;            // rows of the result, then of the operands
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

float product_of_used(float g, float y) {
  return g == 0.0 ? 0.0 : g * y;
}
// `sum`: the sum of g y, or of g.
float gradient(float g, float y, float sum) {
  if (MODE == kLogSoftmaxGrad) return g == 0.0 && sum == 0.0 ? g : g - exp_of_negative(y) * sum;
  const float apart = g - sum;
  return apart == 0.0 ? apart : y * apart;
}

void held_row(uint64_t result, uint64_t first, uint64_t second, uint fours) {
  vec4 x[kHeld];
  if (MODE == kSoftmax || MODE == kLogSoftmax) {
    hold(x, first, fours, -infinity(), TYPE);
    float largest = -infinity();
    [[unroll]] for (uint h = 0; h < kHeld; ++h)
      largest = max(largest, max(max(x[h].x, x[h].y), max(x[h].z, x[h].w)));
    largest = row_max(largest);
    float sum = 0.0;
    vec4 e[kHeld];
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {
      x[h] -= largest;
      [[unroll]] for (uint j = 0; j < 4; ++j) e[h][j] = exp_of_negative(x[h][j]);
      if (along() + h * ALONG < fours) sum += in_all(e[h]);
    }
    sum = row_sum(sum);
    const float last = MODE == kSoftmax ? 1.0 / sum : lg_log(sum);
    [[unroll]] for (uint h = 0; h < kHeld; ++h) x[h] = MODE == kSoftmax ? e[h] * last : x[h] - last;
  } else {
    vec4 y[kHeld];
    hold(x, first, fours, 0.0, TYPE);
    hold(y, second, fours, 0.0, TYPE);
    float sum = 0.0;
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {
      vec4 terms = x[h];
      if (MODE == kSoftmaxGrad)
        [[unroll]] for (uint j = 0; j < 4; ++j) terms[j] = product_of_used(x[h][j], y[h][j]);
      sum += in_all(terms);
    }
    sum = row_sum(sum);
    [[unroll]] for (uint h = 0; h < kHeld; ++h)
      [[unroll]] for (uint j = 0; j < 4; ++j) x[h][j] = gradient(x[h][j], y[h][j], sum);
  }
  put(x, result, fours, TYPE);
}

void main() {
  const uint length = arguments.rows.extent;
  const uint blocks = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint row = block * kRowsPerGroup + beside();
    const bool exists = row < arguments.rows.count;
    int64_t at[3] = int64_t[](0, 0, 0);
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.rows.size[d];
      rest /= arguments.rows.size[d];
      [[unroll]] for (uint k = 0; k < 3; ++k) at[k] += int64_t(place) * arguments.rows.stride[k][d];
    }
    const uint end = exists ? length : 0;
    if (HELD > 0) {
      held_row(arguments.result + at[0] * kBytes, arguments.operand[0] + at[1] * kBytes, arguments.operand[1] + at[2] * kBytes,
               end / 4);
      continue;
    }
    if (MODE == kSoftmax || MODE == kLogSoftmax) {
      float largest = -infinity();
      for (uint i = along(); i < end; i += ALONG)
        largest = max(largest, load_float(arguments.operand[0], at[1] + int64_t(i) * arguments.rows.step[1], TYPE));
      largest = row_max(largest);
      float sum = 0.0;
      for (uint i = along(); i < end; i += ALONG)
        sum += exp_of_negative(load_float(arguments.operand[0], at[1] + int64_t(i) * arguments.rows.step[1], TYPE) - largest);
      sum = row_sum(sum);
      const float last = MODE == kSoftmax ? 1.0 / sum : lg_log(sum);
      for (uint i = along(); i < end; i += ALONG) {
        const float x = load_float(arguments.operand[0], at[1] + int64_t(i) * arguments.rows.step[1], TYPE) - largest;
        store_float(arguments.result, at[0] + int64_t(i) * arguments.rows.step[0], TYPE,
                  MODE == kSoftmax ? exp_of_negative(x) * last : x - last);
      }
    } else {
      float sum = 0.0;
      for (uint i = along(); i < end; i += ALONG) {
        const float g = load_float(arguments.operand[0], at[1] + int64_t(i) * arguments.rows.step[1], TYPE);
        const float y = load_float(arguments.operand[1], at[2] + int64_t(i) * arguments.rows.step[2], TYPE);
        sum += MODE == kSoftmaxGrad ? product_of_used(g, y) : g;
      }
      sum = row_sum(sum);
      for (uint i = along(); i < end; i += ALONG) {
        const float g = load_float(arguments.operand[0], at[1] + int64_t(i) * arguments.rows.step[1], TYPE);
        const float y = load_float(arguments.operand[1], at[2] + int64_t(i) * arguments.rows.step[2], TYPE);
        store_float(arguments.result, at[0] + int64_t(i) * arguments.rows.step[0], TYPE, gradient(g, y, sum));
      }
    }
  }
}
