#version 460
// How often integers, or numbers of equal intervals, occur. A workgroup counts in shared memory where the counts fit,
// in several copies, so that neighbours with equal numbers do not wait for each other. Counts are whole, so their
// order does not matter. kMark: which integers occur.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 6;
layout(constant_id = 2) const uint COPIES = 1;  // 0: all count in global memory
layout(constant_id = 3) const bool FOURS = false;  // elements can be loaded four at a time

const uint kIntegers = 0, kIntervals = 1, kMark = 2;
const uint kMostShared = 6144;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t elements, marks;  // marks: bytes
  Words counts;
  uint64_t from;  // the first integer
  uint count, bins;
  float low, high, factor;  // kIntervals: bin = (x - low) * factor
};

shared uint met[COPIES > 0 && MODE != kMark ? kMostShared : 1];

void add(uint bin) {
  if (bin >= bins) return;
  if (MODE == kMark) {
    if (uint(U8Element(marks + bin).at) == 0) U8Element(marks + bin).at = uint8_t(1u);
  } else if (COPIES > 0) {
    atomicAdd(met[gl_LocalInvocationID.x % COPIES * (bins | 1) + bin], 1);
  } else {
    atomicAdd(counts.at[bin], 1);
  }
}
// `bins` if x is in no interval.
uint bin_of(float x) {
  if (!(x >= low && x <= high)) return bins;
  const float place = floor((x - low) * factor);
  return place >= float(bins) ? bins - 1 : min(place > 0.0 ? uint(place) : 0, bins - 1);
}
void add_integer(int64_t x) {
  const uint64_t bin = uint64_t(x) - from;
  add(bin < uint64_t(bins) ? uint(bin) : bins);
}
const uint kAhead = 4;  // loads in flight

void main() {
  const uint me = gl_LocalInvocationID.x, threads = gl_NumWorkGroups.x * 256;
  if (COPIES > 0 && MODE != kMark) {
    for (uint i = me; i < COPIES * (bins | 1); i += 256) met[i] = 0;
    barrier();
  }
  uint first = gl_WorkGroupID.x * 256 + me;
  if (FOURS) {
    const uint fours = count / 4;
    for (uint i = first; i < fours; i += threads * kAhead) {
      vec4 x[kAhead];
      [[unroll]] for (uint k = 0; k < kAhead; ++k)
        x[k] = load_four(elements, int64_t(min(i + k * threads, fours - 1)), TYPE);
      [[unroll]] for (uint k = 0; k < kAhead; ++k)
        if (i + k * threads < fours)
          [[unroll]] for (uint e = 0; e < 4; ++e) add(bin_of(x[k][e]));
    }
    first += fours * 4;
  }
  if (MODE == kIntervals)
    for (uint i = first; i < count; i += threads) add(bin_of(load_float(elements, int64_t(i), TYPE)));
  else
    for (uint i = first; i < count; i += threads * kAhead) {
      int64_t x[kAhead];
      [[unroll]] for (uint k = 0; k < kAhead; ++k)
        x[k] = load_integer(elements, int64_t(min(i + k * threads, count - 1)), TYPE);
      [[unroll]] for (uint k = 0; k < kAhead; ++k)
        if (i + k * threads < count) add_integer(x[k]);
    }
  if (COPIES == 0 || MODE == kMark) return;
  barrier();
  for (uint bin = me; bin < bins; bin += 256) {
    uint sum = 0;
    for (uint k = 0; k < COPIES; ++k) sum += met[k * (bins | 1) + bin];
    if (sum > 0) atomicAdd(counts.at[bin], sum);
  }
}
