#version 460
// Each position of a list of counts, as often as it says: result[i] is the first position whose counts, added up
// to it, are more than i. A negative count, or another sum than the number of results, is noted as a fault. With
// HAS_KEYS also as 32-bit keys.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint COUNT_TYPE = 3;
layout(constant_id = 1) const bool HAS_KEYS = false;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, keys, counts, ends, fault;  // ends: running sums of the counts, i64
  uint total, positions;                       // results, counts
  uint dim;                                    // named by the faults
  uint length_kind, sum_kind;                  // kinds of fault
};

void main() {
  const uint work = max(total, positions);
  for (uint i = gl_GlobalInvocationID.x; i < work; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    if (i < positions) {
      const int64_t count = load_integer(counts, int64_t(i), COUNT_TYPE);
      if (count < 0) note_index(fault, length_kind, i, count, positions);
    }
    const int64_t sum = positions == 0 ? 0 : load_integer(ends, int64_t(positions - 1), kI64);
    if (i == 0 && sum != int64_t(total)) note_index(fault, sum_kind, dim, sum, total);
    if (i >= total || positions == 0) continue;
    uint low = 0, high = positions - 1;
    while (low < high) {
      const uint middle = (low + high) / 2;
      if (load_integer(ends, int64_t(middle), kI64) > int64_t(i))
        high = middle;
      else
        low = middle + 1;
    }
    store_integer(result, int64_t(i), kI64, int64_t(low));
    if (HAS_KEYS) store_integer(keys, int64_t(i), kI32, int64_t(low));
  }
}
