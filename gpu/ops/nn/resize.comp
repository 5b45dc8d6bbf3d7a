#version 460
// Interpolation of images [planes, depth, rows, columns] and its gradient. Lists contain, for each axis, the
// two elements of each result and their weights, and for each element of the image the first and the last
// result that read it. All sums have the order of the results.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint RESULT_TYPE = 6;  // f32, f16 or bf16
layout(constant_id = 2) const uint TYPE = 6;         // type of the operand
layout(constant_id = 3) const bool BLENDS = false;   // some weights are not 0
// an invocation computes four adjacent results, for kResize
layout(constant_id = 4) const bool FOURS = false;

const uint kResize = 0, kSpread = 1;

struct Tap {
  int low, high;
  float weight;  // weight of element `high`
};
struct Axis {
  int size, out_size;  // size of the image; size of the interpolation's result
  uint taps, holders;  // offsets of the lists in bytes
  Divisor by;          // the number of output units along the axis
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer TapList { Tap at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HolderList { ivec2 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand;
  uint64_t lists;  // 0: the lists follow the arguments at the offset `behind`
  uint behind;
  uint count;      // units to write
  Axis axes[3];
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

uint64_t lists() {
  return a.lists != 0 ? a.lists : uint64_t(a) + a.behind;
}
Tap tap(uint axis, int i) {
  return TapList(lists() + a.axes[axis].taps).at[i];
}
ivec2 holders(uint axis, int i) {
  return HolderList(lists() + a.axes[axis].holders).at[i];
}
// Most images have no depth.
bool is_flat() {
  return a.axes[0].size == 1 && a.axes[0].out_size == 1;
}
Tap tap_of_depth(int depth) {
  return is_flat() ? Tap(0, 0, 0.0) : tap(0, depth);
}
float operand_at(int i) {
  return load_float(a.operand, int64_t(i), TYPE);
}

// The four rows of the image that a result blends, as offsets of their first elements.
struct Lines {
  int low, high, deep_low, deep_high;
};

// An element of the blended rows.
float blended(Lines lines, Tap in_depth, Tap down, int column) {
  float x = operand_at(lines.low + column);
  if (BLENDS && down.weight != 0.0) x = (1.0 - down.weight) * x + down.weight * operand_at(lines.high + column);
  if (!BLENDS || in_depth.weight == 0.0) return x;
  float y = operand_at(lines.deep_low + column);
  if (down.weight != 0.0) y = (1.0 - down.weight) * y + down.weight * operand_at(lines.deep_high + column);
  return (1.0 - in_depth.weight) * x + in_depth.weight * y;
}

void put_result(uint i, int plane, int depth, int row, int column) {
  const int rows = a.axes[1].size, columns = a.axes[2].size;
  const Tap in_depth = tap_of_depth(depth), down = tap(1, row);
  const int low = (plane * a.axes[0].size + in_depth.low) * rows, high = (plane * a.axes[0].size + in_depth.high) * rows;
  const Lines lines = Lines((low + down.low) * columns, (low + down.high) * columns, (high + down.low) * columns,
                            (high + down.high) * columns);
  vec4 values = vec4(0.0);
  [[unroll]] for (int j = 0; j < (FOURS ? 4 : 1); ++j) {
    const Tap across = tap(2, column * (FOURS ? 4 : 1) + j);
    values[j] = blended(lines, in_depth, down, across.low);
    if (BLENDS && across.weight != 0.0)
      values[j] = (1.0 - across.weight) * values[j] + across.weight * blended(lines, in_depth, down, across.high);
  }
  if (FOURS)
    store_four(a.result, int64_t(i), RESULT_TYPE, values);
  else
    store_float(a.result, int64_t(i), RESULT_TYPE, values.x);
}

// The weight of element i in a result.
float weight_in(Tap t, int i) {
  if (!BLENDS) return 1.0;
  return (t.low == i ? 1.0 - t.weight : 0.0) + (t.high == i && t.weight != 0.0 ? t.weight : 0.0);
}

void put_gradient(uint i, int plane, int depth, int row, int column) {
  const ivec2 in_depth = is_flat() ? ivec2(0) : holders(0, depth);
  const ivec2 in_rows = holders(1, row), in_columns = holders(2, column);
  float sum = 0.0;
  for (int d = in_depth.x; d <= in_depth.y; ++d) {
    const float of_depth = BLENDS && !is_flat() ? weight_in(tap(0, d), depth) : 1.0;
    for (int r = in_rows.x; r <= in_rows.y; ++r) {
      const int line = ((plane * a.axes[0].out_size + d) * a.axes[1].out_size + r) * a.axes[2].out_size;
      float of_row = 0.0;
      for (int c = in_columns.x; c <= in_columns.y; ++c)
        of_row += (BLENDS ? weight_in(tap(2, c), column) : 1.0) * operand_at(line + c);
      sum += of_depth * (BLENDS ? weight_in(tap(1, r), row) : 1.0) * of_row;
    }
  }
  store_float(a.result, int64_t(i), RESULT_TYPE, sum);
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < a.count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const ivec3 sizes = MODE == kResize ? ivec3(a.axes[0].out_size, a.axes[1].out_size, a.axes[2].out_size / (FOURS ? 4 : 1))
                                        : ivec3(a.axes[0].size, a.axes[1].size, a.axes[2].size);
    const uint line = quotient(i, a.axes[2].by), slice = quotient(line, a.axes[1].by), plane = quotient(slice, a.axes[0].by);
    const int column = int(i - line * sizes.z), row = int(line - slice * sizes.y), depth = int(slice - plane * sizes.x);
    if (MODE == kResize)
      put_result(i, int(plane), depth, row, column);
    else
      put_gradient(i, int(plane), depth, row, column);
  }
}
