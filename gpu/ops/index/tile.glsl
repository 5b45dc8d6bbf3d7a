// Sums over the invocations of a workgroup of 256, for kernels that cut rows into tiles.
layout(local_size_x = 256) in;

// The sum of the values of the invocations before this one. All invocations of the workgroup must call it.
// Two steps: an invocation adds up the earlier values in its block of 16 invocations, then the sums of the
// earlier blocks. The values of a block are adjacent, so its invocations read the same words.
shared uvec2 meeting_values[256];
shared uvec2 meeting_blocks[16];
uvec2 sum_before_me(uvec2 value) {
  const uint me = gl_LocalInvocationID.x, block = me / 16;
  barrier();
  meeting_values[me] = value;
  barrier();
  uvec2 sum = uvec2(0);
  for (uint k = block * 16; k < me; ++k) sum += meeting_values[k];
  if (me % 16 == 15) meeting_blocks[block] = sum + value;
  barrier();
  for (uint k = 0; k < block; ++k) sum += meeting_blocks[k];
  return sum;
}
