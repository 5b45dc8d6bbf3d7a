#version 460
// Slices selected by index: result[o, i, n] = operand[o, index[i], n], or with OWN operand[o, index[o, i], n], copied bit for
// bit in units of up to 16 bytes. An index that is out of range is noted as a fault and copies nothing. As in copy.comp, all
// loads come before the first store.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;  // an integer type with the size of a unit
layout(constant_id = 1) const uint INDEX_TYPE = 3;
layout(constant_id = 2) const bool SIXTEEN_BYTES = false;  // units have 16 bytes instead
layout(constant_id = 3) const uint PER_THREAD = 1;
layout(constant_id = 4) const bool OWN = false;  // each outer position has its own indices
// The operand has at most 256 units, which each workgroup copies to shared memory first: all invocations read
// the same few addresses.
layout(constant_id = 5) const bool FEW = false;
// Slices are units of 4 or 8 bytes, of one outer position. An invocation accesses four adjacent indices and results as
// vectors; indices are i32 or i64, and there are fewer than 2^31 units to select from.
layout(constant_id = 6) const bool FOURS = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand, index;
  uint64_t fault;
  int64_t size;  // slices to select from
  uint count;   // units of the result
  uint picked;  // indices; of an outer position, if OWN
  uint inner;   // units of a slice
  uint kind;    // kind of fault
  uint repeats; // how often the script gave each index
  Divisor by_inner, by_picked;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

int64_t chosen[PER_THREAD];
int64_t from[PER_THREAD];  // -1: nowhere
int64_t words[PER_THREAD];
uvec4 bytes[PER_THREAD];

const bool kEightBytes = TYPE == kI64;
shared uint units[FEW ? kEightBytes ? 512 : 256 : 1];  // the upper words come last
int64_t shared_unit(uint i) {
  return kEightBytes ? int64_t(packUint2x32(uvec2(units[i], units[256 + i]))) : int64_t(int(units[i]));
}

uint row_of(uint slice) {
  return OWN ? slice : slice - quotient(slice, a.by_picked) * a.picked;
}
void choose(uint k, uint i) {
  chosen[k] = load_integer(a.index, int64_t(row_of(quotient(i, a.by_inner))), INDEX_TYPE);
}
void load(uint k, uint i) {
  const uint slice = quotient(i, a.by_inner), o = quotient(slice, a.by_picked);
  from[k] = -1;
  if (chosen[k] < 0 || chosen[k] >= a.size) return;
  from[k] = (int64_t(o) * a.size + chosen[k]) * int64_t(a.inner) + int64_t(i - slice * a.inner);
  if (SIXTEEN_BYTES)
    bytes[k] = U32x4Elements(a.operand + from[k] * 16).at;
  else
    words[k] = FEW ? shared_unit(uint(from[k])) : load_integer(a.operand, from[k], TYPE);
}
void store(uint k, uint i) {
  if (from[k] == -1)
    note_index(a.fault, a.kind, row_of(quotient(i, a.by_inner)) * a.repeats, chosen[k], uint(a.size));
  else if (SIXTEEN_BYTES)
    U32x4Elements(a.result + int64_t(i) * 16).at = bytes[k];
  else
    store_integer(a.result, int64_t(i), TYPE, words[k]);
}

// Indices i ... i + 3. `faults`: which of them are no unit. The last one of all stands for those after it.
uvec4 four_indices(uint i, out bvec4 faults) {
  uvec4 low, high = uvec4(0);
  if (i + 4 > a.count) {
    [[unroll]] for (uint v = 0; v < 4; ++v) {
      const uvec2 given = unpackUint2x32(uint64_t(load_integer(a.index, int64_t(min(i + v, a.count - 1)), INDEX_TYPE)));
      low[v] = given.x;
      high[v] = given.y;
    }
  } else if (INDEX_TYPE == kI64) {
    const uvec4 begin = U32x4Elements(a.index + uint64_t(i) * 8).at, end = U32x4Elements(a.index + uint64_t(i) * 8 + 16).at;
    low = uvec4(begin.xz, end.xz);
    high = uvec4(begin.yw, end.yw);
  } else {
    low = U32x4Elements(a.index + uint64_t(i) * 4).at;
  }
  faults = bvec4(uvec4(notEqual(high, uvec4(0))) | uvec4(greaterThanEqual(low, uvec4(uint(a.size)))));
  return low;
}
void pick_four(uint i) {
  bvec4 faults;
  const uvec4 index = four_indices(i, faults);
  uvec4 lower, upper = uvec4(0);
  [[unroll]] for (uint v = 0; v < 4; ++v) {
    const uint at = faults[v] ? 0 : index[v];
    if (FEW) {
      lower[v] = units[at];
      if (kEightBytes) upper[v] = units[256 + at];
    } else if (kEightBytes) {
      const uvec2 unit = U32x2Elements(a.operand + uint64_t(at) * 8).at;
      lower[v] = unit.x;
      upper[v] = unit.y;
    } else {
      lower[v] = uint(I32Element(a.operand + uint64_t(at) * 4).at);
    }
  }
  if (any(faults) || i + 4 > a.count) {
    [[unroll]] for (uint v = 0; v < 4; ++v) {
      if (i + v >= a.count) break;
      if (faults[v])
        note_index(a.fault, a.kind, (i + v) * a.repeats, load_integer(a.index, int64_t(i + v), INDEX_TYPE), uint(a.size));
      else if (kEightBytes)
        U32x2Elements(a.result + uint64_t(i + v) * 8).at = uvec2(lower[v], upper[v]);
      else
        I32Element(a.result + uint64_t(i + v) * 4).at = int(lower[v]);
    }
    return;
  }
  if (kEightBytes) {
    U32x4Elements(a.result + uint64_t(i) * 8).at = uvec4(lower.x, upper.x, lower.y, upper.y);
    U32x4Elements(a.result + uint64_t(i) * 8 + 16).at = uvec4(lower.z, upper.z, lower.w, upper.w);
  } else {
    U32x4Elements(a.result + uint64_t(i) * 4).at = lower;
  }
}

void main() {
  if (FEW) {
    const uint me = gl_LocalInvocationID.x;
    if (me < uint(a.size)) {
      const uvec2 unit = unpackUint2x32(uint64_t(load_integer(a.operand, int64_t(me), TYPE)));
      units[me] = unit.x;
      if (kEightBytes) units[256 + me] = unit.y;
    }
    barrier();
  }
  if (FOURS) {
    const uint fours = (a.count + 3) / 4;
    for (uint f = gl_GlobalInvocationID.x; f < fours; f += gl_NumWorkGroups.x * gl_WorkGroupSize.x) pick_four(f * 4);
    return;
  }
  const uint width = gl_WorkGroupSize.x * PER_THREAD, blocks = (a.count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) choose(k, first + k * gl_WorkGroupSize.x);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) load(k, first + k * gl_WorkGroupSize.x);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) store(k, first + k * gl_WorkGroupSize.x);
  }
}
