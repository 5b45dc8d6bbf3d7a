#version 460
// Pooling of planes. A thread computes one element of the result. The arguments list the windows along each axis, as in
// runtime/cpu/pool.h, and for each element of an axis the first and the last window that may contain it. Max pooling takes
// the first of the largest elements, or the last NaN. If windows do not overlap, the gradient of max pooling has a thread
// for each window instead, which writes the cell of the plane around the window: each element is read and written once.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;  // of all tensors: f32, f16 or bf16

const uint kMax = 0, kMaxPut = 1, kMaxPick = 2, kAverage = 3, kAverageSpread = 4, kMaxPutCells = 5;

struct Window {
  int start, count, divisor;
};
struct Windows {
  int first, last;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer WindowList { Window at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HolderList { Windows at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, values, image;  // values: the gradient, or the values to pick from; image: the plane of the windows
  uint count;                      // elements of the result, or windows
  int size[2], out_size[2], dilation[2];
  int divisor;                     // of all windows; 0: the product of the divisors of both axes
  uint windows[2], holders[2];     // offsets of the lists of each axis in these arguments, in bytes
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
  if (dilation == 1) return apart >= 0 && apart < w.count;
  return apart >= 0 && apart % dilation == 0 && apart / dilation < w.count;
}

// Positions have 32 bits: tensors have less than 2^31 elements.
float image_at(int i) {
  return load_float(arguments.image, int64_t(i), TYPE);
}

// The position in the plane of the element that the window takes, or -1 if the window is empty.
int taken(int plane, Window rows, Window columns) {
  int place = -1;
  float best = 0.0;
  for (int r = 0; r < rows.count; ++r) {
    int at = (rows.start + r * arguments.dilation[0]) * arguments.size[1] + columns.start;
    for (int c = 0; c < columns.count; ++c, at += arguments.dilation[1]) {
      const float x = image_at(plane + at);
      if (place < 0 || x > best || lg_isnan(x)) {
        place = at;
        best = x;
      }
    }
  }
  return place;
}
float divisor(Window rows, Window columns) {
  return float(arguments.divisor != 0 ? arguments.divisor : rows.divisor * columns.divisor);
}

// The plane, row and column of element i.
ivec3 place_of(uint i, int rows, int columns) {
  const uint line = i / uint(columns), plane = line / uint(rows);
  return ivec3(plane, line - plane * uint(rows), i - line * uint(columns));
}

// An element of the result from its window of the image.
float from_window(uint i) {
  const ivec3 place = place_of(i, arguments.out_size[0], arguments.out_size[1]);
  const int plane = place.x * arguments.size[0] * arguments.size[1];
  const Window rows = window(0, place.y), columns = window(1, place.z);
  if (MODE == kAverage) {
    float sum = 0.0;
    for (int r = 0; r < rows.count; ++r)
      for (int c = 0; c < columns.count; ++c)
        sum += image_at(plane + (rows.start + r * arguments.dilation[0]) * arguments.size[1] + columns.start +
                        c * arguments.dilation[1]);
    return sum / divisor(rows, columns);
  }
  const int at = taken(plane, rows, columns);
  if (at < 0) return MODE == kMax ? -infinity() : 0.0;
  return MODE == kMax ? image_at(plane + at) : load_float(arguments.values, int64_t(plane + at), TYPE);
}

// The gradient of an element of the image, from the windows that contain it.
float from_holders(uint i) {
  const ivec3 place = place_of(i, arguments.size[0], arguments.size[1]);
  const int plane = place.x * arguments.size[0] * arguments.size[1], in_plane = place.y * arguments.size[1] + place.z;
  const int outs = place.x * arguments.out_size[0] * arguments.out_size[1];
  const Windows in_rows = holders(0, place.y), in_columns = holders(1, place.z);
  float sum = 0.0;
  for (int r = in_rows.first; r <= in_rows.last; ++r) {
    const Window rows = window(0, r);
    if (!holds(rows, arguments.dilation[0], place.y)) continue;
    for (int c = in_columns.first; c <= in_columns.last; ++c) {
      const Window columns = window(1, c);
      if (!holds(columns, arguments.dilation[1], place.z)) continue;
      if (MODE == kMaxPut && taken(plane, rows, columns) != in_plane) continue;
      const float g = load_float(arguments.values, int64_t(outs + r * arguments.out_size[1] + c), TYPE);
      sum += MODE == kMaxPut ? g : g / divisor(rows, columns);
    }
  }
  return sum;
}

// Writes the gradients of all elements from the start of window i to the start of the next; at the ends of an axis to the
// border of the plane.
void put_cell(uint i) {
  const ivec3 place = place_of(i, arguments.out_size[0], arguments.out_size[1]);
  const int plane = place.x * arguments.size[0] * arguments.size[1];
  const Window rows = window(0, place.y), columns = window(1, place.z);
  const int at = taken(plane, rows, columns);
  const float g = load_float(arguments.values, int64_t(i), TYPE);
  const int top = place.y == 0 ? 0 : rows.start, left = place.z == 0 ? 0 : columns.start;
  const int bottom = place.y + 1 < arguments.out_size[0] ? window(0, place.y + 1).start : arguments.size[0];
  const int right = place.z + 1 < arguments.out_size[1] ? window(1, place.z + 1).start : arguments.size[1];
  for (int r = top; r < bottom; ++r)
    for (int c = left; c < right; ++c) {
      const int to = r * arguments.size[1] + c;
      store_float(arguments.result, int64_t(plane + to), TYPE, to == at ? g : 0.0);
    }
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    if (MODE == kMaxPutCells)
      put_cell(i);
    else
      store_float(arguments.result, int64_t(i), TYPE,
                  MODE == kMaxPut || MODE == kAverageSpread ? from_holders(i) : from_window(i));
  }
}
