#version 460
// For each bag the sum or mean of the table's rows with the bag's ids, each row times its scale. Bag b has
// the ids starts[b] … starts[b + 1] - 1; the last bag has the ids up to the end. An invocation adds four
// adjacent elements of a bag. An id that is no row of the table is noted as a fault and adds nothing.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint ID_TYPE = 3;
layout(constant_id = 1) const bool SCALED = false;
layout(constant_id = 2) const bool IN_FOURS = false;  // rows consist of aligned vectors of four elements
layout(constant_id = 3) const bool MEAN = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t ids, table, starts, scale;  // starts: i64; table and scale: f32
  uint64_t result, fault;
  uint bags, ids_count, rows, width;
  uint kind;  // kind of fault
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

const float kDown = 5.42101086242752217e-20;  // 2^-64

void main() {
  const uint fours = (a.width + 3) / 4;
  for (uint i = gl_GlobalInvocationID.x; i < a.bags * fours; i += gl_NumWorkGroups.x * 256) {
    const uint bag = i / fours, first = i % fours * 4;
    const uint begin = uint(load_integer(a.starts, bag, kI64));
    const uint end = bag + 1 < a.bags ? uint(load_integer(a.starts, bag + 1, kI64)) : a.ids_count;
    vec4 sum = vec4(0), small = vec4(0);  // small: the sum of the elements times kDown
    for (uint k = begin; k < end; ++k) {
      const int64_t row = load_integer(a.ids, k, ID_TYPE);
      if (row < 0 || row >= int64_t(a.rows)) {
        note_index(a.fault, a.kind, k, row, a.rows);
        continue;
      }
      const int64_t at = row * a.width + first;
      vec4 values = vec4(0);
      if (IN_FOURS)
        values = load_f32x4(a.table + at * 4, 0);
      else
        [[unroll]] for (uint e = 0; e < 4; ++e)
          if (first + e < a.width) values[e] = load_f32(a.table, at + e);
      const vec4 scaled = SCALED ? load_f32(a.scale, k) * values : values;
      sum += scaled;
      if (MEAN) small += scaled * kDown;
    }
    if (MEAN) {
      const float count = float(max(end - begin, 1u));
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        const bool too_large = lg_isnan(sum[e]) || abs(sum[e]) == infinity();
        sum[e] = (too_large ? small[e] : sum[e]) / count * (too_large ? 1.0 / kDown : 1.0);
      }
    }
    [[unroll]] for (uint e = 0; e < 4; ++e)
      if (first + e < a.width) store_f32(a.result, int64_t(bag) * a.width + first + e, sum[e]);
  }
}
