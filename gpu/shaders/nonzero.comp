#version 460
// The indices of the nonzero elements, in order. In the first pass work groups count the nonzero elements of their blocks.
// In the second one work group makes running sums of the counts. In the third each nonzero element writes its index to the
// row whose number is the count of nonzero elements before it.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;

const uint kCount = 0, kAddUp = 1, kPut = 2;
const uint kEach = 4, kBlock = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, truth, before;  // before: for each block its nonzero elements; after kAddUp those of all blocks before it
  uint count, dims;
  uint size[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Counts { uint at[]; };

shared uint meeting[256];

bool holds(uint i) {
  return i < arguments.count && uint(U8Element(arguments.truth + i).at) != 0;
}

// The sum of the values of the threads up to this one. All threads of the work group must call it.
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
    const uint rest = i / arguments.size[d];
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
    const uint first = block * kBlock + me * kEach;
    uint own = 0;
    [[unroll]] for (uint k = 0; k < kEach; ++k) own += holds(first + k) ? 1 : 0;
    const uint up_to_me = sum_up_to_me(own);
    if (MODE == kCount) {
      if (me == 255) before.at[block] = up_to_me;
      continue;
    }
    uint row = before.at[block] + up_to_me - own;
    [[unroll]] for (uint k = 0; k < kEach; ++k)
      if (holds(first + k)) put_row(row++, first + k);
  }
}
