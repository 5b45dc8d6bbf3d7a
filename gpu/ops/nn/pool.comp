#version 460
// Pooling of planes. Windows are computed by the rules of runtime/ops/nn/pool_geometry.h: lists of them would be
// read by all invocations at once. Max pooling takes the first of the largest elements, or the last NaN.
//   kMax, kAverage, kMaxPick: LANES invocations compute one element of the result from its window
//   kFind: the same for the position in the plane that a window takes, or -1
//   kMaxPut, kAverageSpread: an invocation computes the gradient of one image element from the windows that
//   contain it, for kMaxPut with the positions of kFind
//   kMaxPutCells: for small windows that do not overlap, an invocation writes the cell of the plane around a
//   window, so that each element is read and written once
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;  // type of all tensors: f32, f16 or bf16
layout(constant_id = 2) const bool ADAPTIVE = false;
layout(constant_id = 3) const bool FAR = false;       // products of positions and sizes need more than 32 bits
layout(constant_id = 4) const uint LANES = 1;         // powers of two: invocations per window
layout(constant_id = 5) const uint LANES_ACROSS = 1;  // invocations along the columns

const uint kMax = 0, kMaxPut = 1, kMaxPick = 2, kAverage = 3, kAverageSpread = 4, kMaxPutCells = 5, kFind = 6;

struct Axis {
  int size, out_size;
  int kernel, stride, padding, dilation;
  int with_padding;
  Divisor by_size, by_out;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Places { int at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, values, image;  // values: the gradient, or the values to pick from; image: the plane of the windows
  Places places;                   // the position that each window takes
  uint count;                      // elements of the result, or windows
  int divisor;                     // for all windows; 0: the product of the divisors of both axes
  Axis axes[2];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

struct Window {
  int start, count, divisor;
};

// Floor of (i in + extra) / n.
int share(int i, int size, int n, int extra) {
  if (FAR) return int((uint64_t(i) * uint64_t(size) + uint64_t(extra)) / uint64_t(n));
  return int((uint(i) * uint(size) + uint(extra)) / uint(n));
}

// Same as pool_window() in runtime/ops/nn/pool.cpp.
Window window(uint axis, int i) {
  const Axis a = arguments.axes[axis];
  if (ADAPTIVE) {
    const int start = share(i, a.size, a.out_size, 0), count = share(i + 1, a.size, a.out_size, a.out_size - 1) - start;
    return Window(start, count, count);
  }
  const int start = i * a.stride - a.padding;
  int first = max(-start, 0), last = max(a.size - start, 0);
  if (a.dilation != 1) {
    first = (first + a.dilation - 1) / a.dilation;
    last = (last + a.dilation - 1) / a.dilation;
  }
  const int count = max(0, min(a.kernel, last) - first);
  const int padded = min(start + a.kernel, a.size + a.padding) - start;
  return Window(count > 0 ? start + first * a.dilation : 0, count, a.with_padding != 0 ? padded : count);
}
// The first and the last window that may contain element i. With a dilation of 1, all windows between them
// contain it, too.
ivec2 holders(uint axis, int i) {
  const Axis a = arguments.axes[axis];
  if (ADAPTIVE) return ivec2(share(i, a.out_size, a.size, 0), share(i + 1, a.out_size, a.size, a.size - 1) - 1);
  const int first = i + a.padding - (a.kernel - 1) * a.dilation;
  return ivec2(first > 0 ? (first + a.stride - 1) / a.stride : 0, min((i + a.padding) / a.stride, a.out_size - 1));
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

float divisor(Window rows, Window columns) {
  return float(arguments.divisor != 0 ? arguments.divisor : rows.divisor * columns.divisor);
}

// The plane, row and column of element i.
ivec3 place_of(uint i, int rows, Divisor by_rows, int columns, Divisor by_columns) {
  const uint line = quotient(i, by_columns), plane = quotient(line, by_rows);
  return ivec3(plane, line - plane * uint(rows), i - line * uint(columns));
}
ivec3 place_of_window(uint i) {
  return place_of(i, arguments.axes[0].out_size, arguments.axes[0].by_out, arguments.axes[1].out_size,
                  arguments.axes[1].by_out);
}

// What one or several invocations found in a window: a sum, and the sum of the elements times kDown; or the
// element that the window takes and its position in the plane, -1 if there is none.
const float kDown = 5.42101086242752217e-20;  // 2^-64
struct Found {
  float value, small;
  int place;
};
shared Found meeting[LANES > 1 ? 256 : 1];

// Merges the results of two parts of a window.
Found merged(Found a, Found b) {
  if (MODE == kAverage) return Found(a.value + b.value, a.small + b.small, 0);
  if (a.place < 0) return b;
  if (b.place < 0) return a;
  if (lg_isnan(a.value) || lg_isnan(b.value))
    return lg_isnan(b.value) && (!lg_isnan(a.value) || b.place > a.place) ? b : a;
  return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}

// The part of the window that invocation `lane` of the window processes.
Found look(int plane, Window rows, Window columns, uint lane) {
  Found found = Found(0.0, 0.0, MODE == kAverage ? 0 : -1);
  for (int r = int(lane / LANES_ACROSS); r < rows.count; r += int(LANES / LANES_ACROSS)) {
    const int line = (rows.start + r * arguments.axes[0].dilation) * arguments.axes[1].size + columns.start;
    for (int c = int(lane % LANES_ACROSS); c < columns.count; c += int(LANES_ACROSS)) {
      const int at = line + c * arguments.axes[1].dilation;
      const float x = image_at(plane + at);
      if (MODE == kAverage) {
        found.value += x;
        found.small += x * kDown;
      } else if (found.place < 0 || x > found.value || lg_isnan(x)) {
        found = Found(x, 0.0, at);
      }
    }
  }
  return found;
}

void put_window(uint i, int plane, Window rows, Window columns, Found found) {
  if (MODE == kFind) {
    arguments.places.at[i] = found.place;
    return;
  }
  float value = found.value;
  if (MODE == kAverage) {
    const bool too_large = lg_isnan(value) || abs(value) == infinity();
    value = (too_large ? found.small : value) / divisor(rows, columns) * (too_large ? 1.0 / kDown : 1.0);
  }
  if (MODE == kMax && found.place < 0) value = -infinity();
  if (MODE == kMaxPick)
    value = found.place < 0 ? 0.0 : load_float(arguments.values, int64_t(plane + found.place), TYPE);
  store_float(arguments.result, int64_t(i), TYPE, value);
}

void pool_windows() {
  const uint me = gl_LocalInvocationID.x, lane = me % LANES, together = 256 / LANES;
  const uint blocks = (arguments.count - 1) / together + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint i = block * together + me / LANES;
    const bool exists = i < arguments.count;
    const ivec3 place = place_of_window(exists ? i : 0);
    const int plane = place.x * arguments.axes[0].size * arguments.axes[1].size;
    const Window rows = window(0, place.y), columns = window(1, place.z);
    Found found = look(plane, rows, columns, lane);
    if (LANES > 1) {
      meeting[me] = found;
      [[unroll]] for (uint apart = LANES / 2; apart > 0; apart /= 2) {
        barrier();
        if (lane < apart) meeting[me] = found = merged(found, meeting[me + apart]);
      }
      barrier();  // the next block overwrites the results
    }
    if (exists && lane == 0) put_window(i, plane, rows, columns, found);
  }
}

// The gradient of an element of the image, from the windows that contain it.
float from_holders(uint i) {
  const Axis down = arguments.axes[0], across = arguments.axes[1];
  const ivec3 place = place_of(i, down.size, down.by_size, across.size, across.by_size);
  const int in_plane = place.y * across.size + place.z, outs = place.x * down.out_size * across.out_size;
  const ivec2 in_rows = holders(0, place.y), in_columns = holders(1, place.z);
  float sum = 0.0;
  for (int r = in_rows.x; r <= in_rows.y; ++r) {
    const Window rows = window(0, r);
    if (MODE == kAverageSpread && !holds(rows, down.dilation, place.y)) continue;
    for (int c = in_columns.x; c <= in_columns.y; ++c) {
      const int w = outs + r * across.out_size + c;
      if (MODE == kMaxPut) {
        if (arguments.places.at[w] == in_plane) sum += load_float(arguments.values, int64_t(w), TYPE);
        continue;
      }
      const Window columns = window(1, c);
      if (holds(columns, across.dilation, place.z))
        sum += load_float(arguments.values, int64_t(w), TYPE) / divisor(rows, columns);
    }
  }
  return sum;
}

// Writes the gradients of all elements from the start of window i to the start of the next one; at the ends
// of an axis up to the border of the plane.
void put_cell(uint i) {
  const Axis down = arguments.axes[0], across = arguments.axes[1];
  const ivec3 place = place_of_window(i);
  const int plane = place.x * down.size * across.size;
  const Window rows = window(0, place.y), columns = window(1, place.z);
  const int at = look(plane, rows, columns, 0).place;
  const float g = load_float(arguments.values, int64_t(i), TYPE);
  const int top = place.y == 0 ? 0 : rows.start, left = place.z == 0 ? 0 : columns.start;
  const int bottom = place.y + 1 < down.out_size ? window(0, place.y + 1).start : down.size;
  const int right = place.z + 1 < across.out_size ? window(1, place.z + 1).start : across.size;
  for (int r = top; r < bottom; ++r)
    for (int c = left; c < right; ++c) {
      const int to = r * across.size + c;
      store_float(arguments.result, int64_t(plane + to), TYPE, to == at ? g : 0.0);
    }
}

void main() {
  if (MODE == kMax || MODE == kMaxPick || MODE == kAverage || MODE == kFind) {
    pool_windows();
    return;
  }
  for (uint i = gl_GlobalInvocationID.x; i < arguments.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    if (MODE == kMaxPutCells)
      put_cell(i);
    else
      store_float(arguments.result, int64_t(i), TYPE, from_holders(i));
  }
}
