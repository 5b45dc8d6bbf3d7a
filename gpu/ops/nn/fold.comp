#version 460
// col2im: each element of an image is the sum of the column elements [planes, taps, windows] that were copied
// from it, in the order of the windows.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool DILATED = false;

struct Axis {
  int size, out_size;  // size of the image; number of windows
  int kernel, stride, padding, dilation;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, columns;
  uint count;
  Divisor by_slices, by_rows, by_columns;
  Axis axes[3];
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

// The range of windows that may contain element i.
ivec2 holders(Axis axis, int i) {
  const int first = i + axis.padding - (axis.kernel - 1) * axis.dilation;
  return ivec2(first > 0 ? (first + axis.stride - 1) / axis.stride : 0,
               min((i + axis.padding) / axis.stride, axis.out_size - 1));
}
// Which tap of a window lies at element i, or -1.
int tap_at(Axis axis, int window, int i) {
  const int apart = i + axis.padding - window * axis.stride;
  if (!DILATED) return apart;
  const int tap = apart / axis.dilation;
  return tap * axis.dilation == apart ? tap : -1;
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < a.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const Axis deep = a.axes[0], down = a.axes[1], across = a.axes[2];
    const uint line = quotient(i, a.by_columns), layer = quotient(line, a.by_rows);
    const uint plane = quotient(layer, a.by_slices);
    const int slice = int(layer - plane * deep.size), row = int(line - layer * down.size);
    const int column = int(i - line * across.size);
    const ivec2 in_slices = holders(deep, slice), in_rows = holders(down, row);
    const ivec2 in_columns = holders(across, column);
    float sum = 0.0;
    for (int s = in_slices.x; s <= in_slices.y; ++s) {
      const int t = tap_at(deep, s, slice);
      if (t < 0) continue;
      for (int r = in_rows.x; r <= in_rows.y; ++r) {
        const int j = tap_at(down, r, row);
        if (j < 0) continue;
        for (int c = in_columns.x; c <= in_columns.y; ++c) {
          const int k = tap_at(across, c, column);
          if (k < 0) continue;
          const int64_t taps =
              ((int64_t(plane) * deep.kernel + t) * down.kernel + j) * across.kernel + k;
          const int64_t windows = (taps * deep.out_size + s) * down.out_size + r;
          sum += load_f32(a.columns, windows * across.out_size + c);
        }
      }
    }
    store_f32(a.result, int64_t(i), sum);
  }
}
