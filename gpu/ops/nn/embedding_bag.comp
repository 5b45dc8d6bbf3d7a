#version 460
// For each bag the sum or mean of the table's rows with the bag's ids, each row times its scale, or the largest
// elements with their positions among the ids. Bag b has the ids starts[b] … starts[b + 1] - 1; the last bag has the
// ids up to the end. An invocation combines four adjacent columns of a bag, and loads several rows before it combines
// the first. Ids that are padding are left out. An id that is no row of the table is noted as a fault and left out;
// starts that do not begin with 0 and grow are a fault, too.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint ID_TYPE = 3;
layout(constant_id = 1) const bool SCALED = false;
layout(constant_id = 2) const bool IN_FOURS = false;  // rows consist of aligned vectors of four elements
layout(constant_id = 3) const uint MODE = 0;
layout(constant_id = 4) const uint TYPE = 6;  // of table and result: f32, with kMax also f16 and bf16

const uint kSum = 0, kMean = 1, kMax = 2;
const bool MEAN = MODE == kMean;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t ids, table, starts, scale;  // starts: i64; scale: f32
  uint64_t result, places, fault;      // places: i64, with kMax
  uint bags, ids_count, rows, width;
  uint id_kind, start_kind;  // kinds of fault
  int64_t padding;           // an id, or -1
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

const float kDown = 5.42101086242752217e-20;  // 2^-64
const uint kAhead = 8;

int64_t id_at[kAhead];
vec4 row_at[kAhead];  // times its scale
bool counts[kAhead];

// Loads the part of a row that starts at element `first`, or zeros. No load depends on the ids' being right.
void load_row(uint j, uint k, uint end, uint first) {
  const bool is_row = k < end && id_at[j] >= 0 && id_at[j] < int64_t(a.rows);
  if (k < end && !is_row) note_index(a.fault, a.id_kind, k, id_at[j], a.rows);
  counts[j] = is_row && id_at[j] != a.padding;
  const int64_t at = (is_row ? id_at[j] : 0L) * a.width + first;
  vec4 values = vec4(0);
  if (IN_FOURS)
    values = load_four(a.table + at * (TYPE == kF32 ? 4 : 2), 0, TYPE);
  else
    [[unroll]] for (uint e = 0; e < 4; ++e)
      if (first + e < a.width) values[e] = load_float(a.table, at + e, TYPE);
  row_at[j] = counts[j] ? (SCALED ? load_f32(a.scale, k) * values : values) : vec4(0);
}

// The largest elements so far, and the position of their ids plus 1, or 0.
vec4 best;
uvec4 after;
void keep_larger(uint j, uint k) {
  [[unroll]] for (uint e = 0; e < 4; ++e) {
    const float x = row_at[j][e];
    const bool wins = x > best[e] || (lg_isnan(x) && !lg_isnan(best[e]));
    if (counts[j] && (wins || after[e] == 0)) {
      best[e] = x;
      after[e] = k + 1;
    }
  }
}
void store(uint bag, uint first, vec4 values) {
  const int64_t at = int64_t(bag) * a.width + first;
  if (IN_FOURS) {
    store_four(a.result + at * (TYPE == kF32 ? 4 : 2), 0, TYPE, values);
    if (MODE != kMax) return;
    const uvec4 upper = mix(uvec4(0), uvec4(0xffffffffu), equal(after, uvec4(0)));
    U32x4Elements(a.places + at * 8).at = uvec4(after.x - 1, upper.x, after.y - 1, upper.y);
    U32x4Elements(a.places + at * 8 + 16).at = uvec4(after.z - 1, upper.z, after.w - 1, upper.w);
    return;
  }
  [[unroll]] for (uint e = 0; e < 4; ++e) {
    if (first + e >= a.width) break;
    store_float(a.result, at + e, TYPE, values[e]);
    if (MODE == kMax) store_integer(a.places, at + e, kI64, int64_t(after[e]) - 1);
  }
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
    uint number = 0;
    best = vec4(0);
    after = uvec4(0);
    vec4 sum = vec4(0), small = vec4(0);  // small: the sum of the elements times kDown
    for (uint k = begin; k < end; k += kAhead) {
      [[unroll]] for (uint j = 0; j < kAhead; ++j) id_at[j] = load_integer(a.ids, min(k + j, end - 1), ID_TYPE);
      [[unroll]] for (uint j = 0; j < kAhead; ++j) load_row(j, k + j, end, first);
      [[unroll]] for (uint j = 0; j < kAhead; ++j)
        if (MODE == kMax) {
          keep_larger(j, k + j);
        } else if (counts[j]) {
          sum += row_at[j];
          if (MEAN) small += row_at[j] * kDown;
          ++number;
        }
    }
    if (MEAN) {
      const float size = float(max(number, 1u));
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        const bool too_large = lg_isnan(sum[e]) || abs(sum[e]) == infinity();
        sum[e] = (too_large ? small[e] : sum[e]) / size * (too_large ? 1.0 / kDown : 1.0);
      }
    }
    store(bag, first, MODE == kMax ? best : sum);
  }
}
