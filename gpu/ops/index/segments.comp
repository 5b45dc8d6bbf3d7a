#version 460
// Reductions of the rows of equal keys, which are adjacent because the keys are sorted: each row of the target
// is combined with the reduction of its rows, in their order. A list of keys is cut into parts of EACH entries;
// an invocation reduces the rows of one part in its columns. A key whose entries all lie in one part is finished
// there. Otherwise the part leaves its result for the key to the next pass, whose list has two entries for each
// part: for its first and for its last key. No two invocations write the same element.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "combine.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;         // f32 or an integer type
layout(constant_id = 1) const bool FOURS = false;    // columns are vectors of four f32
layout(constant_id = 2) const bool PARTIAL = false;  // the rows are the results that the previous pass left
layout(constant_id = 3) const uint ACROSS = 256;     // invocations that share a part: a power of two
layout(constant_id = 4) const uint REDUCTION = 2;    // of combine.glsl

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t target;    // [outer, size, inner]
  uint64_t source;    // [outer, rows, inner], or [entries, outer, inner] of f32 or i64
  Words keys, order;  // of the entries: the key, and the number of the row
  uint64_t left;      // [2 parts, outer, inner] of f32 or i64
  Words left_keys;
  uint entries, each;
  uint outer, size, inner; // inner: in vectors, if FOURS
  uint rows;
  float alpha;             // factor of sums; an integer if TYPE is one
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kNowhere = 0xffffffffu;
const uint kAhead = 8;  // rows that are loaded together

struct Value {
  vec4 real;  // only x, unless FOURS
  int64_t whole;
};

Value neutral() {
  return Value(vec4(neutral_float(REDUCTION)), neutral_integer(REDUCTION));
}
Value load(uint64_t address, int64_t i) {
  Value value = neutral();
  if (TYPE != kF32)
    value.whole = load_integer(address, i, PARTIAL ? kI64 : TYPE);
  else if (FOURS)
    value.real = load_f32x4(address, i);
  else
    value.real.x = load_f32(address, i);
  return value;
}
void leave(uint entry, uint column, Value value) {
  const int64_t i = int64_t(entry) * arguments.outer * arguments.inner + column;
  if (TYPE != kF32)
    store_integer(arguments.left, i, kI64, value.whole);
  else if (FOURS)
    store_f32x4(arguments.left, i, value.real);
  else
    store_f32(arguments.left, i, value.real.x);
}
void finish(uint key, uint o, uint n, Value value) {
  const int64_t i = (int64_t(o) * arguments.size + key) * arguments.inner + n;
  const bool scaled = REDUCTION == kAdd;
  if (TYPE != kF32)
    store_integer(arguments.target, i, TYPE,
                  combine(REDUCTION, load_integer(arguments.target, i, TYPE),
                          scaled ? int64_t(arguments.alpha) * value.whole : value.whole));
  else if (FOURS)
    store_f32x4(arguments.target, i,
                combine(REDUCTION, load_f32x4(arguments.target, i), scaled ? arguments.alpha * value.real : value.real));
  else
    store_f32(arguments.target, i,
              combine(REDUCTION, load_f32(arguments.target, i),
                      scaled ? arguments.alpha * value.real.x : value.real.x));
}

void reduce_part(uint part, uint column) {
  const uint begin = part * arguments.each, end = min(begin + arguments.each, arguments.entries);
  const uint o = column / arguments.inner, n = column % arguments.inner;
  const uint first_key = arguments.keys.at[begin], last_key = arguments.keys.at[end - 1];
  const bool began_before = begin > 0 && first_key < arguments.size && arguments.keys.at[begin - 1] == first_key;
  const bool goes_on =
      end < arguments.entries && last_key < arguments.size && arguments.keys.at[end] == last_key;
  uint key = first_key;
  bool begins_here = !began_before;
  Value value = neutral();
  for (uint i = begin; i < end; i += kAhead) {
    uint next[kAhead], row_of[kAhead];
    Value row[kAhead];
    [[unroll]] for (uint k = 0; k < kAhead; ++k) {
      const uint at = min(i + k, end - 1);
      next[k] = arguments.keys.at[at];
      row_of[k] = PARTIAL ? at : arguments.order.at[at];
    }
    // No load is conditional, so none waits for another.
    [[unroll]] for (uint k = 0; k < kAhead; ++k)
      row[k] = load(arguments.source,
                    PARTIAL ? int64_t(row_of[k]) * arguments.outer * arguments.inner + column
                            : (int64_t(o) * arguments.rows + row_of[k]) * arguments.inner + n);
    [[unroll]] for (uint k = 0; k < kAhead; ++k)
      if (next[k] >= arguments.size) row[k] = neutral();
    [[unroll]] for (uint k = 0; k < kAhead; ++k) {
      if (i + k >= end) continue;
      if (next[k] != key) {
        if (begins_here && key < arguments.size) finish(key, o, n, value);
        if (!begins_here) leave(2 * part, column, value);
        key = next[k];
        begins_here = true;
        value = neutral();
      }
      value.real = combine(REDUCTION, value.real, row[k].real);
      value.whole = combine(REDUCTION, value.whole, row[k].whole);
    }
  }
  if (begins_here && !goes_on) {
    if (key < arguments.size) finish(key, o, n, value);
  } else {
    leave(2 * part + (begins_here ? 1 : 0), column, value);
  }
  // A part in the middle of a key leaves one result. Its second entry has the same key and the neutral element,
  // so that the entries of the key stay adjacent.
  if (!begins_here && goes_on) leave(2 * part + 1, column, neutral());
  if (column == 0 && arguments.entries > arguments.each) {
    arguments.left_keys.at[2 * part] = began_before ? first_key : kNowhere;
    arguments.left_keys.at[2 * part + 1] = goes_on ? last_key : kNowhere;
  }
}

void main() {
  const uint columns = arguments.outer * arguments.inner, column_groups = (columns + ACROSS - 1) / ACROSS;
  const uint parts = (arguments.entries + arguments.each - 1) / arguments.each;
  const uint beside = gl_LocalInvocationID.x / ACROSS, together = 256 / ACROSS;
  const uint groups = (parts + together - 1) / together;
  for (uint work = gl_WorkGroupID.x; work < groups * column_groups; work += gl_NumWorkGroups.x) {
    const uint part = work / column_groups * together + beside;
    const uint column = work % column_groups * ACROSS + gl_LocalInvocationID.x % ACROSS;
    if (part < parts && column < columns) reduce_part(part, column);
  }
}
