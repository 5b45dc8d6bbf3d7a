#version 460
// For every row of x1 a weighted sum over the rows of x2 (runtime/ops/linalg/pairs.h): the gradients of
// distances. A workgroup computes a tile of the result from STEP rows of x2 and their weights at a time, in
// shared memory; an invocation owns four adjacent columns of OWN rows. With several parts, each part of the
// rows of x2 has a result of its own.
#extension GL_GOOGLE_include_directive : require
#include "pairs.glsl"

layout(constant_id = 7) const uint ACROSS = 16;  // invocations along the columns
layout(constant_id = 8) const uint OWN = 4;
layout(constant_id = 9) const bool ALONG_N = true;  // adjacent weights are along n, else along m
layout(constant_id = 10) const uint RESULT_TYPE = 6;

const uint kDown = 256 / ACROSS, kRows = OWN * kDown, kColumns = 4 * ACROSS;
const uint kLine = kRows + 1;  // padded to avoid bank conflicts
shared float weight_tile[STEP * kLine];
shared float scale_tile[SCALE == kBefore ? STEP * kLine : 1];
shared vec4 x2_tile[STEP * ACROSS];
shared vec4 factor_tile[HAS_FACTORS ? STEP * ACROSS : 1];

void load_weights(uint64_t weights, uint64_t scale, uint row, uint first, uint end) {
  [[unroll]] for (uint e = 0; e < kRows * STEP; e += 256) {
    const uint at = e + gl_LocalInvocationID.x;
    const uint r = ALONG_N ? at / STEP : at % kRows, s = ALONG_N ? at % STEP : at / kRows;
    const uint i = row + r, j = first + s;
    float weight = 0.0, unit = infinity();
    if (i < arguments.m && j < end) {
      weight = value_of(weights, arguments.weights, i, j);
      if (SCALE != kUnscaled) unit = value_of(scale, arguments.scale, i, j);
      if (SCALE == kAfter) weight = quotient_of(weight, raised(unit));
      if (unit == 0.0) weight = 0.0, unit = infinity();
    }
    weight_tile[s * kLine + r] = weight;
    if (SCALE == kBefore) scale_tile[s * kLine + r] = unit;
  }
}
// Behind the last row is the last row again: its differences do not overflow unless they do with weights, too.
#define LOAD(TILE, MATRIX, OPERAND)                                                                \
  for (uint at = gl_LocalInvocationID.x; at < STEP * kColumns; at += 256) {                        \
    const uint s = at / kColumns, c = at % kColumns;                                               \
    const uint r = min(first + s, end - 1);                                                        \
    TILE[s * ACROSS + c / 4][c % 4] =                                                              \
        column + c < arguments.k ? element(MATRIX, OPERAND, r, column + c) : 0.0;                  \
  }

void main() {
  const uint across = gl_LocalInvocationID.x % ACROSS, down = gl_LocalInvocationID.x / ACROSS;
  uint rest = MY_ITEM;
  const uint part = rest % arguments.parts;
  rest /= arguments.parts;
  const uint column = rest % arguments.column_tiles * kColumns;
  rest /= arguments.column_tiles;
  const uint row = rest % arguments.row_tiles * kRows, item = rest / arguments.row_tiles;
  const uint64_t x1 = matrix_at(arguments.x1, item), x2 = matrix_at(arguments.x2, item);
  const uint64_t weights = matrix_at(arguments.weights, item), scale = matrix_at(arguments.scale, item);
  const uint64_t factors = matrix_at(arguments.factors, item);

  vec4 own[OWN], sums[OWN];
  [[unroll]] for (uint i = 0; i < OWN; ++i) {
    sums[i] = vec4(0);
    [[unroll]] for (uint e = 0; e < 4; ++e) {
      const uint r = row + i * kDown + down, c = column + across * 4 + e;
      own[i][e] = r < arguments.m && c < arguments.k ? element(x1, arguments.x1, r, c) : 0.0;
    }
  }
  const uint begin = part * arguments.part, end = min(begin + arguments.part, arguments.n);
  for (uint first = begin; first < end; first += STEP) {
    barrier();
    load_weights(weights, scale, row, first, end);
    LOAD(x2_tile, x2, arguments.x2)
    if (HAS_FACTORS) LOAD(factor_tile, factors, arguments.factors)
    barrier();
    [[unroll]] for (uint s = 0; s < STEP; ++s) {
      const vec4 other = x2_tile[s * ACROSS + across];
      [[unroll]] for (uint i = 0; i < OWN; ++i) {
        const uint at = s * kLine + i * kDown + down;
        vec4 t = own[i] - other;
        if (SCALE == kBefore) {
          const float unit = scale_tile[at];
          t = vec4(argument_of(t.x, unit), argument_of(t.y, unit), argument_of(t.z, unit), argument_of(t.w, unit));
        }
        t = vec4(applied(t.x), applied(t.y), applied(t.z), applied(t.w));
        if (HAS_FACTORS) t *= factor_tile[s * ACROSS + across];
        sums[i] += weight_tile[at] * t;
      }
    }
  }
  [[unroll]] for (uint i = 0; i < OWN; ++i) {
    const uint r = row + i * kDown + down, c = column + across * 4;
    if (r >= arguments.m) continue;
    const int64_t at = ((int64_t(part) * arguments.batches + item) * arguments.m + r) * arguments.k + c;
    [[unroll]] for (uint e = 0; e < 4; ++e)
      if (c + e < arguments.k) store_float(arguments.result, at + e, RESULT_TYPE, sums[i][e]);
  }
}
