#version 460
// C = activation(A B + bias of each column) on matrix units, for batches of matrices of 16-bit floats (f32
// matrices are converted by unit_operand.comp).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "activation.glsl"
#include "unit_scale.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 6) const bool A_COLUMN_MAJOR = false;
layout(constant_id = 7) const bool B_ROW_MAJOR = true;
layout(constant_id = 8) const bool HAS_BIAS = false;
layout(constant_id = 16) const bool WHOLE = false;  // tiles divide C and steps divide k
layout(constant_id = 17) const bool RAGGED_K = true;  // BK does not divide k

#define UNEVEN_ROWS arguments.n % 8 != 0
#include "matmul_arguments.glsl"
#include "matrix_tile.glsl"

// `whole`: all of the tile and of the step is inside, so no access needs a bounds check.
void fetch(uint64_t a, uint64_t b, uint row, uint column, uint k, uint end, bool whole) {
  fetch_a(a, (A_COLUMN_MAJOR ? arguments.a_column : arguments.a_row) * 2, row, k, arguments.m, end, whole);
  const uint b_line = gl_LocalInvocationID.x / kBWidth, b_close = gl_LocalInvocationID.x % kBWidth * 8;
  const uint n = column + (B_ROW_MAJOR ? b_close : b_line), b_k = k + (B_ROW_MAJOR ? b_line : b_close);
  const uint64_t b_far = (B_ROW_MAJOR ? arguments.b_row : arguments.b_column) * 2;
  b += (B_ROW_MAJOR ? b_k * b_far + n * 2 : n * b_far + b_k * 2);
  [[unroll]] for (uint i = 0; i < kBEights; ++i) {
    const uint x = B_ROW_MAJOR ? n : n + i * kBLines, y = B_ROW_MAJOR ? b_k + i * kBLines : b_k;
    b_next[i] = whole || x < arguments.n && y < end ? U32x4Elements(b + i * kBLines * b_far).at : uvec4(0);
  }
}

// A sum in column n, without the scale and with the bias.
float ended(float sum, uint n) {
  sum = unscaled(sum);
  return HAS_BIAS ? sum + load_float(arguments.bias, int64_t(n) * arguments.bias_step, OUT_TYPE) : sum;
}

void store_eight(uint64_t c, uint m, uint n, vec4 low, vec4 high) {
  if (m >= arguments.m || n >= arguments.n) return;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    low[i] = activated(ended(low[i], n + i));
    high[i] = activated(ended(high[i], n + i + 4));
  }
  store_vector(c, int64_t(m) * int64_t(arguments.n) + int64_t(n), low, high);
}

void store_one(uint64_t c, uint m, uint n, float sum) {
  if (m >= arguments.m || n >= arguments.n) return;
  store_float(c, int64_t(m) * int64_t(arguments.n) + int64_t(n), OUT_TYPE, activated(ended(sum, n)));
}

// `whole`: the tile is inside C.
void compute_tile(Share share, bool whole) {
  const uint row = share.row * BM, column = share.column * BN;
  const uint64_t a = arguments.a + share.a * 2, b = arguments.b + share.b * 2;
  const uint m = gl_SubgroupID / (BN / WN) * WM, n = gl_SubgroupID % (BN / WN) * WN;

  EACH_DOWN(DECLARE_ROW)

  // The steps of the loop. A tile inside C checks only its last step, if that reaches beyond k, after the loop.
  const uint steps = max((share.end - share.first + BK - 1) / BK, 1);
  const uint loop_steps = !RAGGED_K || !whole ? steps : (share.end - share.first) / BK;
  uint next = share.first;
  if (loop_steps > 0) fetch(a, b, row, column, next, share.end, whole);
  for (uint step = 1; step <= loop_steps; ++step) {
    keep();
    barrier();
    // without a branch, loads are interleaved with products; the last step is loaded twice
    if (whole || step < loop_steps) {
      next += step < loop_steps ? BK : 0;
      fetch(a, b, row, column, next, share.end, whole);
    }
    MULTIPLY_STEP
    barrier();
  }
  if (RAGGED_K && loop_steps < steps) {
    fetch(a, b, row, column, share.first + loop_steps * BK, share.end, false);
    keep();
    barrier();
    MULTIPLY_STEP
    barrier();
  }

  const uint64_t c = arguments.c + share.c * (OUT_TYPE == kF32 ? 4 : 2);
  const uint results = gl_SubgroupID * M * kResultRow;
  EACH_DOWN(STORE_BAND)
}

void main() {
  const Share share = share_of(MY_ITEM);
  find_scales(arguments.a_largest, arguments.b_largest);
  // Most tiles of ragged matrices are whole. With two calls, neither has a branch in its loop.
  if (WHOLE || (share.row + 1) * BM <= arguments.m && (share.column + 1) * BN <= arguments.n)
    compute_tile(share, true);
  else
    compute_tile(share, false);
}
