#version 460
// The gradient of the weight of a convolution of groups with few channels. A workgroup sums ROWS rows of TAPS
// taps of one pair of channels over a part of the samples. Another kernel adds the parts in order.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "depthwise.glsl"
#include "turns.glsl"

layout(constant_id = 6) const uint ROWS = 3;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t image, gradient, c;  // c: f32 [parts, output channels, sums, taps]
  uint samples, groups, rows, sums;
  uint image_size[3], size[3];
  uint taps[3];
  int stride[3], origin[3], tap[3];
  uint row_groups, tap_groups;  // groups of rows and of taps of the kernel
  uint parts, part;             // parts: number of them; part: samples of one
  Tile tile;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

const uint kSums = ROWS * TAPS;
const uint kShares = kThreads + 1;  // shared memory of one sum, padded to avoid bank conflicts

void compute(uint item) {
  const Tile tile = arguments.tile;
  const uint first_tap = item % arguments.tap_groups * TAPS;
  item /= arguments.tap_groups;
  const uint first_ky = item % arguments.row_groups * ROWS;
  item /= arguments.row_groups;
  const uint kz = item % arguments.taps[0];
  item /= arguments.taps[0];
  const uint s = item % arguments.sums;
  item /= arguments.sums;
  const uint channel = item % (arguments.groups * arguments.rows), part = item / (arguments.groups * arguments.rows);
  const uint group = channel / arguments.rows;

  const uint id = gl_LocalInvocationID.x;
  const uint strip = id % tile.strips, row = id / tile.strips % tile.rows, plane = id / tile.strips / tile.rows;
  const int64_t image_channel = int64_t(arguments.image_size[0]) * arguments.image_size[1] * arguments.image_size[2];
  const int64_t channel_size = int64_t(arguments.size[0]) * arguments.size[1] * arguments.size[2];
  const uint end = min((part + 1) * arguments.part, arguments.samples);

  float sum[kSums];
  [[unroll]] for (uint i = 0; i < kSums; ++i) sum[i] = 0.0;
  for (uint first = part * arguments.part; first < end; first += tile.planes)
    for (uint z = 0; z < arguments.size[0]; ++z)
      for (uint first_row = 0; first_row < arguments.size[1]; first_row += tile.rows)
        for (uint first_strip = 0; first_strip * OUTS < arguments.size[2]; first_strip += tile.strips) {
          const uint planes = min(tile.planes, end - first);
          barrier();
          load_image(arguments.image, (int64_t(first) * arguments.groups * arguments.sums + group * arguments.sums + s) * image_channel,
                     int64_t(arguments.groups) * arguments.sums * image_channel, planes, tile,
                     int(z) * arguments.stride[0] + arguments.origin[0] + int(kz) * arguments.tap[0],
                     int(first_row) * arguments.stride[1] + arguments.origin[1] + int(first_ky) * arguments.tap[1],
                     int(first_strip * OUTS * STRIDE) + arguments.origin[2] + int(first_tap * TAP), arguments.image_size);
          barrier();
          if (plane >= planes || first_row + row >= arguments.size[1] || (first_strip + strip) * OUTS >= arguments.size[2]) continue;
          float gradient[OUTS];
          const int64_t from = ((int64_t(first + plane) * arguments.groups * arguments.rows + channel) * arguments.size[0] + z) *
                                   arguments.size[1] * arguments.size[2] + int64_t(first_row + row) * arguments.size[2];
          [[unroll]] for (uint i = 0; i < OUTS; ++i) {
            const uint at = (first_strip + strip) * OUTS + i;
            gradient[i] = at < arguments.size[2] ? load_float(arguments.gradient, from + at, TYPE) : 0.0;
          }
          [[unroll]] for (uint ky = 0; ky < ROWS; ++ky) {
            if (first_ky + ky >= arguments.taps[1]) break;
            const uint place = (plane * tile.image_rows + row * arguments.stride[1] + ky * arguments.tap[1]) * tile.image_columns +
                               strip * OUTS * STRIDE;
            float window[kWindow];
            read_window(place, window, tile.image_columns - strip * OUTS * STRIDE);
            [[unroll]] for (uint k = 0; k < TAPS; ++k)
              [[unroll]] for (uint i = 0; i < OUTS; ++i) sum[ky * TAPS + k] += gradient[i] * window[i * STRIDE + k * TAP];
          }
        }
  barrier();
  [[unroll]] for (uint i = 0; i < kSums; ++i) image_tile[i * kShares + id] = sum[i];
  barrier();
  if (id >= kSums || first_ky + id / TAPS >= arguments.taps[1] || first_tap + id % TAPS >= arguments.taps[2]) return;
  float total = 0.0;
  for (uint t = 0; t < kThreads; ++t) total += image_tile[id * kShares + t];
  const int64_t kernel = (int64_t(part) * arguments.groups * arguments.rows + channel) * arguments.sums + s;
  const int64_t at = ((kernel * arguments.taps[0] + kz) * arguments.taps[1] + first_ky + id / TAPS) * arguments.taps[2] +
                     first_tap + id % TAPS;
  store_f32(arguments.c, at, total);
}

void main() { compute(MY_ITEM); }
