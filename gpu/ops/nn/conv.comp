#version 460
// Convolution as an implicit matrix product: C[m, n] = sum over k of A[m, k] B[k, n], where the elements of B
// are read from an image. P stands for (image, position), W for (channel, position in the kernel).
//   result:          m = output channel, n = P of the result, k = W      B: the input at the window
//   input gradient:  m = input channel,  n = P of the input,  k = W      B: the gradient of the result
//   weight gradient: m = output channel, n = W,  k = P of the gradient   B: the input at the window
// The position in the image is  position * stride + origin + position in the kernel * tap.  For the gradient
// of the input, the image is the gradient of the result, and the taps are negative. With a stride other than
// 1 this gradient is computed separately for each remainder of the position by the stride, with the part of
// the kernel that reaches it. The position in C is then position * out_stride + out_origin.
//
// The part of an address that depends only on n is computed once for a tile, the part that depends only on k
// once for a step. Positions advance from step to step without divisions, which are slow. Tiles and double
// buffering are the same as in matmul.comp. Parts of k may be summed separately (split-K).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "turns.glsl"
#include "activation.glsl"

layout(local_size_x_id = 0) in;  // (BM / TM) (BN / TN)
layout(constant_id = 1) const uint BM = 64;
layout(constant_id = 2) const uint BN = 64;
layout(constant_id = 3) const uint BK = 16;
layout(constant_id = 4) const uint TM = 4;
layout(constant_id = 5) const uint TN = 4;
layout(constant_id = 6) const uint PART = 0;
layout(constant_id = 7) const bool HAS_BIAS = false;
layout(constant_id = 8) const uint THREADS = 256;       // equal to constant 0
layout(constant_id = 9) const uint DIMS = 3;            // spatial dims of the image; dims before them have size 1
layout(constant_id = 10) const bool SCATTERED = false;  // out_stride is not 1 or out_origin is not 0
// A can be loaded four elements of k at a time: they are adjacent and aligned to 16 bytes.
layout(constant_id = 11) const bool A_VECTOR = false;

const uint kResult = 0, kInputGradient = 1, kWeightGradient = 2;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t a, image, c, bias;
  uint m, n, k;                // sizes for one group
  uint groups, splits, split;  // splits: parts of k; split: elements of k in a part
  uint row_tiles, column_tiles;
  uint image_channels, image_size[3];  // of the image that B reads; channels of all groups
  uint other_channels, size[3];        // of the other image: C, or the gradient. size: of the positions P
  uint kernel[3], kernel_size;
  int stride[3], origin[3], tap[3];
  uint out_size[3], out_stride[3], out_origin[3];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

const uint kARow = BM / 4 + 1, kBRow = BN / 4 + 1;  // in vec4, padded to avoid bank conflicts
const uint kAPerThread = BM * BK / THREADS, kBPerThread = BN * BK / THREADS;
shared vec4 a_tile[2 * BK * kARow];
shared vec4 b_tile[2 * BK * kBRow];
// yzw: an image position or a tap, or kNowhere; x: its offset in memory.
shared ivec4 step_part[2 * BK];  // for each k, if the columns of B are positions
shared ivec4 window_part[BN];    // for each n, if the columns of B are windows
shared uint c_column[BN];

// From A an invocation loads kAVectorSize adjacent elements of k in every kALines-th row. From B it loads one k of
// every kBLines-th column if columns are windows, else one column of every kBLines-th k.
const uint kAVectorSize = A_VECTOR ? 4 : 1, kALine = BK / kAVectorSize, kALines = THREADS / kALine;
const uint kBLines = THREADS / (PART == kWeightGradient ? BK : BN);

float a_next[kAPerThread];
float b_next[kBPerThread];

uint image_elements() {
  return arguments.image_size[0] * arguments.image_size[1] * arguments.image_size[2];
}
uint positions() {
  return arguments.size[0] * arguments.size[1] * arguments.size[2];
}
// The offset of a position, which may be outside of the image.
int offset_of(ivec3 at) {
  return (at.x * int(arguments.image_size[1]) + at.y) * int(arguments.image_size[2]) + at.z;
}
// A position minus kFar is outside any image.
const int kFar = 0x40000000;
const ivec4 kNowhere = ivec4(0, 0, 0, -kFar), kNoWindow = ivec4(0, 0, 0, -kFar);

// A number as digits: yzw is a position in an image or a window, x counts the images or channels.
uvec4 digits_of(uint i, uint sizes[3]) {
  const uint area = sizes[1] * sizes[2], size = sizes[0] * area;
  return uvec4(i / size, i % size / area, i / sizes[2] % sizes[1], i % sizes[2]);
}
uvec4 sum_of_digits(uvec4 a, uvec4 b, uint sizes[3]) {
  uvec4 sum = a + b;
  [[unroll]] for (int d = 2; d >= 0; --d)
    if (sum[d + 1] >= sizes[d]) {
      sum[d + 1] -= sizes[d];
      ++sum[d];
    }
  return sum;
}

// Where the window of a position of the other image begins.
ivec4 of_place(uvec4 place) {
  ivec3 at;
  [[unroll]] for (uint d = 0; d < 3; ++d) at[d] = int(place[d + 1]) * arguments.stride[d] + arguments.origin[d];
  return ivec4(int(place.x * arguments.image_channels * image_elements()) + offset_of(at), at);
}
ivec4 of_window(uvec4 place) {
  const ivec3 by = ivec3(place.yzw) * ivec3(arguments.tap[0], arguments.tap[1], arguments.tap[2]);
  return ivec4(int(place.x * image_elements()) + offset_of(by), by);
}
// Elements from the beginning of a sample and channel of C to a position.
uint offset_in_c(uvec4 place) {
  uvec3 at;
  [[unroll]] for (uint d = 0; d < 3; ++d) at[d] = place[d + 1] * arguments.out_stride[d] + arguments.out_origin[d];
  return (at.x * arguments.out_size[1] + at.y) * arguments.out_size[2] + at.z;
}

float read_image(uint64_t image, uvec3 image_size, ivec4 column, ivec4 step) {
  const ivec4 at = column + step;
  bool inside = uint(at.w) < image_size.z;
  if (DIMS > 1) inside = inside && uint(at.z) < image_size.y;
  if (DIMS > 2) inside = inside && uint(at.y) < image_size.x;
  return inside ? F32Element(image + uint64_t(uint(at.x)) * 4).at : 0.0;
}

// The digits of k: a position if the sum runs over positions (gradient of the weight), else a position in the
// kernel.
uvec4 step_digits(uint k) {
  return PART == kWeightGradient ? digits_of(k, arguments.size) : digits_of(k, arguments.kernel);
}
uvec4 next_digits(uvec4 digits, uvec4 step) {
  return PART == kWeightGradient ? sum_of_digits(digits, step, arguments.size)
                                 : sum_of_digits(digits, step, arguments.kernel);
}
ivec4 part_of_step(uvec4 digits, bool inside) {
  if (PART == kWeightGradient) return inside ? of_place(digits) : kNowhere;
  return inside ? of_window(digits) : kNoWindow;
}

// `rows`: bytes from one of this invocation's rows of A to the next.
void fetch_a(uint64_t from, uint64_t rows, uint m, bool inside) {
  [[unroll]] for (uint i = 0; i < kAPerThread / kAVectorSize; ++i, from += rows) {
    const bool reads = inside && m + i * kALines < arguments.m;
    if (A_VECTOR) {
      const vec4 v = reads ? F32x4Elements(from).at : vec4(0);
      [[unroll]] for (uint j = 0; j < 4; ++j) a_next[i * 4 + j] = v[j];
    } else {
      a_next[i] = reads ? F32Element(from).at : 0.0;
    }
  }
}
// `own`: the position of this invocation's column, or of its k if columns are windows.
void fetch_b(uint64_t image, uvec3 image_size, ivec4 own, uint half_at) {
  const uint id = gl_LocalInvocationID.x;
  [[unroll]] for (uint i = 0; i < kBPerThread; ++i)
    b_next[i] = PART == kWeightGradient
                    ? read_image(image, image_size, window_part[id / BK + i * kBLines], own)
                    : read_image(image, image_size, own, step_part[half_at * BK + id / BN + i * kBLines]);
}

void keep(uint half_at) {
  const uint id = gl_LocalInvocationID.x;
  [[unroll]] for (uint i = 0; i < kAPerThread / kAVectorSize; ++i) {
    const uint m = id / kALine + i * kALines, y = half_at * BK + id % kALine * kAVectorSize;
    [[unroll]] for (uint j = 0; j < kAVectorSize; ++j) a_tile[(y + j) * kARow + m / 4][m % 4] = a_next[i * kAVectorSize + j];
  }
  [[unroll]] for (uint i = 0; i < kBPerThread; ++i) {
    const uint n = PART == kWeightGradient ? id / BK + i * kBLines : id % BN;
    const uint y = half_at * BK + (PART == kWeightGradient ? id % BK : id / BN + i * kBLines);
    b_tile[y * kBRow + n / 4][n % 4] = b_next[i];
  }
}

// The position in C of row m and column x of the tile that begins at `column`.
uint64_t place_in_c(uint m, uint c_row, uint column, uint x) {
  return uint64_t(m) * c_row + (PART == kWeightGradient ? column + x : c_column[x]);
}

void compute_tile(uint tile) {
  const uint id = gl_LocalInvocationID.x;
  const uint part = tile % arguments.splits;
  tile /= arguments.splits;
  const uint group = tile / (arguments.row_tiles * arguments.column_tiles);
  tile %= arguments.row_tiles * arguments.column_tiles;
  // Adjacent workgroups share columns, from which most elements are read.
  const uint row = tile % arguments.row_tiles * BM, column = tile / arguments.row_tiles * BN;
  const uint begin = part * arguments.split, end = min(begin + arguments.split, arguments.k);

  const uint size = positions();
  const uint c_row = PART == kWeightGradient ? arguments.n : arguments.out_size[0] * arguments.out_size[1] * arguments.out_size[2];
  const uint64_t image_group = uint64_t(arguments.image_channels / arguments.groups) * image_elements();
  const uint64_t image = arguments.image + uint64_t(group) * image_group * 4;
  const uvec3 image_size = uvec3(arguments.image_size[0], arguments.image_size[1], arguments.image_size[2]);
  for (uint i = id; i < BN; i += THREADS) {
    const uint n = column + i;
    if (PART == kWeightGradient)
      window_part[i] = n < arguments.n ? of_window(digits_of(n, arguments.kernel)) : kNoWindow;
    else
      c_column[i] = n / size * (arguments.other_channels * c_row) +
                    (SCATTERED ? offset_in_c(digits_of(n, arguments.size)) : n % size);
  }
  ivec4 own = kNowhere;
  if (PART != kWeightGradient && column + id % BN < arguments.n)
    own = of_place(digits_of(column + id % BN, arguments.size));
  uvec4 digits = step_digits(begin + id % BK);
  const uvec4 step = step_digits(BK);

  // Rows of A are `a_row` elements apart. Along k, runs of `a_run` elements have gaps of `a_jump` elements.
  const uint a_row = PART == kResult ? arguments.k : PART == kInputGradient ? arguments.kernel_size : size;
  const uint a_run = PART == kResult ? arguments.k : a_row;
  const uint a_jump = PART == kResult          ? 0
                      : PART == kInputGradient ? (arguments.m - 1) * a_run
                                               : (arguments.other_channels - 1) * a_run;
  const uint64_t a_group = uint64_t(arguments.m) * (PART == kWeightGradient ? size : arguments.k);
  const uint m = row + id / kALine;
  const uint64_t a = arguments.a + (uint64_t(group) * a_group + uint64_t(m) * a_row) * 4;
  const uint64_t a_rows = uint64_t(a_row) * (4 * kALines);
  uint a_k = begin + id % kALine * kAVectorSize;
  uint run = a_k / a_run, in_run = a_k % a_run;
  const uint step_runs = BK / a_run, step_rest = BK % a_run;

  const uint tx = id % (BN / TN), ty = id / (BN / TN);
  vec4 sum[TM][TN / 4];
  [[unroll]] for (uint i = 0; i < TM; ++i)
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0);

  if (PART == kWeightGradient)
    own = part_of_step(digits, begin + id % BK < end);
  else if (id < BK)
    step_part[id] = part_of_step(digits, begin + id < end);
  barrier();
  fetch_a(a + uint64_t(a_k + run * a_jump) * 4, a_rows, m, a_k < end);
  fetch_b(image, image_size, own, 0);
  uint half_at = 0;
  for (uint k = begin; k < end; k += BK, half_at ^= 1) {
    keep(half_at);
    digits = next_digits(digits, step);
    if (PART == kWeightGradient)
      own = part_of_step(digits, k + BK + id % BK < end);
    else if (id < BK)
      step_part[(half_at ^ 1) * BK + id] = part_of_step(digits, k + BK + id < end);
    a_k += BK;
    run += step_runs;
    in_run += step_rest;
    if (in_run >= a_run) in_run -= a_run, ++run;
    barrier();
    // Also fetches after the last step, with all accesses masked: loads without a branch are interleaved with
    // multiplications.
    fetch_a(a + uint64_t(a_k + run * a_jump) * 4, a_rows, m, a_k < end);
    fetch_b(image, image_size, own, half_at ^ 1);
    [[unroll]] for (uint kk = 0; kk < BK; ++kk) {
      vec4 left[TM / 4], right[TN / 4];
      [[unroll]] for (uint i = 0; i < TM / 4; ++i) left[i] = a_tile[(half_at * BK + kk) * kARow + i * (BM / TM) + ty];
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) right[j] = b_tile[(half_at * BK + kk) * kBRow + j * (BN / TN) + tx];
      [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] += left[i / 4][i % 4] * right[j];
    }
  }

  const uint64_t c_size = uint64_t(arguments.groups) * arguments.m * arguments.n;
  const uint64_t c = arguments.c + (uint64_t(part) * c_size + uint64_t(group) * arguments.m * c_row) * 4;
  // Four adjacent columns are all inside C or all outside, and aligned to 16 bytes.
  const bool in_fours = !SCATTERED && c_row % 4 == 0;
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint m = row + (i / 4 * (BM / TM) + ty) * 4 + i % 4;
    if (m >= arguments.m) continue;
    const float bias = HAS_BIAS ? load_f32(arguments.bias, int64_t(group * arguments.m + m)) : 0.0;
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      const uint x = (j * (BN / TN) + tx) * 4, count = min(arguments.n - min(column + x, arguments.n), 4);
      vec4 values = sum[i][j] + bias;
      [[unroll]] for (uint e = 0; e < 4; ++e) values[e] = activated(values[e]);
      if (in_fours) {
        if (count > 0) F32x4Elements(c + place_in_c(m, c_row, column, x) * 4).at = values;
      } else {
        [[unroll]] for (uint e = 0; e < 4; ++e)
          if (e < count) F32Element(c + place_in_c(m, c_row, column, x + e) * 4).at = values[e];
      }
    }
  }
}

void main() { compute_tile(MY_ITEM); }
