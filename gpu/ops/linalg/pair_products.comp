#version 460
// The passes around a product that adds up w (x1 - x2) over the rows of x2, as the total of w times x1 - c less
// the product of w and x2 - c (gpu/ops/linalg/pair_products.cpp). An invocation computes an element at a time.
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

layout(constant_id = 6) const uint MODE = 0;
const uint kWeights = 0;  // the result is w: [m, n], or [n, m] unless ALONG_N; pairs of CONDENSED begin with row `part`
const uint kCentered = 1;  // the result is x2 - c
const uint kCombined = 2;  // the result is the product, and becomes the sum; `weights` are the totals
layout(constant_id = 7) const bool ALONG_N = true;

// The center c: in each column the median of three rows of x2, which one row far away does not move.
float center_of(uint64_t x2, uint column) {
  const float a = element(x2, arguments.x2, 0, column);
  const float b = element(x2, arguments.x2, arguments.n / 2, column);
  const float c = element(x2, arguments.x2, arguments.n - 1, column);
  return max(min(a, b), min(max(a, b), c));
}

float weight_of(uint item, uint i, uint j) {
  const float weight = value_of(matrix_at(arguments.weights, item), arguments.weights, i, j);
  if (SCALE == kUnscaled) return weight;
  const float unit = value_of(matrix_at(arguments.scale, item), arguments.scale, i, j);
  return unit == 0.0 ? 0.0 : quotient_of(weight, unit);
}

void main() {
  const uint columns = MODE != kWeights ? arguments.k : ALONG_N ? arguments.n : arguments.m;
  const uint rows = MODE == kCentered || MODE == kWeights && !ALONG_N ? arguments.n : arguments.m;
  const uint count = arguments.batches * rows * columns;
  for (uint at = gl_GlobalInvocationID.x; at < count; at += gl_NumWorkGroups.x * 256) {
    const uint column = at % columns, line = at / columns, row = line % rows, item = line / rows;
    float value;
    if (MODE == kWeights) {
      value = weight_of(item, arguments.part + (ALONG_N ? row : column), ALONG_N ? column : row);
    } else {
      const uint64_t x2 = matrix_at(arguments.x2, item);
      const float center = center_of(x2, column);
      if (MODE == kCentered) {
        value = element(x2, arguments.x2, row, column) - center;
      } else {
        const float total = element(matrix_at(arguments.weights, item), arguments.weights, row, 0);
        const float own = element(matrix_at(arguments.x1, item), arguments.x1, row, column);
        value = total * (own - center) - load_f32(arguments.result, int64_t(at));
      }
    }
    store_f32(arguments.result, int64_t(at), value);
  }
}
