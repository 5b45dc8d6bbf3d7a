#version 460
// Casts many contiguous tensors between floating-point types: a workgroup takes a block of 1024 elements of
// one tensor.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RESULT_TYPE = 6;
layout(constant_id = 1) const uint TYPE = 6;
layout(constant_id = 2) const bool IN_FOURS = false;  // all counts and addresses allow four elements at a time

struct Entry {
  uint64_t result, operand;
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint tensors, blocks;
};
#include "many.glsl"

void main() {
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const Entry e = entries.at[tensor_of(block)];
    const uint start = (block - e.first_block) * 1024;
    if (IN_FOURS) {
      const uint i = start / 4 + gl_LocalInvocationID.x;
      if (i < e.count / 4)
        store_four(e.result, int64_t(i), RESULT_TYPE, load_four(e.operand, int64_t(i), TYPE));
    } else {
      for (uint i = start + gl_LocalInvocationID.x; i < min(start + 1024, e.count); i += 256)
        store_float(e.result, int64_t(i), RESULT_TYPE, load_float(e.operand, int64_t(i), TYPE));
    }
  }
}
