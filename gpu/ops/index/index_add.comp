#version 460
// target[o, j, n] += alpha * sum of source[o, k, n] over all k with index[k] = j, in order of k. A workgroup
// owns a row j and 256 of its columns (o, n). It reads 256 indices at a time; then each invocation adds the
// elements whose index is j. No two invocations write the same element, so the sums are deterministic.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;
layout(constant_id = 1) const uint INDEX_TYPE = 3;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t target, source, index;
  uint64_t fault;
  uint outer, size, count, inner;
  uint kind;    // kind of fault
  uint repeats; // how often each index followed in the index that the script gave
  float alpha;  // an integer if TYPE is one
};

shared uint found[8];  // bit i: whether index first + i is j

void main() {
  const uint me = gl_LocalInvocationID.x, columns = outer * inner, column_groups = (columns + 255) / 256;
  for (uint work = gl_WorkGroupID.x; work < column_groups * size; work += gl_NumWorkGroups.x) {
    const uint j = work / column_groups, column = work % column_groups * 256 + me;
    const uint o = column / inner, n = column % inner;
    const int64_t to = (int64_t(o) * size + j) * inner + n;
    float sum = 0.0;
    int64_t whole = 0;
    for (uint first = 0; first < count; first += 256) {
      barrier();
      if (me < 8) found[me] = 0;
      barrier();
      if (first + me < count) {
        const int64_t at = load_integer(index, int64_t(first + me), INDEX_TYPE);
        if (at == int64_t(j)) atomicOr(found[me / 32], 1u << me % 32);
        if (work == 0 && (at < 0 || at >= int64_t(size))) note_index(fault, kind, (first + me) * repeats, at, size);
      }
      barrier();
      if (column >= columns) continue;
      for (uint word = 0; word < 8; ++word)
        for (uint bits = found[word]; bits != 0; bits &= bits - 1) {
          const uint k = first + word * 32 + uint(findLSB(bits));
          const int64_t from = (int64_t(o) * count + k) * inner + n;
          if (TYPE == kF32)
            sum += load_f32(source, from);
          else
            whole += load_integer(source, from, TYPE);
        }
    }
    if (column >= columns) continue;
    if (TYPE == kF32)
      store_f32(target, to, load_f32(target, to) + alpha * sum);
    else
      store_integer(target, to, TYPE, load_integer(target, to, TYPE) + int64_t(alpha) * whole);
  }
}
