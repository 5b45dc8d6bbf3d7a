#version 460
// The indices of the nonzero elements, in order. In the first pass workgroups count the nonzero elements of
// their blocks. In the second pass one workgroup computes running sums of the counts. In the third pass a
// workgroup lists the nonzero elements of a block, and adjacent invocations write the indices of adjacent
// ones.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const bool ALIGNED = false;  // the booleans begin at a multiple of 8 bytes

const uint kCount = 0, kAddUp = 1, kPut = 2;
const uint kEach = 8, kBlock = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  // before: nonzero elements of each block; after kAddUp, of all blocks before it
  uint64_t result, truth, before;
  uint count, dims;
  uint size[8];
  Divisor by[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Counts { uint at[]; };

shared uint meeting[256];
shared uint listed[MODE == kPut ? kBlock : 1];  // positions in the block

// Bit k: whether element first + k is nonzero.
uint nonzero_from(uint first) {
  uint bits = 0;
  if (ALIGNED && first + kEach <= arguments.count) {
    const uvec2 eight = U32x2Elements(arguments.truth + first).at;
    [[unroll]] for (uint k = 0; k < kEach; ++k) bits |= (eight[k / 4] >> k % 4 * 8 & 255u) != 0 ? 1u << k : 0;
    return bits;
  }
  [[unroll]] for (uint k = 0; k < kEach; ++k)
    if (first + k < arguments.count && uint(U8Element(arguments.truth + first + k).at) != 0) bits |= 1u << k;
  return bits;
}

// The sum of the values of the invocations up to this one. All invocations of the workgroup must call it.
uint sum_up_to_me(uint value) {
  const uint me = gl_LocalInvocationID.x;
  barrier();
  meeting[me] = value;
  [[unroll]] for (uint apart = 1; apart < 256; apart *= 2) {
    barrier();
    const uint other = me >= apart ? meeting[me - apart] : 0;
    barrier();
    meeting[me] += other;
  }
  barrier();
  return meeting[me];
}

void put_row(uint row, uint i) {
  const int64_t to = int64_t(row) * int64_t(arguments.dims);
  for (int d = int(arguments.dims) - 1; d >= 0; --d) {
    const uint rest = d == 0 ? 0 : quotient(i, arguments.by[d]);
    store_integer(arguments.result, to + d, kI64, int64_t(i - rest * arguments.size[d]));
    i = rest;
  }
}

void main() {
  const uint me = gl_LocalInvocationID.x, blocks = (arguments.count + kBlock - 1) / kBlock;
  Counts before = Counts(arguments.before);
  if (MODE == kAddUp) {
    const uint each = (blocks + 255) / 256, begin = min(me * each, blocks), end = min(begin + each, blocks);
    uint own = 0;
    for (uint block = begin; block < end; ++block) own += before.at[block];
    uint sum = sum_up_to_me(own) - own;
    for (uint block = begin; block < end; ++block) {
      const uint here = before.at[block];
      before.at[block] = sum;
      sum += here;
    }
    return;
  }
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint bits = nonzero_from(block * kBlock + me * kEach), own = bitCount(bits);
    const uint up_to_me = sum_up_to_me(own);
    if (MODE == kCount) {
      if (me == 255) before.at[block] = up_to_me;
      continue;
    }
    uint at = up_to_me - own;
    for (uint left = bits; left != 0; left &= left - 1) listed[at++] = me * kEach + uint(findLSB(left));
    const uint all = meeting[255];
    barrier();
    for (uint k = me; k < all; k += 256) put_row(before.at[block] + k, block * kBlock + listed[k]);
    barrier();  // the next block overwrites the list
  }
}
