// Work on rows: the elements along one dim of up to four tensors that are laid out alike or not. A work group
// of 256 threads serves 256 / ALONG rows with ALONG threads each.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint ALONG = 256;
// Rows that lie side by side in fours, from multiples of 16 bytes on, are read once into so many vectors a thread;
// 0: element by element, as often as they are needed.
layout(constant_id = 10) const uint HELD = 0;
const uint kHeld = HELD == 0 ? 1 : HELD;
// Invocations of a subgroup, where the threads of a row are those of one or several: they meet in it, and only whole
// subgroups meet in shared memory. 0: all do.
layout(constant_id = 11) const uint SUBGROUP = 0;
const uint kSubgroups = ALONG / (SUBGROUP == 0 ? ALONG : SUBGROUP);  // of a row

struct Rows {
  uint count, extent;
  uint dims;
  uint size[8];
  int64_t stride[4][8];  // from row to row
  int64_t step[4];       // along a row
};

const uint kRowsPerGroup = 256 / ALONG;
shared float meeting[256];

uint thread() {
  return SUBGROUP > 0 ? gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID : gl_LocalInvocationID.x;
}
uint along() {
  return thread() % ALONG;
}
uint beside() {
  return thread() / ALONG;
}

// What a thread holds of a row of `fours` vectors from address `row` on; beyond its end `otherwise`.
void hold(out vec4 held[kHeld], uint64_t row, uint fours, float otherwise) {
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    const uint i = along() + h * ALONG;
    held[h] = i < fours ? load_f32x4(row, int64_t(i)) : vec4(otherwise);
  }
}
void put(vec4 held[kHeld], uint64_t row, uint fours) {
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    const uint i = along() + h * ALONG;
    if (i < fours) store_f32x4(row, int64_t(i), held[h]);
  }
}
float in_all(vec4 v) {
  return (v.x + v.y) + (v.z + v.w);
}

// What the subgroups of a row have found, with all its threads.
void meet(float value) {
  barrier();
  if (gl_SubgroupInvocationID == 0) meeting[gl_SubgroupID] = value;
  barrier();
}

// The threads of a row get the fold of all their values. Every thread of the group must call these.
float row_sum(float value) {
  if (ALONG == 1) return value;
  if (SUBGROUP > 0) {
    value = subgroupAdd(value);
    if (kSubgroups == 1) return value;
    meet(value);
    value = 0.0;
    [[unroll]] for (uint i = 0; i < kSubgroups; ++i) value += meeting[beside() * kSubgroups + i];
    return value;
  }
  barrier();
  meeting[thread()] = value;
  [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
    barrier();
    if (along() < apart) meeting[thread()] += meeting[thread() + apart];
  }
  barrier();
  return meeting[beside() * ALONG];
}
// One of the numbers, whether or not there is a NaN among them: the sums that follow find that out.
float row_max(float value) {
  if (ALONG == 1) return value;
  if (SUBGROUP > 0) {
    value = subgroupMax(value);
    if (kSubgroups == 1) return value;
    meet(value);
    [[unroll]] for (uint i = 0; i < kSubgroups; ++i) value = max(value, meeting[beside() * kSubgroups + i]);
    return value;
  }
  barrier();
  meeting[thread()] = value;
  [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
    barrier();
    if (along() < apart) meeting[thread()] = max(meeting[thread()], meeting[thread() + apart]);
  }
  barrier();
  return meeting[beside() * ALONG];
}
