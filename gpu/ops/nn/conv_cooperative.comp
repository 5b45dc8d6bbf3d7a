#version 460
// Convolution as an implicit matrix product on matrix units: C[m, n] = sum over k of A[m, k] B[k, n], where
// the elements of B are read from an image. All operands have the channels last (channels_last.comp). The
// channels of each group are padded with zeros to a multiple of eight, so that a vector of eight channels is
// either inside or outside the image. P stands for (sample, position), W for (position in the kernel,
// channel).
//   result:          m = output channel, n = P, k = W   A: the weight                   B: the image at the window
//   weight gradient: m = output channel, n = W, k = P   A: the gradient of the result   B: the image at the window
// The position in the image is  position * stride + origin + position in the kernel * tap.
//
// The gradient of the input is computed as such a result, too: the image is the gradient of the result, and
// the taps are negative. With a stride other than 1 it is computed separately for each remainder of the
// position by the stride, with the part of the kernel that reaches it. The position in C is then
// position * out_stride + out_origin.
//
// The part of an address that depends only on P is computed once for a tile, or once for a step, and kept in
// shared memory.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "turns.glsl"
#include "activation.glsl"
#include "unit_scale.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 6) const uint PART = 0;
layout(constant_id = 7) const bool SCATTERED = false;  // out_stride is not 1 or out_origin is not 0
layout(constant_id = 8) const bool HAS_BIAS = false;
layout(constant_id = 16) const uint DIMS = 3;  // spatial dims of the image; dims before them have size 1

const uint kResult = 0, kWeightGradient = 1;
const bool A_COLUMN_MAJOR = PART == kWeightGradient, B_ROW_MAJOR = PART == kWeightGradient;
#include "matrix_tile.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t a, image, c, bias;
  uint64_t a_largest, image_largest;  // largest magnitudes of scaled operands
  uint m, n, k;                       // sizes for one group
  uint groups, splits, split;         // splits: parts of k; split: elements of k in a part
  uint row_tiles, column_tiles;
  uint a_line, a_group;           // elements from one line of A to the next, and from one group to the next
  // channels of a position of the image, in all groups and in one, with padding
  uint channels, group_channels;
  uint image_size[3];
  uint size[3];  // size: of the positions P
  uint kernel[3];
  int stride[3], origin[3], tap[3];
  uint out_channels, out_size[3], out_stride[3], out_origin[3];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

// yzw: a position in the image, or kNowhere; x: its offset in memory.
shared ivec4 places[PART == kWeightGradient ? BK : BN];
// Positions plus a tap of kNoTap, and kNowhere plus any tap, are outside any image.
const int kFar = 0x40000000;
const ivec4 kNowhere = ivec4(0, 0, 0, -kFar), kNoTap = ivec4(0, 0, 0, -kFar);

ivec3 ivec3_of(int v[3]) { return ivec3(v[0], v[1], v[2]); }
uvec3 uvec3_of(uint v[3]) { return uvec3(v[0], v[1], v[2]); }
uint product_of(uvec3 v) { return v.x * v.y * v.z; }

// A number as digits; the last digit is less than sizes.z.
uvec4 digits_of(uint i, uvec3 sizes) {
  return uvec4(i / sizes.z / sizes.y / sizes.x, i / sizes.z / sizes.y % sizes.x, i / sizes.z % sizes.y, i % sizes.z);
}
uvec4 sum_of_digits(uvec4 a, uvec4 b, uvec3 sizes) {
  uvec4 sum = a + b;
  [[unroll]] for (int d = 2; d >= 0; --d)
    if (sum[d + 1] >= sizes[d]) {
      sum[d + 1] -= sizes[d];
      ++sum[d];
    }
  return sum;
}

// Elements from a sample's first position to this position, which may be outside the image.
int offset_of(ivec3 at) {
  return ((at.x * int(arguments.image_size[1]) + at.y) * int(arguments.image_size[2]) + at.z) * int(arguments.channels);
}
// The part of an address for P, given as digits: sample, position.
ivec4 place_of(uvec4 p) {
  const ivec3 at = ivec3(p.yzw) * ivec3_of(arguments.stride) + ivec3_of(arguments.origin);
  return ivec4(int(p.x * product_of(uvec3_of(arguments.image_size)) * arguments.channels) + offset_of(at), at);
}
// The part of an address for W, given as digits: position in the kernel, channel.
ivec4 tap_of(uvec4 w) {
  const ivec3 by = ivec3(w.xyz) * ivec3_of(arguments.tap);
  return ivec4(offset_of(by) + int(w.w), by);
}
uvec3 window_digits() { return uvec3(arguments.kernel[1], arguments.kernel[2], arguments.group_channels); }

void fetch_b(uint64_t image, ivec4 tap) {
  const uint line = gl_LocalInvocationID.x / kBWidth;
  const uvec3 size = uvec3_of(arguments.image_size);
  [[unroll]] for (uint i = 0; i < kBEights; ++i) {
    const ivec4 at = places[line + i * kBLines] + tap;
    bool inside = uint(at.w) < size.z;
    if (DIMS > 1) inside = inside && uint(at.z) < size.y;
    if (DIMS > 2) inside = inside && uint(at.y) < size.x;
    b_next[i] = inside ? U32x4Elements(image + uint64_t(uint(at.x)) * 2).at : uvec4(0);
  }
}

uint first_row;  // first row in C of this workgroup's group

void store_eight(uint64_t c, uint m, uint n, vec4 low, vec4 high) {
  if (m >= arguments.m || n >= arguments.n) return;
  const uint row = first_row + m;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    low[i] = unscaled(low[i]);
    high[i] = unscaled(high[i]);
  }
  if (PART == kWeightGradient) {
    store_vector(c, int64_t(row) * arguments.n + n, low, high);
    return;
  }
  const float bias = HAS_BIAS ? load_float(arguments.bias, row, OUT_TYPE) : 0.0;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    low[i] = activated(low[i] + bias);
    high[i] = activated(high[i] + bias);
  }
  const uvec3 size = uvec3_of(arguments.size), out_size = uvec3_of(arguments.out_size);
  const uint in_sample = product_of(size), in_channel = product_of(out_size);
  if (!SCATTERED && in_sample % 8 == 0) {
    store_vector(c, int64_t(n / in_sample * arguments.out_channels + row) * in_channel + n % in_sample, low, high);
    return;
  }
  uvec4 p = digits_of(n, size);
  [[unroll]] for (uint i = 0; i < 8; ++i) {
    const uvec3 at = p.yzw * uvec3_of(arguments.out_stride) + uvec3_of(arguments.out_origin);
    const int64_t to = int64_t(p.x * arguments.out_channels + row) * in_channel + ((at.x * out_size.y + at.y) * out_size.z + at.z);
    if (n + i < arguments.n) store_float(c, to, OUT_TYPE, i < 4 ? low[i] : high[i - 4]);
    p = sum_of_digits(p, uvec4(0, 0, 0, 1), size);
  }
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
  const uint64_t a = arguments.a + uint64_t(group) * arguments.a_group * 2, a_far = uint64_t(arguments.a_line) * 2;
  const uint64_t image = arguments.image + uint64_t(group) * arguments.group_channels * 2;
  const uvec3 size = uvec3_of(arguments.size);
  const uint m = gl_SubgroupID / (BN / WN) * WM, n = gl_SubgroupID % (BN / WN) * WN;

  EACH_DOWN(DECLARE_ROW)

  // The digits of k: this invocation's channels in the window, or its position in the step.
  const uint close = id % kBWidth * 8, own = PART == kWeightGradient ? id % BK : close;
  const uvec3 k_sizes = PART == kWeightGradient ? size : window_digits();
  const uvec4 k_step = digits_of(BK, k_sizes);
  uvec4 digits = digits_of(begin + own, k_sizes);
  ivec4 tap;
  if (PART == kWeightGradient) {
    tap = column + close < arguments.n ? tap_of(digits_of(column + close, window_digits())) : kNoTap;
    if (id < BK) places[id] = begin + own < end ? place_of(digits) : kNowhere;
  } else {
    tap = begin + own < end ? tap_of(digits) : kNoTap;
    for (uint i = id; i < BN; i += THREADS)
      places[i] = column + i < arguments.n ? place_of(digits_of(column + i, size)) : kNowhere;
  }
  barrier();
  uint next = begin;
  fetch_a(a, a_far, row, next, arguments.m, end, false);
  fetch_b(image, tap);
  barrier();
  const uint steps = max((end - begin + BK - 1) / BK, 1);
  for (uint step = 1; step <= steps; ++step) {
    keep();
    next += BK;
    digits = sum_of_digits(digits, k_step, k_sizes);
    if (PART == kResult)
      tap = next + own < end ? tap_of(digits) : kNoTap;
    else if (id < BK)
      places[id] = next + own < end ? place_of(digits) : kNowhere;
    barrier();
    if (step < steps) {
      fetch_a(a, a_far, row, next, arguments.m, end, false);
      fetch_b(image, tap);
    }
    MULTIPLY_STEP
    barrier();
  }

  first_row = group * arguments.m;
  // Elements of one part of k, over all groups.
  const uint64_t part_size = PART == kWeightGradient
                                 ? uint64_t(arguments.groups) * arguments.m * arguments.n
                                 : uint64_t(arguments.n / product_of(size)) * arguments.out_channels *
                                       product_of(uvec3_of(arguments.out_size));
  const uint64_t c = arguments.c + part * part_size * (OUT_TYPE == kF32 ? 4 : 2);
  const uint results = gl_SubgroupID * M * kResultRow;
  EACH_DOWN(STORE_BAND)
}

void main() {
  find_scales(arguments.a_largest, arguments.image_largest);
  compute_tile(MY_ITEM);
}
