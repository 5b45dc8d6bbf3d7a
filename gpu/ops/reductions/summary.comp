#version 460
// The eight statistics of runtime/statistics/summary.cpp for each of many tensors. In the first pass a
// workgroup computes the statistics of a block of 4096 elements. In the second pass (REDUCTION) a workgroup for
// each tensor combines its blocks. Values are divided by the largest magnitude before they are summed, so
// that squares neither overflow nor underflow.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool REDUCTION = false;

struct Entry {
  uint64_t from;
  uint count, type;
  uint first_block, blocks;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint64_t partial, result;
  uint tensors, blocks;
};
#include "many.glsl"

const uint kSum = 0, kSquares = 1, kMin = 2, kMax = 3, kZeros = 4, kNans = 5, kInfs = 6, kMagnitudes = 7, kNumbers = 8;
const uint kEach = 16;  // elements per invocation; a block has 256 times as many

shared float meeting[kNumbers][256];

// Combines statistic k of all invocations. All invocations of the workgroup must call it.
float meet(uint k, float value) {
  const uint me = gl_LocalInvocationID.x;
  barrier();
  meeting[k][me] = value;
  [[unroll]] for (uint apart = 128; apart > 0; apart /= 2) {
    barrier();
    if (me < apart) {
      const float other = meeting[k][me + apart];
      meeting[k][me] = k == kMin   ? min(meeting[k][me], other)
                       : k == kMax ? max(meeting[k][me], other)
                                   : meeting[k][me] + other;
    }
  }
  barrier();
  return meeting[k][0];
}

// The divisor of the sums. Without finite values low > high.
float scale_of(float low, float high) {
  const float m = low > high ? 0.0 : max(-low, high);
  return m > 0.0 ? m : 1.0;
}

void store(uint64_t to, uint row, float numbers[kNumbers]) {
  if (gl_LocalInvocationID.x != 0) return;
  [[unroll]] for (uint k = 0; k < kNumbers; ++k) store_f32(to, int64_t(row) * kNumbers + k, numbers[k]);
}

void take_block(uint block) {
  const Entry e = entries.at[tensor_of(block)];
  const uint start = (block - e.first_block) * kEach * 256 + gl_LocalInvocationID.x;
  float values[kEach];
  float numbers[kNumbers];
  [[unroll]] for (uint k = 0; k < kNumbers; ++k) numbers[k] = 0.0;
  numbers[kMin] = infinity();
  numbers[kMax] = -infinity();
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    values[i] = 0.0;
    const uint at = start + i * 256;
    if (at >= e.count) continue;
    const float x = load_float(e.from, int64_t(at), e.type);
    const uint magnitude = floatBitsToUint(x) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      numbers[kNans] += 1.0;
    } else if (magnitude == 0x7f800000u) {
      numbers[kInfs] += 1.0;
    } else {
      values[i] = x;
      numbers[kZeros] += x == 0.0 ? 1.0 : 0.0;
      numbers[kMin] = min(numbers[kMin], x);
      numbers[kMax] = max(numbers[kMax], x);
    }
  }
  numbers[kMin] = meet(kMin, numbers[kMin]);
  numbers[kMax] = meet(kMax, numbers[kMax]);
  const float scale = scale_of(numbers[kMin], numbers[kMax]);
  [[unroll]] for (uint i = 0; i < kEach; ++i) {
    const float part = lg_quotient(values[i], scale);
    numbers[kSum] += part;
    numbers[kSquares] += part * part;
    numbers[kMagnitudes] += abs(part);
  }
  [[unroll]] for (uint k = 0; k < kNumbers; ++k)
    if (k != kMin && k != kMax) numbers[k] = meet(k, numbers[k]);
  store(partial, block, numbers);
}

void reduce(uint tensor) {
  const Entry e = entries.at[tensor];
  float numbers[kNumbers];
  [[unroll]] for (uint k = 0; k < kNumbers; ++k) numbers[k] = 0.0;
  numbers[kMin] = infinity();
  numbers[kMax] = -infinity();
  for (uint block = gl_LocalInvocationID.x; block < e.blocks; block += 256) {
    const int64_t row = int64_t(e.first_block + block) * kNumbers;
    numbers[kMin] = min(numbers[kMin], load_f32(partial, row + kMin));
    numbers[kMax] = max(numbers[kMax], load_f32(partial, row + kMax));
  }
  numbers[kMin] = meet(kMin, numbers[kMin]);
  numbers[kMax] = meet(kMax, numbers[kMax]);
  const float scale = scale_of(numbers[kMin], numbers[kMax]);
  for (uint block = gl_LocalInvocationID.x; block < e.blocks; block += 256) {
    const int64_t row = int64_t(e.first_block + block) * kNumbers;
    const float part = lg_quotient(scale_of(load_f32(partial, row + kMin), load_f32(partial, row + kMax)), scale);
    numbers[kSum] += load_f32(partial, row + kSum) * part;
    numbers[kSquares] += load_f32(partial, row + kSquares) * part * part;
    numbers[kMagnitudes] += load_f32(partial, row + kMagnitudes) * part;
    numbers[kZeros] += load_f32(partial, row + kZeros);
    numbers[kNans] += load_f32(partial, row + kNans);
    numbers[kInfs] += load_f32(partial, row + kInfs);
  }
  [[unroll]] for (uint k = 0; k < kNumbers; ++k)
    if (k != kMin && k != kMax) numbers[k] = meet(k, numbers[k]);
  if (numbers[kMin] > numbers[kMax]) numbers[kMin] = numbers[kMax] = 0.0;
  store(result, tensor, numbers);
}

void main() {
  if (REDUCTION) {
    for (uint tensor = gl_WorkGroupID.x; tensor < tensors; tensor += gl_NumWorkGroups.x) reduce(tensor);
  } else {
    for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) take_block(block);
  }
}
