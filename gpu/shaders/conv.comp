#version 460
// Convolution as a product of matrices that are never made: C[m, n] = sum over k of A[m, k] B[k, n], where B's
// elements are found in an image. P stands for (image, place), W for (channel, place in the kernel).
//   result:          m = output channel, n = P of the result, k = W      B: the input under the window
//   input gradient:  m = input channel,  n = P of the input,  k = W      B: the gradient that the input went to
//   weight gradient: m = output channel, n = W,  k = P of the gradient   B: the input under the window
// What of an address depends on n alone, or on k alone, is worked out once for a tile and a step. The tiles are
// those of matmul.comp; several parts of k may be summed apart.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x_id = 0) in;  // (BM / TM) (BN / TN)
layout(constant_id = 1) const uint BM = 64;
layout(constant_id = 2) const uint BN = 64;
layout(constant_id = 3) const uint BK = 16;
layout(constant_id = 4) const uint TM = 4;
layout(constant_id = 5) const uint TN = 4;
layout(constant_id = 6) const uint PART = 0;
layout(constant_id = 7) const bool HAS_BIAS = false;
layout(constant_id = 8) const uint THREADS = 256;  // as constant 0
layout(constant_id = 9) const uint DIMS = 3;       // of the image: those in front of them have size 1
layout(constant_id = 10) const bool STRIDED = false;  // the input's gradient of a stride other than 1

const uint kResult = 0, kInputGradient = 1, kWeightGradient = 2;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t a, image, c, bias;
  uint m, n, k;  // of one group
  uint groups, splits, split;  // split: how much of k a part has
  uint tiles, row_tiles, column_tiles;
  uint image_channels, image_size[3];  // of the image that B reads; channels of all groups
  uint other_channels, other_size[3];  // of the other one
  uint kernel[3], kernel_size;
  int stride[3], padding[3], dilation[3];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kARow = BM / 4 + 1, kBRow = BN / 4 + 1;  // in vec4, one more than needed against bank conflicts
const uint kAPerThread = BM * BK / THREADS, kBPerThread = BN * BK / THREADS;
shared vec4 a_tile[BK * kARow];
shared vec4 b_tile[BK * kBRow];
// yzw: place in the image, kNowhere for none; x: the part of an element's place in memory that follows from it.
shared ivec4 column_part[BN];
shared ivec4 step_part[BK];
shared int a_step[BK];
shared int c_column[BN];

float a_next[kAPerThread];
float b_next[kBPerThread];

ivec3 place_of(uint i, uint sizes[3]) {
  return ivec3(i / (sizes[1] * sizes[2]), i / sizes[2] % sizes[1], i % sizes[2]);
}
uint image_elements() {
  return arguments.image_size[0] * arguments.image_size[1] * arguments.image_size[2];
}
uint other_elements() {
  return arguments.other_size[0] * arguments.other_size[1] * arguments.other_size[2];
}
// What of an offset follows from a place, which may lie outside of the image.
int offset_of(ivec3 at) {
  return (at.x * int(arguments.image_size[1]) + at.y) * int(arguments.image_size[2]) + at.z;
}
// Added to any place, or taken from it, it leads out of the image.
const int kFar = 0x40000000;
const ivec4 kNowhere = ivec4(0, 0, 0, -kFar), kNoWindow = ivec4(0, 0, 0, PART == kInputGradient ? kFar : -kFar);

// Of a place of the other image: where its window begins in the image that is read, or, going back, what the
// places of the kernel are taken from.
ivec4 of_place(uint i) {
  const uint size = other_elements();
  const ivec3 at = place_of(i % size, arguments.other_size);
  ivec3 origin;
  [[unroll]] for (int d = 0; d < 3; ++d)
    origin[d] = PART == kInputGradient ? at[d] + arguments.padding[d]
                                       : at[d] * arguments.stride[d] - arguments.padding[d];
  return ivec4(int(i / size * arguments.image_channels * image_elements()) + (STRIDED ? 0 : offset_of(origin)), origin);
}
ivec4 of_window(uint i) {
  const ivec3 at = place_of(i % arguments.kernel_size, arguments.kernel);
  const ivec3 window = at * ivec3(arguments.dilation[0], arguments.dilation[1], arguments.dilation[2]);
  const int offset = STRIDED ? 0 : PART == kInputGradient ? -offset_of(window) : offset_of(window);
  return ivec4(int(i / arguments.kernel_size * image_elements()) + offset, window);
}

float read_image(uint64_t image, ivec4 column, ivec4 step) {
  const ivec4 place = PART == kWeightGradient ? step : column, window = PART == kWeightGradient ? column : step;
  ivec3 at = PART == kInputGradient ? place.yzw - window.yzw : place.yzw + window.yzw;
  int offset = place.x + window.x;
  if (STRIDED) {
    const ivec3 stride = ivec3(arguments.stride[0], arguments.stride[1], arguments.stride[2]);
    const ivec3 reached = at / stride;
    if (any(lessThan(at, ivec3(0))) || reached * stride != at) return 0.0;
    at = reached;
    offset += offset_of(at);
  }
  bool inside = uint(at.z) < arguments.image_size[2];
  if (DIMS > 1) inside = inside && uint(at.y) < arguments.image_size[1];
  if (DIMS > 2) inside = inside && uint(at.x) < arguments.image_size[0];
  return inside ? F32Element(image + uint64_t(uint(offset)) * 4).at : 0.0;
}

void find_steps(uint first, uint end) {
  const uint i = gl_LocalInvocationID.x, k = first + i;
  if (i >= BK) return;
  const uint size = other_elements();
  if (k >= end)
    step_part[i] = PART == kWeightGradient ? kNowhere : kNoWindow;
  else
    step_part[i] = PART == kWeightGradient ? of_place(k) : of_window(k);
  a_step[i] = int(PART == kResult ? k
                  : PART == kInputGradient
                      ? k / arguments.kernel_size * (arguments.m * arguments.kernel_size) + k % arguments.kernel_size
                      : k / size * (arguments.other_channels * size) + k % size);
}

void fetch(uint64_t a, uint64_t image, uint row, uint first, uint end, uint a_row) {
  [[unroll]] for (uint i = 0; i < kAPerThread; ++i) {
    const uint at = i * THREADS + gl_LocalInvocationID.x, m = row + at / BK, y = at % BK;
    a_next[i] = m < arguments.m && first + y < end ? load_f32(a, int64_t(m) * int64_t(a_row) + int64_t(a_step[y])) : 0.0;
  }
  [[unroll]] for (uint i = 0; i < kBPerThread; ++i) {
    const uint at = i * THREADS + gl_LocalInvocationID.x;
    b_next[i] = PART == kWeightGradient ? read_image(image, column_part[at / BK], step_part[at % BK])
                                        : read_image(image, column_part[at % BN], step_part[at / BN]);
  }
}
void share() {
  [[unroll]] for (uint i = 0; i < kAPerThread; ++i) {
    const uint at = i * THREADS + gl_LocalInvocationID.x, m = at / BK, y = at % BK;
    a_tile[y * kARow + m / 4][m % 4] = a_next[i];
  }
  [[unroll]] for (uint i = 0; i < kBPerThread; ++i) {
    const uint at = i * THREADS + gl_LocalInvocationID.x;
    const uint n = PART == kWeightGradient ? at / BK : at % BN, y = PART == kWeightGradient ? at % BK : at / BN;
    b_tile[y * kBRow + n / 4][n % 4] = b_next[i];
  }
}

void compute_tile(uint tile) {
  const uint part = tile % arguments.splits;
  tile /= arguments.splits;
  const uint group = tile / (arguments.row_tiles * arguments.column_tiles);
  tile %= arguments.row_tiles * arguments.column_tiles;
  // Neighbours share columns, which are the larger part of what is read.
  const uint row = tile % arguments.row_tiles * BM, column = tile / arguments.row_tiles * BN;
  const uint begin = part * arguments.split, end = min(begin + arguments.split, arguments.k);

  const uint size = other_elements();
  const uint a_row = PART == kResult ? arguments.k : PART == kInputGradient ? arguments.kernel_size : size;
  const uint64_t a_group = uint64_t(arguments.m) * (PART == kWeightGradient ? size : arguments.k);
  const uint64_t a = arguments.a + uint64_t(group) * a_group * 4;
  const uint64_t image_group = uint64_t(arguments.image_channels / arguments.groups) * image_elements();
  const uint64_t image = arguments.image + uint64_t(group) * image_group * 4;

  for (uint i = gl_LocalInvocationID.x; i < BN; i += THREADS) {
    const uint n = column + i;
    if (n >= arguments.n)
      column_part[i] = PART == kWeightGradient ? kNoWindow : kNowhere;
    else
      column_part[i] = PART == kWeightGradient ? of_window(n) : of_place(n);
    c_column[i] = int(PART == kWeightGradient ? n : n / size * (arguments.other_channels * size) + n % size);
  }
  find_steps(begin, end);
  barrier();

  const uint tx = gl_LocalInvocationID.x % (BN / TN), ty = gl_LocalInvocationID.x / (BN / TN);
  vec4 sum[TM][TN / 4];
  [[unroll]] for (uint i = 0; i < TM; ++i)
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] = vec4(0);

  fetch(a, image, row, begin, end, a_row);
  for (uint k = begin; k < end; k += BK) {
    barrier();
    share();
    find_steps(k + BK, end);
    barrier();
    if (k + BK < end) fetch(a, image, row, k + BK, end, a_row);
    [[unroll]] for (uint kk = 0; kk < BK; ++kk) {
      vec4 left[TM / 4], right[TN / 4];
      [[unroll]] for (uint i = 0; i < TM / 4; ++i) left[i] = a_tile[kk * kARow + i * (BM / TM) + ty];
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) right[j] = b_tile[kk * kBRow + j * (BN / TN) + tx];
      [[unroll]] for (uint i = 0; i < TM; ++i)
        [[unroll]] for (uint j = 0; j < TN / 4; ++j) sum[i][j] += left[i / 4][i % 4] * right[j];
    }
  }

  const uint c_row = PART == kWeightGradient ? arguments.n : size;
  const uint64_t c_size = uint64_t(arguments.groups) * arguments.m * arguments.n;
  const uint64_t c = arguments.c + (uint64_t(part) * c_size + uint64_t(group) * arguments.m * c_row) * 4;
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    const uint m = row + (i / 4 * (BM / TM) + ty) * 4 + i % 4;
    if (m >= arguments.m) continue;
    const float bias = HAS_BIAS ? load_f32(arguments.bias, int64_t(group * arguments.m + m)) : 0.0;
    [[unroll]] for (uint j = 0; j < TN; ++j) {
      const uint x = (j / 4 * (BN / TN) + tx) * 4 + j % 4;
      if (column + x < arguments.n)
        store_f32(c, int64_t(m) * int64_t(c_row) + int64_t(c_column[x]), sum[i][j / 4][j % 4] + bias);
    }
  }
  barrier();  // the tables are the next tile's
}

void main() {
  for (uint tile = gl_WorkGroupID.x; tile < arguments.tiles; tile += gl_NumWorkGroups.x) compute_tile(tile);
}
