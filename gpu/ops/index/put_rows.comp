#version 460
// result[o, j, n] = source[o, owner[j] - 1, n], or x[o, j, n] where row j has no owner, copied bit for bit in units of up to 16
// bytes. As in copy.comp, all loads come before the first store.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 2;               // an integer type with the size of a unit
layout(constant_id = 1) const bool SIXTEEN_BYTES = false;  // units have 16 bytes instead
layout(constant_id = 2) const uint PER_THREAD = 1;
layout(constant_id = 3) const bool IN_PLACE = false;  // the result is x
layout(constant_id = 4) const bool ONE = false;       // the source is a single unit

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Owners { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, x, source;
  Owners owners;
  uint count;   // units of the result
  uint size;    // rows of the result along the dim
  uint picked;  // rows of the source
  uint inner;   // units of a row
  Divisor by_inner, by_size;
};
layout(push_constant, scalar) uniform Push {
  Arguments a;
};

uint owner[PER_THREAD];
int64_t words[PER_THREAD];
uvec4 bytes[PER_THREAD];

void find(uint k, uint i) {
  const uint slice = quotient(i, a.by_inner);
  owner[k] = a.owners.at[slice - quotient(slice, a.by_size) * a.size];
}
void load(uint k, uint i) {
  if (IN_PLACE && owner[k] == 0) return;
  uint64_t memory = a.x;
  int64_t from = int64_t(i);
  if (owner[k] != 0) {
    const uint slice = quotient(i, a.by_inner), o = quotient(slice, a.by_size);
    memory = a.source;
    from = ONE ? 0L
               : (int64_t(o) * int64_t(a.picked) + int64_t(owner[k] - 1)) * int64_t(a.inner) + int64_t(i - slice * a.inner);
  }
  if (SIXTEEN_BYTES)
    bytes[k] = U32x4Elements(memory + from * 16).at;
  else
    words[k] = load_integer(memory, from, TYPE);
}
void store(uint k, uint i) {
  if (IN_PLACE && owner[k] == 0) return;
  if (SIXTEEN_BYTES)
    U32x4Elements(a.result + int64_t(i) * 16).at = bytes[k];
  else
    store_integer(a.result, int64_t(i), TYPE, words[k]);
}

void main() {
  const uint width = gl_WorkGroupSize.x * PER_THREAD, blocks = (a.count - 1) / width + 1;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * width + gl_LocalInvocationID.x;
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) find(k, first + k * gl_WorkGroupSize.x);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) load(k, first + k * gl_WorkGroupSize.x);
    [[unroll]] for (uint k = 0; k < PER_THREAD; ++k)
      if (first + k * gl_WorkGroupSize.x < a.count) store(k, first + k * gl_WorkGroupSize.x);
  }
}
