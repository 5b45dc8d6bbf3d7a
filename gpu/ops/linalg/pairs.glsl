// What the kernels of pairs of rows share (pair_columns.comp, pair_rows.comp, pair_weights.comp,
// pair_products.comp): batches of matrices of any strides, and the function of a difference. x1 is [m, k], x2 is
// [n, k].
#include "memory.glsl"
#include "functions.glsl"
#include "turns.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint POWER = 0;
const uint kConstant = 0, kLinear = 1, kSquare = 2, kAny = 3;
const uint kLargest = 4;  // of distances: the largest difference; of sums: 1 where the size is at least 1
const uint kCount = 5;    // 1 where the difference is not 0
layout(constant_id = 1) const bool ODD = false;    // the function has the sign of its argument
layout(constant_id = 2) const uint SCALE = 0;
const uint kUnscaled = 0;
const uint kAfter = 1;     // the power of the scale divides the power of the difference
const uint kBefore = 2;    // the scale divides the difference
layout(constant_id = 3) const bool HAS_FACTORS = false;
// Pairs i < j of one matrix have one element each, in the order of pdist.
layout(constant_id = 4) const bool CONDENSED = false;
layout(constant_id = 5) const uint STEP = 16;  // columns, or rows of x2, in shared memory at a time
layout(constant_id = 6) const uint TYPE = 6;   // of operands and results: f32, f16 or bf16

struct Matrices {
  uint64_t memory;
  int64_t row, column;
  int64_t batch[6];
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrices x1, x2, weights, scale, factors;
  uint64_t result;
  uint64_t held;
  uint64_t row_totals, column_totals;
  uint m, n, k;
  uint row_tiles, column_tiles;
  uint batches;
  uint parts, part;  // of the rows of x2: their number, and the rows of a part
  float exponent;
  uint batch_dims;
  uint batch_size[6];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

// The address of a matrix of the batch.
uint64_t matrix_at(Matrices x, uint item, uint type) {
  int64_t at = 0;
  for (int d = int(arguments.batch_dims) - 1; d >= 0; --d) {
    at += int64_t(item % arguments.batch_size[d]) * x.batch[d];
    item /= arguments.batch_size[d];
  }
  return x.memory + at * (type == kF32 ? 4 : 2);
}
uint64_t matrix_at(Matrices x, uint item) {
  return matrix_at(x, item, TYPE);
}
float element(uint64_t matrix, Matrices x, uint row, uint column, uint type) {
  return load_float(matrix, int64_t(row) * x.row + int64_t(column) * x.column, type);
}
float element(uint64_t matrix, Matrices x, uint row, uint column) {
  return element(matrix, x, row, column, TYPE);
}
// The place of the pair i < j.
int64_t pair_at(uint i, uint j) {
  return int64_t(i) * (2 * int64_t(arguments.n) - int64_t(i) - 1) / 2 + int64_t(j - i - 1);
}

// A weight or scale of the pair (i, j).
float value_of(uint64_t matrix, Matrices x, uint i, uint j) {
  if (!CONDENSED) return element(matrix, x, i, j);
  return i == j ? 0.0 : load_float(matrix, pair_at(min(i, j), max(i, j)) * x.column, TYPE);
}

// size^exponent
float raised(float size) {
  switch (POWER) {
    case kConstant: return lg_isnan(size) ? size : 1.0;
    case kLinear: return size;
    case kSquare: return size * size;
    case kLargest: return size >= 1.0 ? 1.0 : lg_isnan(size) ? size : 0.0;
    case kCount: return size == 0.0 ? 0.0 : 1.0;
  }
  return size == 0.0 ? 0.0 : lg_pow(size, arguments.exponent);
}
float applied(float t) {
  if (!ODD) return raised(abs(t));
  if (POWER == kLinear) return t;
  const float size = raised(abs(t));
  return t > 0.0 ? size : t < 0.0 ? -size : t;
}
// x as a number of the operands' type.
float rounded(float x) {
  return TYPE == kF16    ? half_to_float(float_to_half(x))
         : TYPE == kBF16 ? bfloat_to_float(float_to_bfloat(x))
                         : x;
}
// a / b where b may be subnormal.
float quotient_of(float a, float b) {
  const float kUp = 1.8446744e19;  // 2^64
  return b < 1.0 / kUp ? (a * kUp) / (b * kUp) : lg_quotient(a, b);
}
// The argument of the function: a difference of rows over the scale of their pair. For kLargest it has the
// size 1 where the difference reaches the scale, since quotients of equal numbers may be below 1. A scale of 16 bits
// was rounded, so the differences are, too.
float argument_of(float apart, float scale) {
  if (POWER == kLargest)
    return rounded(abs(apart)) >= scale ? lg_sign(apart) : lg_isnan(apart + scale) ? nan() : 0.0;
  return quotient_of(apart, scale);
}
