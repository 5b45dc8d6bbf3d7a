#version 460
// col2im: each element of an image is the sum of the elements of the columns [planes, taps, windows] that were copied from it,
// in the order of the windows.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;

struct Axis {
  int size, out_size;  // of the image; windows
  int kernel, stride, padding, dilation;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, columns;
  uint count;
  Divisor by_rows, by_columns;
  Axis axes[2];
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

// The windows that may contain element i.
ivec2 holders(Axis axis, int i) {
  const int first = i + axis.padding - (axis.kernel - 1) * axis.dilation;
  return ivec2(first > 0 ? (first + axis.stride - 1) / axis.stride : 0,
               min((i + axis.padding) / axis.stride, axis.out_size - 1));
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < a.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const Axis down = a.axes[0], across = a.axes[1];
    const uint line = quotient(i, a.by_columns), plane = quotient(line, a.by_rows);
    const int row = int(line - plane * down.size), column = int(i - line * across.size);
    const ivec2 in_rows = holders(down, row), in_columns = holders(across, column);
    float sum = 0.0;
    for (int r = in_rows.x; r <= in_rows.y; ++r) {
      const int apart = row + down.padding - r * down.stride, tap = apart / down.dilation;
      if (tap * down.dilation != apart) continue;
      for (int c = in_columns.x; c <= in_columns.y; ++c) {
        const int beside = column + across.padding - c * across.stride, k = beside / across.dilation;
        if (k * across.dilation != beside) continue;
        const int64_t taps = (int64_t(plane) * down.kernel + tap) * across.kernel + k;
        sum += load_f32(a.columns, (taps * down.out_size + r) * across.out_size + c);
      }
    }
    store_f32(a.result, int64_t(i), sum);
  }
}
