#version 460
// The common norm of many tensors, and their scaling by it, in three dispatches: PASS 0 folds |g|^p of each block of
// 4096 elements of one tensor, PASS 1 folds the blocks to the norm and the factor, PASS 2 scales. The blocks are added
// in the same order every time.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint PASS = 0;
layout(constant_id = 1) const uint NORM = 0;  // 0: p = 2, 1: the largest magnitude, 2: any p
layout(constant_id = 2) const uint TYPE = 6;

const uint kBlock = 4096;

struct Entry {
  uint64_t gradient;
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint64_t parts;   // a float for each block, then the factor
  uint64_t result;  // the norm
  uint tensors, blocks;
  float p, max_norm;
};

shared float meeting[256];

float term(float x) {
  const float magnitude = abs(x);
  return NORM == 0 ? x * x : NORM == 1 ? magnitude : lg_pow(magnitude, p);
}
float fold(float a, float b) {
  return NORM == 1 ? lg_max(a, b) : a + b;
}
float fold_group(float mine) {
  const uint thread = gl_LocalInvocationID.x;
  meeting[thread] = mine;
  barrier();
  for (uint half_of = 128; half_of > 0; half_of /= 2) {
    if (thread < half_of) meeting[thread] = fold(meeting[thread], meeting[thread + half_of]);
    barrier();
  }
  const float all = meeting[0];
  barrier();
  return all;
}

Entry entry_of(uint block) {
  uint low = 0, high = tensors;  // the last tensor whose first block is not above `block`
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (entries.at[middle].first_block <= block)
      low = middle;
    else
      high = middle;
  }
  return entries.at[low];
}

void main() {
  const uint thread = gl_LocalInvocationID.x;
  if (PASS == 1) {
    float sum = 0.0;
    for (uint i = thread; i < blocks; i += 256) sum = fold(sum, load_f32(parts, int64_t(i)));
    sum = fold_group(sum);
    if (thread != 0) return;
    const float norm = NORM == 0 ? sqrt(sum) : NORM == 1 ? sum : lg_pow(sum, 1.0 / p);
    store_f32(result, 0L, norm);
    store_f32(parts, int64_t(blocks), max_norm / (norm + 1e-6));
    return;
  }
  const float factor = PASS == 2 ? load_f32(parts, int64_t(blocks)) : 0.0;
  if (PASS == 2 && factor >= 1.0) return;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const Entry e = entry_of(block);
    const uint start = (block - e.first_block) * kBlock;
    float sum = 0.0;
    for (uint i = start + thread; i < min(start + kBlock, e.count); i += 256) {
      const float g = load_float(e.gradient, int64_t(i), TYPE);
      if (PASS == 0)
        sum = fold(sum, term(g));
      else
        store_float(e.gradient, int64_t(i), TYPE, g * factor);
    }
    if (PASS == 0) {
      sum = fold_group(sum);
      if (thread == 0) store_f32(parts, int64_t(block), sum);
    }
  }
}
