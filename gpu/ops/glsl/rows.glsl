// Kernels over rows: the elements along one dim of up to four tensors of any strides. A workgroup of 256
// invocations processes 256 / ALONG rows with ALONG invocations each.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "memory.glsl"
#include "functions.glsl"
#include "row_strides.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint ALONG = 256;
// The vectors of a row that an invocation loads once and holds in registers, if rows are contiguous and begin
// at vectors. 0: elements are loaded one by one, each time they are needed.
layout(constant_id = 10) const uint HELD = 0;
const uint kHeld = HELD == 0 ? 1 : HELD;
// The subgroup size, if the invocations of a row are one or several whole subgroups: sums then use subgroup
// operations, and only the subgroups' results are combined in shared memory. 0: all values are combined in
// shared memory.
layout(constant_id = 11) const uint SUBGROUP = 0;
const uint kSubgroups = ALONG / (SUBGROUP == 0 ? ALONG : SUBGROUP);  // subgroups per row

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

// Loads an invocation's part of a row of `fours` vectors of that type at address `row`; `otherwise` beyond
// its end.
void hold(out vec4 held[kHeld], uint64_t row, uint fours, float otherwise, uint type) {
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    const uint i = along() + h * ALONG;
    held[h] = i < fours ? load_four(row, int64_t(i), type) : vec4(otherwise);
  }
}
void put(vec4 held[kHeld], uint64_t row, uint fours, uint type) {
  [[unroll]] for (uint h = 0; h < kHeld; ++h) {
    const uint i = along() + h * ALONG;
    if (i < fours) store_four(row, int64_t(i), type, held[h]);
  }
}
float in_all(vec4 v) {
  return (v.x + v.y) + (v.z + v.w);
}

// Writes the results of the subgroups to shared memory.
void meet(float value) {
  barrier();
  if (gl_SubgroupInvocationID == 0) meeting[gl_SubgroupID] = value;
  barrier();
}

// All invocations of a row get the sum of their values. All invocations of the workgroup must call these
// functions.
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
// The maximum of the values. NaN may be ignored: the sums that follow will be NaN.
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
