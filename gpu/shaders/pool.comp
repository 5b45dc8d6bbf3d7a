#version 460
// Pooling of planes, a thread for each element of the result. Windows come one by one along each axis, as in
// runtime/cpu/pool.h, and with them for each element of an axis the first and the last window that may hold it.
// Max pooling takes the first of the largest, or the last NaN.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;

const uint kMax = 0, kMaxPut = 1, kMaxPick = 2, kAverage = 3, kAverageSpread = 4;

struct Window {
  int start, count, divisor;
};
struct Windows {
  int first, last;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer WindowList { Window at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HolderList { Windows at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, values, image;  // values: what is put or picked; image: what the windows lie on
  uint count;                      // of the result
  int size[2], out_size[2], dilation[2];
  int divisor;                     // of every window; 0: the product of the axes'
  uint windows[2], holders[2];     // of each axis: bytes from the beginning of these arguments
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

Window window(uint axis, int i) {
  return WindowList(uint64_t(arguments) + arguments.windows[axis]).at[i];
}
Windows holders(uint axis, int i) {
  return HolderList(uint64_t(arguments) + arguments.holders[axis]).at[i];
}
bool holds(Window w, int dilation, int i) {
  const int apart = i - w.start;
  return apart >= 0 && apart % dilation == 0 && apart / dilation < w.count;
}

// The place in the plane that the window takes, -1 for none.
int taken(int64_t plane, Window rows, Window columns) {
  int place = -1;
  float best = 0.0;
  for (int r = 0; r < rows.count; ++r)
    for (int c = 0; c < columns.count; ++c) {
      const int at = (rows.start + r * arguments.dilation[0]) * arguments.size[1] + columns.start +
                     c * arguments.dilation[1];
      const float x = load_f32(arguments.image, plane + at);
      if (place < 0 || x > best || lg_isnan(x)) {
        place = at;
        best = x;
      }
    }
  return place;
}
float divisor(Window rows, Window columns) {
  return float(arguments.divisor != 0 ? arguments.divisor : rows.divisor * columns.divisor);
}

// From a window of the image.
float from_window(uint i) {
  const int plane_size = arguments.size[0] * arguments.size[1], planes = arguments.out_size[0] * arguments.out_size[1];
  const int64_t plane = int64_t(i / planes) * plane_size;
  const int place = int(i % planes);
  const Window rows = window(0, place / arguments.out_size[1]), columns = window(1, place % arguments.out_size[1]);
  if (MODE == kAverage) {
    float sum = 0.0;
    for (int r = 0; r < rows.count; ++r)
      for (int c = 0; c < columns.count; ++c)
        sum += load_f32(arguments.image, plane + (rows.start + r * arguments.dilation[0]) * arguments.size[1] +
                                             columns.start + c * arguments.dilation[1]);
    return sum / divisor(rows, columns);
  }
  const int at = taken(plane, rows, columns);
  if (at < 0) return MODE == kMax ? -infinity() : 0.0;
  return load_f32(MODE == kMax ? arguments.image : arguments.values, plane + at);
}

// To an element of the image, from the windows that hold it.
float from_holders(uint i) {
  const int plane_size = arguments.size[0] * arguments.size[1], planes = arguments.out_size[0] * arguments.out_size[1];
  const int64_t plane = int64_t(i / plane_size) * plane_size, outs = int64_t(i / plane_size) * planes;
  const int place = int(i % plane_size), row = place / arguments.size[1], column = place % arguments.size[1];
  const Windows in_rows = holders(0, row), in_columns = holders(1, column);
  float sum = 0.0;
  for (int r = in_rows.first; r <= in_rows.last; ++r) {
    const Window rows = window(0, r);
    if (!holds(rows, arguments.dilation[0], row)) continue;
    for (int c = in_columns.first; c <= in_columns.last; ++c) {
      const Window columns = window(1, c);
      if (!holds(columns, arguments.dilation[1], column)) continue;
      if (MODE == kMaxPut && taken(plane, rows, columns) != place) continue;
      const float g = load_f32(arguments.values, outs + r * arguments.out_size[1] + c);
      sum += MODE == kMaxPut ? g : g / divisor(rows, columns);
    }
  }
  return sum;
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x)
    store_f32(arguments.result, int64_t(i),
              MODE == kMaxPut || MODE == kAverageSpread ? from_holders(i) : from_window(i));
}
