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

shared int64_t units[FEW ? 256 : 1];

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
    words[k] = FEW ? units[uint(from[k])] : load_integer(a.operand, from[k], TYPE);
}
void store(uint k, uint i) {
  if (from[k] == -1)
    note_index(a.fault, a.kind, row_of(quotient(i, a.by_inner)) * a.repeats, chosen[k], uint(a.size));
  else if (SIXTEEN_BYTES)
    U32x4Elements(a.result + int64_t(i) * 16).at = bytes[k];
  else
    store_integer(a.result, int64_t(i), TYPE, words[k]);
}

void main() {
  if (FEW) {
    const uint me = gl_LocalInvocationID.x;
    if (me < uint(a.size)) units[me] = load_integer(a.operand, int64_t(me), TYPE);
    barrier();
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
