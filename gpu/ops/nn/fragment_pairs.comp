#version 460
// Writes 1 if components 2 i and 2 i + 1 of a fragment of sums are adjacent columns of the matrix, in all
// invocations; else 0. Each invocation loads its elements' numbers. Written against GL_NV_cooperative_matrix,
// like matrix_tile.glsl.
#extension GL_GOOGLE_include_directive : require
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#include "memory.glsl"

layout(local_size_x_id = 0) in;  // one subgroup
layout(constant_id = 1) const uint COMPONENTS = 8;
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result;  // u32
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared uvec4 memory[64];
shared uint found;

#define CHECK_PAIR(c, d)                                                                    \
  if (d < COMPONENTS) {                                                                     \
    const uint low = uint(numbers[c]), high = uint(numbers[d]);                             \
    adjacent = adjacent && low % 2 == 0 && high == low + 1;                                 \
  }

void main() {
  for (uint i = gl_LocalInvocationID.x; i < 64; i += gl_WorkGroupSize.x)
    memory[i] = floatBitsToUint(vec4(i * 4) + vec4(0, 1, 2, 3));
  if (gl_LocalInvocationID.x == 0) found = 1;
  barrier();
  fcoopmatNV<32, gl_ScopeSubgroup, M, N> numbers;
  coopMatLoadNV(numbers, memory, 0, 4, false);
  bool adjacent = true;
  CHECK_PAIR(0, 1) CHECK_PAIR(2, 3) CHECK_PAIR(4, 5) CHECK_PAIR(6, 7)
  if (!adjacent) atomicAnd(found, 0);
  barrier();
  if (gl_LocalInvocationID.x == 0) I32Element(arguments.result).at = int(found);
}
