#version 460
// The common norm of many tensors, (sum |x|^p)^(1/p) or the largest magnitude, and the scaling of the tensors
// to a maximal norm. For each block of 4096 elements a workgroup stores the largest finite magnitude m and
// the sum of (|x| / m)^p, which neither overflows nor underflows. One workgroup computes the norm from them.
// A third pass multiplies all elements by min(1, max_norm / (norm + 1e-6)).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;
layout(constant_id = 2) const uint POWER = 0;

const uint kBlocks = 0, kNorm = 1, kScale = 2;
const uint kSquares = 0, kLargest = 1, kAny = 2;
const uint kEach = 16;  // elements per invocation; a block has 256 times as many

struct Entry {
  uint64_t from;
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint64_t partial, norm;  // partial: m and the sum of each block
  uint tensors, blocks;
  float power, max_norm;
};
#include "many.glsl"

shared float meeting[256];

// The largest, or the sum, of the values of all invocations. Every invocation of the workgroup must call it.
float meet(float value, bool largest) {
  const uint me = gl_LocalInvocationID.x;
  barrier();
  meeting[me] = value;
  [[unroll]] for (uint apart = 128; apart > 0; apart /= 2) {
    barrier();
    if (me < apart)
      meeting[me] = largest ? max(meeting[me], meeting[me + apart]) : meeting[me] + meeting[me + apart];
  }
  barrier();
  return meeting[0];
}

float raised(float x) {  // x is at least 0, or NaN
  return POWER == kAny ? lg_pow(x, power) : x * x;
}

void take_block(uint block) {
  const Entry e = entries.at[tensor_of(block)];
  const uint start = (block - e.first_block) * kEach * 256 + gl_LocalInvocationID.x;
  float values[kEach];
  float most = 0.0;
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    const uint at = start + i * 256;
    values[i] = at < e.count ? abs(load_float(e.from, int64_t(at), TYPE)) : 0.0;
    if (values[i] < infinity()) most = max(most, values[i]);
  }
  most = meet(most, true);
  const float scale = most > 0.0 ? most : 1.0;
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    const float part = lg_quotient(values[i], scale);
    sum += values[i] == 0.0 ? 0.0 : raised(part);
  }
  sum = meet(sum, false);
  if (gl_LocalInvocationID.x == 0) {
    store_f32(partial, int64_t(block) * 2, most);
    store_f32(partial, int64_t(block) * 2 + 1, sum);
  }
}

void add_up() {
  float most = 0.0;
  for (uint block = gl_LocalInvocationID.x; block < blocks; block += 256)
    most = max(most, load_f32(partial, int64_t(block) * 2));
  most = meet(most, true);
  const float scale = most > 0.0 ? most : 1.0;
  float sum = 0.0;
  for (uint block = gl_LocalInvocationID.x; block < blocks; block += 256) {
    const float size = load_f32(partial, int64_t(block) * 2), part = load_f32(partial, int64_t(block) * 2 + 1);
    sum += size > 0.0 ? part * raised(lg_quotient(size, scale)) : part;
  }
  sum = meet(sum, false);
  if (gl_LocalInvocationID.x != 0) return;
  float result = sum;  // NaN or infinite
  if (!lg_isnan(sum) && !lg_isinf(sum))
    result = POWER == kLargest ? most : POWER == kAny ? scale * lg_pow(sum, 1.0 / power) : scale * sqrt(sum);
  store_f32(norm, 0, result);
}

void main() {
  if (MODE == kNorm) {
    add_up();
    return;
  }
  const float factor = MODE == kScale ? lg_quotient(max_norm, load_f32(norm, 0) + 1e-6) : 1.0;
  if (MODE == kScale && factor >= 1.0) return;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    if (MODE == kBlocks) {
      take_block(block);
      continue;
    }
    const Entry e = entries.at[tensor_of(block)];
    const uint start = (block - e.first_block) * kEach * 256 + gl_LocalInvocationID.x;
    [[unroll]] for (uint i = 0; i < kEach; ++i) {
      const uint at = start + i * 256;
      if (at < e.count)
        store_float(e.from, int64_t(at), TYPE, load_float(e.from, int64_t(at), TYPE) * factor);
    }
  }
}
