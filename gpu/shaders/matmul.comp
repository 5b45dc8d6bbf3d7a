#version 460
// C = A B (+ bias of each column), for batches of matrices with any strides. A work group computes a BM x BN
// tile of C from BK columns of A and rows of B at a time, held in shared memory; the next ones are fetched
// while these are used, into the other half of the shared memory, so that a step has one barrier. A thread owns TM x TN elements, in squares of 4 x 4 spread over the tile, so that it
// reads shared memory 16 bytes at a time without bank conflicts. Summation runs in order of k; where C is small and k
// long, parts of k are summed apart into a C each, without the bias.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x_id = 0) in;  // (BM / TM) (BN / TN)
layout(constant_id = 1) const uint BM = 64;
layout(constant_id = 2) const uint BN = 64;
layout(constant_id = 3) const uint BK = 16;
layout(constant_id = 4) const uint TM = 4;
layout(constant_id = 5) const uint TN = 4;
layout(constant_id = 6) const bool A_ROWS_LIE_CLOSE = false;    // fetch neighbours in m, else in k
layout(constant_id = 7) const bool B_COLUMNS_LIE_CLOSE = true;  // fetch neighbours in n, else in k
layout(constant_id = 8) const bool HAS_BIAS = false;
layout(constant_id = 9) const uint THREADS = 256;  // as constant 0
// An operand's close elements are fetched four at a time: sizes and strides are multiples of 4, addresses of 16.
layout(constant_id = 10) const bool A_VECTOR = false;
layout(constant_id = 11) const bool B_VECTOR = false;

#include "matmul_arguments.glsl"

const uint kARow = BM / 4 + 1, kBRow = BN / 4 + 1;  // in vec4, one more than needed against bank conflicts
const uint kAPerThread = BM * BK / THREADS, kBPerThread = BN * BK / THREADS;
shared vec4 a_tile[2 * BK * kARow];
shared vec4 b_tile[2 * BK * kBRow];

float a_next[kAPerThread];
float b_next[kBPerThread];

// Where element i of this thread's share lies: x = m or n, y = k.
uvec2 place_in_a(uint i) {
  const uint at = i * THREADS + gl_LocalInvocationID.x;
  return A_ROWS_LIE_CLOSE ? uvec2(at % BM, at / BM) : uvec2(at / BK, at % BK);
}
uvec2 place_in_b(uint i) {
  const uint at = i * THREADS + gl_LocalInvocationID.x;
  return B_COLUMNS_LIE_CLOSE ? uvec2(at % BN, at / BN) : uvec2(at / BK, at % BK);
}

// The same for fours: the place of the first.
uvec2 four_in_a(uint i) {
  const uint at = i * THREADS + gl_LocalInvocationID.x;
  return A_ROWS_LIE_CLOSE ? uvec2(at % (BM / 4) * 4, at / (BM / 4)) : uvec2(at / (BK / 4), at % (BK / 4) * 4);
}
uvec2 four_in_b(uint i) {
  const uint at = i * THREADS + gl_LocalInvocationID.x;
  return B_COLUMNS_LIE_CLOSE ? uvec2(at % (BN / 4) * 4, at / (BN / 4)) : uvec2(at / (BK / 4), at % (BK / 4) * 4);
}
void fetch(uint64_t a, uint64_t b, uint row, uint column, uint k) {
  [[unroll]] for (uint i = 0; i < kAPerThread; i += A_VECTOR ? 4 : 1) {
    const uvec2 at = uvec2(row, k) + (A_VECTOR ? four_in_a(i / 4) : place_in_a(i));
    const bool inside = at.x < arguments.m && at.y < arguments.k;
    const uint64_t from = a + (int64_t(at.x) * arguments.a_row + int64_t(at.y) * arguments.a_column) * 4;
    if (A_VECTOR) {
      const vec4 v = inside ? F32x4Elements(from).at : vec4(0);
      [[unroll]] for (uint j = 0; j < 4; ++j) a_next[i + j] = v[j];
    } else {
      a_next[i] = inside ? F32Element(from).at : 0.0;
    }
  }
  [[unroll]] for (uint i = 0; i < kBPerThread; i += B_VECTOR ? 4 : 1) {
    const uvec2 at = uvec2(column, k) + (B_VECTOR ? four_in_b(i / 4) : place_in_b(i));
    const bool inside = at.x < arguments.n && at.y < arguments.k;
    const uint64_t from = b + (int64_t(at.y) * arguments.b_row + int64_t(at.x) * arguments.b_column) * 4;
    if (B_VECTOR) {
      const vec4 v = inside ? F32x4Elements(from).at : vec4(0);
      [[unroll]] for (uint j = 0; j < 4; ++j) b_next[i + j] = v[j];
    } else {
      b_next[i] = inside ? F32Element(from).at : 0.0;
    }
  }
}

void keep(uint half_at) {
  const uint a_at = half_at * BK * kARow, b_at = half_at * BK * kBRow;
  [[unroll]] for (uint i = 0; i < kAPerThread; i += 4) {
    const vec4 v = vec4(a_next[i], a_next[i + 1], a_next[i + 2], a_next[i + 3]);
    const uvec2 at = four_in_a(i / 4);
    if (A_VECTOR && A_ROWS_LIE_CLOSE)
      a_tile[a_at + at.y * kARow + at.x / 4] = v;
    else
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 place = A_VECTOR ? at + uvec2(0, j) : place_in_a(i + j);
        a_tile[a_at + place.y * kARow + place.x / 4][place.x % 4] = v[j];
      }
  }
  [[unroll]] for (uint i = 0; i < kBPerThread; i += 4) {
    const vec4 v = vec4(b_next[i], b_next[i + 1], b_next[i + 2], b_next[i + 3]);
    const uvec2 at = four_in_b(i / 4);
    if (B_VECTOR && B_COLUMNS_LIE_CLOSE)
      b_tile[b_at + at.y * kBRow + at.x / 4] = v;
    else
      [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uvec2 place = B_VECTOR ? at + uvec2(0, j) : place_in_b(i + j);
        b_tile[b_at + place.y * kBRow + place.x / 4][place.x % 4] = v[j];
      }
  }
}

void compute_tile(uint tile) {
  const Share share = share_of(tile);
  const uint first = share.first, end = share.end, row = share.row * BM, column = share.column * BN;
  const uint64_t a = arguments.a + share.a * 4, b = arguments.b + share.b * 4, c = arguments.c + share.c * 4;

  const uint tx = gl_LocalInvocationID.x % (BN / TN), ty = gl_LocalInvocationID.x / (BN / TN);
  vec4 sum[TM][TN / 4];
  [[unroll]] for (uint i = 0; i < TM; ++i)
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0);

  fetch(a, b, row, column, first);
  uint half_at = 0;
  for (uint k = first; k < end; k += BK, half_at ^= 1) {
    keep(half_at);
    barrier();
    if (k + BK < end) fetch(a, b, row, column, k + BK);
    [[unroll]] for (uint kk = 0; kk < BK; ++kk) {
      vec4 left[TM / 4], right[TN / 4];
      [[unroll]] for (uint i = 0; i < TM / 4; ++i) left[i] = a_tile[(half_at * BK + kk) * kARow + i * (BM / TM) + ty];
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) right[j] = b_tile[(half_at * BK + kk) * kBRow + j * (BN / TN) + tx];
      [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] += left[i / 4][i % 4] * right[j];
    }
  }

  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint m = row + (i / 4 * (BM / TM) + ty) * 4 + i % 4;
    if (m >= arguments.m) continue;
    [[unroll]] for (uint j = 0; j < TN; ++j) {
      const uint n = column + (j / 4 * (BN / TN) + tx) * 4 + j % 4;
      if (n >= arguments.n) continue;
      float value = sum[i][j / 4][j % 4];
      if (HAS_BIAS) value += load_f32(arguments.bias, int64_t(n) * arguments.bias_step);
      store_f32(c, int64_t(m) * int64_t(arguments.n) + int64_t(n), value);
    }
  }
}

void main() {
  for (uint tile = gl_WorkGroupID.x; tile < arguments.tiles; tile += gl_NumWorkGroups.x) {
    compute_tile(tile);
    barrier();  // the shared memory is the next tile's
  }
}
