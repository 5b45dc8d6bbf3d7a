#version 460
// The passes around a product that adds up w (x1 - x2) over the rows of x2, as the total of w times x1 - c less
// the product of w and x2 - c (gpu/ops/linalg/pair_products.cpp). An invocation computes an element at a time.
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

layout(constant_id = 7) const uint MODE = 0;
const uint kCenter = 0;    // the f32 result holds the means of x2, and becomes c: [1, k]
const uint kCentered = 1;  // the f32 result is x2 - c; `factors` are c
const uint kCombined = 2;  // the result is the sum; `held` is the product, `weights` are the totals, `factors` c, all f32

// The center of a column, as on the CPU (runtime/ops/linalg/cpu/pair_kernels.cpp): its mean, kept between the
// second smallest and the second largest of a few elements, so that one row far away does not move it.
float center_of(uint64_t x2, uint column, float mean) {
  const uint count = min(arguments.n, 7), last = arguments.n - 1;
  const float first = element(x2, arguments.x2, 0, column);
  if (count <= 2) {
    const float other = element(x2, arguments.x2, last, column);
    return abs(first) < abs(other) ? first : other;
  }
  float least = infinity(), second_least = least, most = -least, second_most = most;
  for (uint i = 0; i < count; ++i) {
    const uint row = uint(uint64_t(i) * last / (count - 1));
    const float x = element(x2, arguments.x2, row, column);
    second_least = min(second_least, max(least, x));
    least = min(least, x);
    second_most = max(second_most, min(most, x));
    most = max(most, x);
  }
  return min(max(mean, second_least), second_most);
}

void main() {
  const uint rows = MODE == kCenter ? 1 : MODE == kCentered ? arguments.n : arguments.m;
  const uint count = arguments.batches * rows * arguments.k;
  for (uint at = gl_GlobalInvocationID.x; at < count; at += gl_NumWorkGroups.x * 256) {
    const uint column = at % arguments.k, line = at / arguments.k, row = line % rows, item = line / rows;
    if (MODE == kCenter) {
      const float mean = load_f32(arguments.result, int64_t(at));
      store_f32(arguments.result, int64_t(at), center_of(matrix_at(arguments.x2, item), column, mean));
      continue;
    }
    const float center = element(matrix_at(arguments.factors, item, kF32), arguments.factors, 0, column, kF32);
    if (MODE == kCentered) {
      const float own = element(matrix_at(arguments.x2, item), arguments.x2, row, column);
      store_f32(arguments.result, int64_t(at), own - center);
    } else {
      const float own = element(matrix_at(arguments.x1, item), arguments.x1, row, column);
      const float total = element(matrix_at(arguments.weights, item, kF32), arguments.weights, row, 0, kF32);
      store_float(arguments.result, int64_t(at), TYPE, total * (own - center) - load_f32(arguments.held, int64_t(at)));
    }
  }
}
