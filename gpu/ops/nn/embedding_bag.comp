#version 460
// For each bag the sum or mean of the table's rows with the bag's ids, each row times its scale. Bag b has
// the ids starts[b] … starts[b + 1] - 1; the last bag has the ids up to the end. An invocation adds four
// adjacent elements of a bag, and loads several rows before it adds the first. An id that is no row of the
// table is noted as a fault and adds nothing; starts that do not begin with 0 and grow are a fault, too.
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
  uint id_kind, start_kind;  // kinds of fault
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

const float kDown = 5.42101086242752217e-20;  // 2^-64
const uint kAhead = 8;

int64_t id_at[kAhead];
vec4 row_at[kAhead];  // times its scale

// Loads the part of a row that starts at element `first`, or zeros. No load depends on the ids' being right.
void load_row(uint j, uint k, uint end, uint first) {
  const bool is_row = k < end && id_at[j] >= 0 && id_at[j] < int64_t(a.rows);
  if (k < end && !is_row) note_index(a.fault, a.id_kind, k, id_at[j], a.rows);
  const int64_t at = (is_row ? id_at[j] : 0L) * a.width + first;
  vec4 values = vec4(0);
  if (IN_FOURS)
    values = load_f32x4(a.table + at * 4, 0);
  else
    [[unroll]] for (uint e = 0; e < 4; ++e)
      if (first + e < a.width) values[e] = load_f32(a.table, at + e);
  row_at[j] = is_row ? (SCALED ? load_f32(a.scale, k) * values : values) : vec4(0);
}

void main() {
  const uint fours = (a.width + 3) / 4;
  for (uint i = gl_GlobalInvocationID.x; i < a.bags * fours; i += gl_NumWorkGroups.x * 256) {
    const uint bag = i / fours, first = i % fours * 4;
    const int64_t start = load_integer(a.starts, bag, kI64), count = int64_t(a.ids_count);
    const int64_t next = bag + 1 < a.bags ? load_integer(a.starts, bag + 1, kI64) : count;
    if (bag == 0 && start != 0) note_index(a.fault, a.start_kind, 0, start, a.ids_count);
    if (bag + 1 < a.bags && (next < start || next > count))
      note_index(a.fault, a.start_kind, bag + 1, next, a.ids_count);
    const uint begin = uint(clamp(start, 0L, count)), end = uint(clamp(next, 0L, count));
    vec4 sum = vec4(0), small = vec4(0);  // small: the sum of the elements times kDown
    for (uint k = begin; k < end; k += kAhead) {
      [[unroll]] for (uint j = 0; j < kAhead; ++j) id_at[j] = load_integer(a.ids, min(k + j, end - 1), ID_TYPE);
      [[unroll]] for (uint j = 0; j < kAhead; ++j) load_row(j, k + j, end, first);
      [[unroll]] for (uint j = 0; j < kAhead; ++j)
        if (k + j < end) {
          sum += row_at[j];
          if (MEAN) small += row_at[j] * kDown;
        }
    }
    if (MEAN) {
      const float number = float(max(end - begin, 1u));
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        const bool too_large = lg_isnan(sum[e]) || abs(sum[e]) == infinity();
        sum[e] = (too_large ? small[e] : sum[e]) / number * (too_large ? 1.0 / kDown : 1.0);
      }
    }
    if (IN_FOURS) {
      store_f32x4(a.result, int64_t(i), sum);
      continue;
    }
    [[unroll]] for (uint e = 0; e < 4; ++e)
      if (first + e < a.width) store_f32(a.result, int64_t(bag) * a.width + first + e, sum[e]);
  }
}
