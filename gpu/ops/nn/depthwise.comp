#version 460
// The result of a convolution of groups with few channels, or the gradient of its input (one remainder of the
// position at a time, as in conv_cooperative.comp): C[sample, channel, position] = sum over the channels i of
// the group and the taps.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "activation.glsl"
#include "depthwise.glsl"
#include "turns.glsl"

layout(constant_id = 6) const bool HAS_BIAS = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t image, weight, c, bias;
  uint samples, groups, rows, sums;  // rows: channels of C in a group; sums: channels of the image in a group
  uint image_size[3], size[3];       // size: of the positions of C
  uint taps[3];
  int stride[3], origin[3], tap[3];
  // offset of the first element, and strides in elements
  int64_t weight_first, weight_group, weight_row, weight_sum, weight_tap[3];
  uint out_size[3], out_stride[3], out_origin[3];
  uint plane_tiles, row_tiles, strip_tiles;
  Tile tile;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  TURN
};

void compute(uint item) {
  const Tile tile = arguments.tile;
  const uint first_strip = item % arguments.strip_tiles * tile.strips;
  item /= arguments.strip_tiles;
  const uint first_row = item % arguments.row_tiles * tile.rows;
  item /= arguments.row_tiles;
  const uint depth = item % arguments.size[0];
  item /= arguments.size[0];
  // Adjacent planes are the same channel of C in adjacent samples, so they share a weight.
  const uint first_sample = item % arguments.plane_tiles * tile.planes;
  const uint channel = item / arguments.plane_tiles, group = channel / arguments.rows;
  const uint planes = min(tile.planes, arguments.samples - first_sample);

  const uint id = gl_LocalInvocationID.x;
  const uint strip = id % tile.strips, row = id / tile.strips % tile.rows, plane = id / tile.strips / tile.rows;
  const bool owns = plane < planes && first_row + row < arguments.size[1] &&
                    (first_strip + strip) * OUTS < arguments.size[2];
  const int64_t image_channel = int64_t(arguments.image_size[0]) * arguments.image_size[1] * arguments.image_size[2];
  const int y = int(first_row) * arguments.stride[1] + arguments.origin[1];
  const int x = int(first_strip * OUTS * STRIDE) + arguments.origin[2];
  int64_t weight = arguments.weight_first + group * arguments.weight_group + channel % arguments.rows * arguments.weight_row;

  float sum[OUTS];
  [[unroll]] for (uint i = 0; i < OUTS; ++i) sum[i] = 0.0;
  for (uint s = 0; s < arguments.sums; ++s, weight += arguments.weight_sum)
    for (uint kz = 0; kz < arguments.taps[0]; ++kz) {
      const int z = int(depth) * arguments.stride[0] + arguments.origin[0] + int(kz) * arguments.tap[0];
      barrier();
      load_image(arguments.image,
                 (int64_t(first_sample) * arguments.groups * arguments.sums + group * arguments.sums + s) * image_channel,
                 int64_t(arguments.groups) * arguments.sums * image_channel, planes, tile, z, y, x, arguments.image_size);
      barrier();
      if (!owns) continue;
      const uint place = (plane * tile.image_rows + row * arguments.stride[1]) * tile.image_columns + strip * OUTS * STRIDE;
      for (uint ky = 0; ky < arguments.taps[1]; ++ky)
        for (uint kx = 0; kx < arguments.taps[2]; kx += TAPS) {
          float window[kWindow];
          read_window(place + ky * arguments.tap[1] * tile.image_columns + kx * TAP, window,
                      tile.image_columns - strip * OUTS * STRIDE - kx * TAP);
          const int64_t from = weight + kz * arguments.weight_tap[0] + ky * arguments.weight_tap[1];
          [[unroll]] for (uint k = 0; k < TAPS; ++k) {
            if (kx + k >= arguments.taps[2]) break;
            const float w = load_float(arguments.weight, from + (kx + k) * arguments.weight_tap[2], TYPE);
            [[unroll]] for (uint i = 0; i < OUTS; ++i) sum[i] += w * window[i * STRIDE + k * TAP];
          }
        }
    }
  if (!owns) return;
  const float bias = HAS_BIAS ? load_float(arguments.bias, channel, TYPE) : 0.0;
  const uint oz = depth * arguments.out_stride[0] + arguments.out_origin[0];
  const uint oy = (first_row + row) * arguments.out_stride[1] + arguments.out_origin[1];
  const int64_t c = (((int64_t(first_sample + plane) * arguments.groups * arguments.rows + channel) * arguments.out_size[0] + oz) *
                         arguments.out_size[1] + oy) * arguments.out_size[2] + arguments.out_origin[2];
  [[unroll]] for (uint i = 0; i < OUTS; ++i) {
    const uint at = (first_strip + strip) * OUTS + i;
    if (at < arguments.size[2]) store_float(arguments.c, c + at * arguments.out_stride[2], TYPE, activated(sum[i] + bias));
  }
}

void main() { compute(MY_ITEM); }
