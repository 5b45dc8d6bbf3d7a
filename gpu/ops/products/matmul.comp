#version 460
// C = activation(A B + bias of each column), for batches of matrices with any strides. A workgroup computes a
// BM x BN tile of C from BK columns of A and rows of B at a time, in shared memory. Shared memory is
// double-buffered: the next step is loaded into the other half while this one is used, so that a step has one
// barrier. An invocation owns TM x TN elements, in squares of 4 x 4 that are spread over the tile, so that it
// reads shared memory 16 bytes at a time without bank conflicts. It loads the same positions in each step, so
// that its addresses only advance. Sums are in order of k. With split-K, each part of k has a C of its own,
// and matmul_parts.comp adds them.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "activation.glsl"

layout(local_size_x_id = 0) in;  // (BM / TM) (BN / TN)
layout(constant_id = 1) const uint BM = 64;
layout(constant_id = 2) const uint BN = 64;
layout(constant_id = 3) const uint BK = 16;
layout(constant_id = 4) const uint TM = 4;
layout(constant_id = 5) const uint TN = 4;
layout(constant_id = 6) const bool A_COLUMN_MAJOR = false;  // adjacent elements of A are along m, else along k
layout(constant_id = 7) const bool B_ROW_MAJOR = true;      // adjacent elements of B are along n, else along k
layout(constant_id = 8) const bool HAS_BIAS = false;
layout(constant_id = 9) const uint THREADS = 256;  // equal to constant 0
// Adjacent elements are loaded four at a time: sizes and strides are multiples of 4, addresses are multiples
// of 16.
layout(constant_id = 10) const bool A_VECTOR = false;
layout(constant_id = 11) const bool B_VECTOR = false;
layout(constant_id = 13) const bool EVEN = false;     // tiles divide the matrices
layout(constant_id = 14) const bool RAGGED_K = true;  // BK does not divide k

#include "matmul_arguments.glsl"

const uint kARow = BM / 4 + 1, kBRow = BN / 4 + 1;  // in vec4, padded to avoid bank conflicts
const uint kAPerThread = BM * BK / THREADS, kBPerThread = BN * BK / THREADS;
shared vec4 a_tile[2 * BK * kARow];
shared vec4 b_tile[2 * BK * kBRow];

// An invocation loads 1 or 4 elements at once, at one position in every kALines-th line of the tile of A.
// Lines run along the dim with adjacent elements.
const uint kAVectorSize = A_VECTOR ? 4 : 1, kBVectorSize = B_VECTOR ? 4 : 1;
const uint kALine = (A_COLUMN_MAJOR ? BM : BK) / kAVectorSize, kBLine = (B_ROW_MAJOR ? BN : BK) / kBVectorSize;
const uint kALines = THREADS / kALine, kBLines = THREADS / kBLine;

float a_next[kAPerThread];
float b_next[kBPerThread];

// This invocation's first position in a tile: x = m or n, y = k.
uvec2 place_in_a() {
  const uint close = gl_LocalInvocationID.x % kALine * kAVectorSize, line = gl_LocalInvocationID.x / kALine;
  return A_COLUMN_MAJOR ? uvec2(close, line) : uvec2(line, close);
}
uvec2 place_in_b() {
  const uint close = gl_LocalInvocationID.x % kBLine * kBVectorSize, line = gl_LocalInvocationID.x / kBLine;
  return B_ROW_MAJOR ? uvec2(close, line) : uvec2(line, close);
}
// The distance from the first to the i-th position.
uvec2 further_in_a(uint i) {
  return A_COLUMN_MAJOR ? uvec2(0, i * kALines) : uvec2(i * kALines, 0);
}
uvec2 further_in_b(uint i) {
  return B_ROW_MAJOR ? uvec2(0, i * kBLines) : uvec2(i * kBLines, 0);
}

// `from`: address of the first position, which is element `first` of the matrix. `lines`: bytes between this
// invocation's lines. `end`: end of the matrix. `whole`: all of the tile is inside, so no access needs a
// check.
void fetch_a(uint64_t from, int64_t lines, uvec2 first, uvec2 end, bool whole) {
  [[unroll]] for (uint i = 0; i < kAPerThread / kAVectorSize; ++i, from += lines) {
    const bool inside = whole || all(lessThan(first + further_in_a(i), end));
    if (A_VECTOR) {
      const vec4 v = inside ? F32x4Elements(from).at : vec4(0);
      [[unroll]] for (uint j = 0; j < 4; ++j) a_next[i * 4 + j] = v[j];
    } else {
      a_next[i] = inside ? F32Element(from).at : 0.0;
    }
  }
}
void fetch_b(uint64_t from, int64_t lines, uvec2 first, uvec2 end, bool whole) {
  [[unroll]] for (uint i = 0; i < kBPerThread / kBVectorSize; ++i, from += lines) {
    const bool inside = whole || all(lessThan(first + further_in_b(i), end));
    if (B_VECTOR) {
      const vec4 v = inside ? F32x4Elements(from).at : vec4(0);
      [[unroll]] for (uint j = 0; j < 4; ++j) b_next[i * 4 + j] = v[j];
    } else {
      b_next[i] = inside ? F32Element(from).at : 0.0;
    }
  }
}

void keep(uint half_at) {
  [[unroll]] for (uint i = 0; i < kAPerThread / kAVectorSize; ++i) {
    const uvec2 at = place_in_a() + further_in_a(i) + uvec2(0, half_at * BK);
    if (A_VECTOR && A_COLUMN_MAJOR)
      a_tile[at.y * kARow + at.x / 4] = vec4(a_next[i * 4], a_next[i * 4 + 1], a_next[i * 4 + 2], a_next[i * 4 + 3]);
    else
      [[unroll]] for (uint j = 0; j < kAVectorSize; ++j)
        a_tile[(at.y + j) * kARow + at.x / 4][at.x % 4] = a_next[i * kAVectorSize + j];
  }
  [[unroll]] for (uint i = 0; i < kBPerThread / kBVectorSize; ++i) {
    const uvec2 at = place_in_b() + further_in_b(i) + uvec2(0, half_at * BK);
    if (B_VECTOR && B_ROW_MAJOR)
      b_tile[at.y * kBRow + at.x / 4] = vec4(b_next[i * 4], b_next[i * 4 + 1], b_next[i * 4 + 2], b_next[i * 4 + 3]);
    else
      [[unroll]] for (uint j = 0; j < kBVectorSize; ++j)
        b_tile[(at.y + j) * kBRow + at.x / 4][at.x % 4] = b_next[i * kBVectorSize + j];
  }
}

// This invocation's sums.
vec4 sum[TM][TN / 4];

// Adds the products of the step in one half of shared memory to the sums.
void multiply_step(uint half_at, uint tx, uint ty) {
  [[unroll]] for (uint kk = 0; kk < BK; ++kk) {
    vec4 left[TM / 4], right[TN / 4];
    [[unroll]] for (uint i = 0; i < TM / 4; ++i) left[i] = a_tile[(half_at * BK + kk) * kARow + i * (BM / TM) + ty];
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) right[j] = b_tile[(half_at * BK + kk) * kBRow + j * (BN / TN) + tx];
    [[unroll]] for (uint i = 0; i < TM; ++i)
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] += left[i / 4][i % 4] * right[j];
  }
}

// `whole`: the tile is inside C.
void compute_tile(Share share, bool whole) {
  const uint row = share.row * BM, column = share.column * BN;
  const uint64_t c = arguments.c + share.c * 4;

  const uvec2 a_end = uvec2(arguments.m, arguments.k), b_end = uvec2(arguments.n, arguments.k);
  const int64_t a_step = arguments.a_column * (4 * BK), b_step = arguments.b_row * (4 * BK);
  const int64_t a_lines = (A_COLUMN_MAJOR ? arguments.a_column : arguments.a_row) * (4 * kALines);
  const int64_t b_lines = (B_ROW_MAJOR ? arguments.b_row : arguments.b_column) * (4 * kBLines);
  uvec2 a_place = uvec2(row, share.first) + place_in_a(), b_place = uvec2(column, share.first) + place_in_b();
  uint64_t a = arguments.a +
               (share.a + int64_t(a_place.x) * arguments.a_row + int64_t(a_place.y) * arguments.a_column) * 4;
  uint64_t b = arguments.b +
               (share.b + int64_t(b_place.y) * arguments.b_row + int64_t(b_place.x) * arguments.b_column) * 4;

  const uint tx = gl_LocalInvocationID.x % (BN / TN), ty = gl_LocalInvocationID.x / (BN / TN);
  [[unroll]] for (uint i = 0; i < TM; ++i)
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0);

  // The steps of the loop. A tile inside C checks only its last step, if that reaches beyond k, after the loop.
  const uint loop_end = !RAGGED_K || !whole ? share.end : share.end - (share.end - share.first) % BK;
  uint half_at = 0;
  if (loop_end > share.first) {
    fetch_a(a, a_lines, a_place, a_end, whole);
    fetch_b(b, b_lines, b_place, b_end, whole);
  }
  for (uint k = share.first; k < loop_end; k += BK, half_at ^= 1) {
    keep(half_at);
    // Without bounds checks the last step is loaded twice: loads without a branch are interleaved with multiplications.
    const bool more = k + BK < loop_end;
    a += more ? a_step : 0, a_place.y += BK;
    b += more ? b_step : 0, b_place.y += BK;
    barrier();
    if (whole || more) {
      fetch_a(a, a_lines, a_place, a_end, whole);
      fetch_b(b, b_lines, b_place, b_end, whole);
    }
    multiply_step(half_at, tx, ty);
  }
  if (RAGGED_K && loop_end < share.end) {
    if (loop_end > share.first) a += a_step, b += b_step;
    fetch_a(a, a_lines, a_place, a_end, false);
    fetch_b(b, b_lines, b_place, b_end, false);
    keep(half_at);
    barrier();
    multiply_step(half_at, tx, ty);
  }

  if (share.in_tail) {
    const uint64_t tile = arguments.tail + uint64_t(share.part) * (BM * BN * 4);
    [[unroll]] for (uint i = 0; i < TM; ++i)
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
        const uint m = (i / 4 * (BM / TM) + ty) * 4 + i % 4, n = (j * (BN / TN) + tx) * 4;
        F32x4Elements(tile + (m * BN + n) * 4).at = sum[i][j];
      }
    return;
  }

  // Four adjacent columns are all inside C or all outside, and aligned to 16 bytes.
  const bool in_fours = EVEN || arguments.n % 4 == 0;
  // The bias is loaded once for each column. If it is loaded for each element, and an activation follows,
  // NVIDIA's compiler keeps the sums in memory, which takes up to 14 times as long.
  vec4 bias[TN / 4];
  if (HAS_BIAS)
    [[unroll]] for (uint j = 0; j < TN / 4; ++j)
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        const uint n = column + (j * (BN / TN) + tx) * 4 + e;
        bias[j][e] = whole || n < arguments.n ? load_f32(arguments.bias, int64_t(n) * arguments.bias_step) : 0.0;
      }
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint m = row + (i / 4 * (BM / TM) + ty) * 4 + i % 4;
    if (!whole && m >= arguments.m) continue;
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      const uint n = column + (j * (BN / TN) + tx) * 4, count = whole ? 4 : min(arguments.n - min(n, arguments.n), 4);
      vec4 values = sum[i][j];
      if (HAS_BIAS) values += bias[j];
      [[unroll]] for (uint e = 0; e < 4; ++e) values[e] = activated(values[e]);
      const uint64_t to = c + (uint64_t(m) * arguments.n + n) * 4;
      if (in_fours) {
        if (count > 0) F32x4Elements(to).at = values;
      } else {
        [[unroll]] for (uint e = 0; e < 4; ++e)
          if (e < count) F32Element(to + e * 4).at = values[e];
      }
    }
  }
}

void main() {
  const Share share = share_of(MY_ITEM);
  // Most tiles of other matrices are whole, too. With two calls, neither has a branch in its loop.
  if (EVEN || (share.row + 1) * BM <= arguments.m && (share.column + 1) * BN <= arguments.n)
    compute_tile(share, true);
  else
    compute_tile(share, false);
}
