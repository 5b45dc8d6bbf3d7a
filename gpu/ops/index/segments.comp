#version 460
// Reductions of the rows of equal keys, which are adjacent because the keys are sorted: each row of the target
// is combined with the reduction of its rows, in their order. A list of keys is cut into parts of `each` entries;
// an invocation reduces the rows of one part in its columns. A key whose entries all lie in one part is finished
// there. The other results of a workgroup's parts are combined in a segmented scan (Blelloch, "Prefix sums and
// their applications", 1990). What belongs to keys that begin before these parts or go on after them is left to
// the next pass, whose list has two entries for each workgroup: for the key at its begin and at its end. No two
// invocations write the same element.
// MEAN: the target becomes the mean of these rows, and of itself if it counts. The sum may overflow where the
// mean does not, so elements are also added times 2^-64.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "combine.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;         // f32 or an integer type
layout(constant_id = 1) const bool FOURS = false;    // columns are vectors of four f32
layout(constant_id = 2) const bool PARTIAL = false;  // the rows are the results that the previous pass left
layout(constant_id = 3) const uint ACROSS = 256;     // invocations that share a part: a power of two
layout(constant_id = 4) const uint REDUCTION = 2;    // of combine.glsl
layout(constant_id = 5) const bool ORDERED = false;  // the rows are in the order of the entries
layout(constant_id = 6) const bool MEAN = false;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t target;    // [outer, size, inner]
  uint64_t source;    // [outer, rows, inner], or [entries, outer, inner] of f32 or i64
  Words keys, order;  // of the entries: the key, and the number of the row
  uint64_t left;      // [2 workgroups, outer, inner] of f32 or i64
  Words left_keys;
  // MEAN: how many rows have been added; the sums of elements times 2^-64; the number of each row of the target,
  // as f32 [outer, size, inner]
  Words counts, left_counts;
  uint64_t small, left_small, numbers;
  uint entries, each;
  uint outer, size, inner;  // inner: in vectors, if FOURS
  uint rows;
  float alpha;              // factor of sums; an integer if TYPE is one
  uint self;                // MEAN: 1 if the target's own rows count
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kNowhere = 0xffffffffu;
const uint kAhead = 8;  // rows that are loaded together
const float kDown = 5.42101086242752217e-20;  // 2^-64

struct Value {
  vec4 real;   // only x, unless FOURS
  vec4 small;  // MEAN
  int64_t whole;
  uint count;  // MEAN
};

Value neutral() {
  return Value(vec4(neutral_float(REDUCTION)), vec4(0), neutral_integer(REDUCTION), 0);
}
Value combined(Value a, Value b) {
  if (TYPE == kF32)
    a.real = combine(REDUCTION, a.real, b.real);
  else
    a.whole = combine(REDUCTION, a.whole, b.whole);
  if (MEAN) {
    a.small += b.small;
    a.count += b.count;
  }
  return a;
}
vec4 load_reals(uint64_t address, int64_t i) {
  return FOURS ? load_f32x4(address, i) : vec4(load_f32(address, i), 0.0, 0.0, 0.0);
}
void store_reals(uint64_t address, int64_t i, vec4 value) {
  if (FOURS)
    store_f32x4(address, i, value);
  else
    store_f32(address, i, value.x);
}
Value load(int64_t i, uint entry) {
  Value value = neutral();
  if (TYPE != kF32)
    value.whole = load_integer(arguments.source, i, PARTIAL ? kI64 : TYPE);
  else
    value.real = load_reals(arguments.source, i);
  if (MEAN) {
    value.small = PARTIAL ? load_reals(arguments.small, i) : value.real * kDown;
    value.count = PARTIAL ? arguments.counts.at[entry] : 1;
  }
  return value;
}
void leave(uint entry, uint column, Value value) {
  const int64_t i = int64_t(entry) * arguments.outer * arguments.inner + column;
  if (TYPE != kF32)
    store_integer(arguments.left, i, kI64, value.whole);
  else
    store_reals(arguments.left, i, value.real);
  if (MEAN) {
    store_reals(arguments.left_small, i, value.small);
    if (column == 0) arguments.left_counts.at[entry] = value.count;
  }
}
vec4 mean_of(vec4 sum, vec4 small, float count) {
  vec4 mean = sum / count;
  [[unroll]] for (uint e = 0; e < 4; ++e)
    if (lg_isnan(mean[e]) || abs(mean[e]) == infinity()) mean[e] = small[e] / count * (1.0 / kDown);
  return mean;
}
void finish(uint key, uint o, uint n, Value value) {
  const int64_t i = (int64_t(o) * arguments.size + key) * arguments.inner + n;
  const bool scaled = REDUCTION == kAdd;
  if (MEAN) {
    const vec4 own = arguments.self != 0 ? load_reals(arguments.target, i) : vec4(0.0);
    const float number = float(value.count + arguments.self);
    store_reals(arguments.target, i, mean_of(own + value.real, own * kDown + value.small, number));
    store_reals(arguments.numbers, i, vec4(number));
  } else if (TYPE != kF32) {
    store_integer(arguments.target, i, TYPE,
                  combine(REDUCTION, load_integer(arguments.target, i, TYPE),
                          scaled ? int64_t(arguments.alpha) * value.whole : value.whole));
  } else {
    store_reals(arguments.target, i,
                combine(REDUCTION, load_reals(arguments.target, i), scaled ? arguments.alpha * value.real : value.real));
  }
}

// The results of the parts of a workgroup, for its invocations; vectors in four pieces.
const bool kReal = TYPE == kF32;
const uint kWide = FOURS ? 4 : 1;
shared float met_reals[kReal ? 256 * kWide : 1];
shared float met_smalls[MEAN ? 256 * kWide : 1];
shared int64_t met_wholes[kReal ? 1 : 256];
shared uint met_counts[MEAN ? 256 : 1];
shared bool met_begins[256];

void share(Value value, bool begins) {
  const uint me = gl_LocalInvocationID.x;
  [[unroll]] for (uint e = 0; e < kWide; ++e) {
    if (kReal) met_reals[e * 256 + me] = value.real[e];
    if (MEAN) met_smalls[e * 256 + me] = value.small[e];
  }
  if (!kReal) met_wholes[me] = value.whole;
  if (MEAN) met_counts[me] = value.count;
  met_begins[me] = begins;
}
Value shared_at(uint i) {
  Value value = neutral();
  [[unroll]] for (uint e = 0; e < kWide; ++e) {
    if (kReal) value.real[e] = met_reals[e * 256 + i];
    if (MEAN) value.small[e] = met_smalls[e * 256 + i];
  }
  if (!kReal) value.whole = met_wholes[i];
  if (MEAN) value.count = met_counts[i];
  return value;
}

// Words i ... i + kAhead - 1, i a multiple of 4; the last one before `end` stands for those after it.
void load_words(Words words, uint i, uint end, out uint loaded[kAhead]) {
  if (i + kAhead <= end) {
    [[unroll]] for (uint k = 0; k < kAhead; k += 4) {
      const uvec4 four = U32x4Elements(uint64_t(words) + uint64_t(i + k) * 4).at;
      [[unroll]] for (uint e = 0; e < 4; ++e) loaded[k + e] = four[e];
    }
  } else {
    [[unroll]] for (uint k = 0; k < kAhead; ++k) loaded[k] = words.at[min(i + k, end - 1)];
  }
}

// The key that goes on after a part, or began before it.
struct Open {
  Value value;
  bool begins;  // it begins in this part, or in one that was combined with it
};

// All invocations of the workgroup must call it. Invocations without a part have parts >= `parts`.
void reduce_parts(uint group, uint part, uint parts, uint column) {
  const uint me = gl_LocalInvocationID.x, beside = me / ACROSS, together = 256 / ACROSS;
  const bool works = part < parts && column < arguments.outer * arguments.inner;
  const uint begin = part * arguments.each, end = min(begin + arguments.each, arguments.entries);
  const uint size = arguments.size, o = column / arguments.inner, n = column % arguments.inner;
  bool began_before = false, goes_on = false, ends_here = false;
  uint first_key = kNowhere, last_key = kNowhere;
  Value head = neutral();  // of the key that began before the part, if it ends here
  Open open = Open(neutral(), true);
  if (works) {
    Words keys = arguments.keys, order = arguments.order;
    first_key = keys.at[begin];
    last_key = keys.at[end - 1];
    began_before = begin > 0 && first_key < size && keys.at[begin - 1] == first_key;
    goes_on = end < arguments.entries && last_key < size && keys.at[end] == last_key;
    const int64_t stride = PARTIAL ? int64_t(arguments.outer) * arguments.inner : int64_t(arguments.inner);
    const int64_t first_row = PARTIAL ? int64_t(column) : int64_t(o) * arguments.rows * arguments.inner + n;
    uint key = first_key;
    open.begins = !began_before;
    for (uint i = begin; i < end; i += kAhead) {
      uint next[kAhead], row_of[kAhead];
      Value row[kAhead];
      load_words(keys, i, end, next);
      if (!PARTIAL && !ORDERED)
        load_words(order, i, end, row_of);
      else
        [[unroll]] for (uint k = 0; k < kAhead; ++k) row_of[k] = min(i + k, end - 1);
      // No load is conditional, so none waits for another.
      [[unroll]] for (uint k = 0; k < kAhead; ++k) row[k] = load(first_row + row_of[k] * stride, row_of[k]);
      [[unroll]] for (uint k = 0; k < kAhead; ++k)
        if (next[k] >= size) row[k] = neutral();
      [[unroll]] for (uint k = 0; k < kAhead; ++k) {
        if (i + k >= end) continue;
        if (next[k] != key) {
          if (open.begins && key < size) finish(key, o, n, open.value);
          if (!open.begins) {
            head = open.value;
            ends_here = true;
          }
          key = next[k];
          open = Open(neutral(), true);
        }
        open.value = combined(open.value, row[k]);
      }
    }
    if (!goes_on) {
      if (!open.begins) {
        head = open.value;
        ends_here = true;
      } else if (key < size) {
        finish(key, o, n, open.value);
      }
      open = Open(neutral(), true);
    }
  }

  // The key that goes on after each part, with the earlier parts that have it; `before`: of the part before.
  for (uint apart = ACROSS; apart < 256; apart *= 2) {
    barrier();
    share(open.value, open.begins);
    barrier();
    if (me >= apart && !open.begins) {
      open.value = combined(shared_at(me - apart), open.value);
      open.begins = met_begins[me - apart];
    }
  }
  barrier();
  share(open.value, open.begins);
  barrier();
  Open before = Open(neutral(), false);
  if (beside > 0) before = Open(shared_at(me - ACROSS), met_begins[me - ACROSS]);
  if (!works) return;

  if (ends_here) {
    const Value value = combined(before.value, head);
    if (before.begins)
      finish(first_key, o, n, value);
    else
      leave(2 * group, column, value);
  }
  const bool last = beside == together - 1 || part == parts - 1;
  // A key that goes on through all parts leaves one result. The second entry has the same key and the neutral
  // element, so that the entries of the key stay adjacent.
  if (last && goes_on) {
    if (!open.begins) leave(2 * group, column, open.value);
    leave(2 * group + 1, column, open.begins ? open.value : neutral());
  }
  if (column == 0 && parts > together) {
    if (beside == 0) arguments.left_keys.at[2 * group] = began_before ? first_key : kNowhere;
    if (last) arguments.left_keys.at[2 * group + 1] = goes_on ? last_key : kNowhere;
  }
}

void main() {
  const uint columns = arguments.outer * arguments.inner, column_groups = (columns + ACROSS - 1) / ACROSS;
  const uint parts = (arguments.entries + arguments.each - 1) / arguments.each;
  const uint beside = gl_LocalInvocationID.x / ACROSS, together = 256 / ACROSS;
  const uint groups = (parts + together - 1) / together;
  for (uint work = gl_WorkGroupID.x; work < groups * column_groups; work += gl_NumWorkGroups.x) {
    const uint group = work / column_groups;
    reduce_parts(group, group * together + beside, parts,
                 work % column_groups * ACROSS + gl_LocalInvocationID.x % ACROSS);
  }
}
