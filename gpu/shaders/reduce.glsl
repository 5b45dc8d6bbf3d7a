// Reduces dims of a tensor. A work group of 256 threads computes 256 / ALONG results with ALONG threads each. A thread folds
// every ALONG-th element; then the threads combine their results in shared memory. Adjacent threads read adjacent memory.
// With several segments each work group folds a part of the elements, and a second dispatch folds the parts. The including
// file defines T.
#include "memory.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint FOLD = 0;
const uint kSum = 0, kLargest = 1, kSmallest = 2;
layout(constant_id = 1) const uint ALONG = 256;
layout(constant_id = 2) const bool ALONG_CONTIGUOUS = true;
layout(constant_id = 3) const uint TYPE = 6;
layout(constant_id = 4) const uint RESULT_TYPE = 6;
layout(constant_id = 5) const uint REDUCED_DIMS = 1;
layout(constant_id = 6) const bool VECTOR = false;  // contiguous f32, aligned to vectors of four

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand;
  uint results;   // per segment
  uint reduced;   // elements of a result
  uint segments;
  uint segment;   // elements of a segment
  float factor;   // of the result
  uint kept_dims;
  uint kept_size[8], reduced_size[8];
  int64_t kept_stride[8], reduced_stride[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared T meeting[256];

T identity() {
#ifdef T_IS_INTEGER
  return FOLD == kSum ? 0L : FOLD == kLargest ? -0x7fffffffffffffffL - 1L : 0x7fffffffffffffffL;
#else
  return FOLD == kSum ? 0.0 : FOLD == kLargest ? -infinity() : infinity();
#endif
}
T fold(T a, T b) {
  if (FOLD == kSum) return a + b;
#ifdef T_IS_INTEGER
  return FOLD == kLargest ? (a > b ? a : b) : (a < b ? a : b);
#else
  return FOLD == kLargest ? lg_max(a, b) : lg_min(a, b);
#endif
}
T load(int64_t at) {
#ifdef T_IS_INTEGER
  return load_integer(arguments.operand, at, TYPE);
#else
  return load_float(arguments.operand, at, TYPE);
#endif
}
void store(int64_t at, T value) {
#ifdef T_IS_INTEGER
  store_integer(arguments.result, at, RESULT_TYPE, value);
#else
  store_float(arguments.result, at, RESULT_TYPE, value * arguments.factor);
#endif
}

#ifndef T_IS_INTEGER
T fold_four(vec4 v) {
  return fold(fold(v.x, v.y), fold(v.z, v.w));
}
// Several loads at a time, so that they overlap.
T fold_vectors(int64_t base, uint first, uint last, uint along, T value) {
  const uint kTogether = 4;
  uint i = first + along;
  for (; i + (kTogether - 1) * ALONG < last; i += kTogether * ALONG) {
    vec4 v[kTogether];
    [[unroll]] for (uint k = 0; k < kTogether; ++k) v[k] = load_f32x4(arguments.operand, base + int64_t(i + k * ALONG));
    [[unroll]] for (uint k = 0; k < kTogether; ++k) value = fold(value, fold_four(v[k]));
  }
  for (; i < last; i += ALONG) value = fold(value, fold_four(load_f32x4(arguments.operand, base + int64_t(i))));
  return value;
}
#endif

int64_t reduced_offset(uint i) {
  if (REDUCED_DIMS == 1) return int64_t(i) * arguments.reduced_stride[0];
  int64_t at = 0;
  [[unroll]] for (int d = int(REDUCED_DIMS) - 1; d >= 0; --d) {
    at += int64_t(i % arguments.reduced_size[d]) * arguments.reduced_stride[d];
    i /= arguments.reduced_size[d];
  }
  return at;
}

void main() {
  const uint side = 256 / ALONG;
  const uint along = ALONG_CONTIGUOUS ? gl_LocalInvocationID.x % ALONG : gl_LocalInvocationID.x / side;
  const uint beside = ALONG_CONTIGUOUS ? gl_LocalInvocationID.x / ALONG : gl_LocalInvocationID.x % side;
  const uint blocks = (arguments.results + side - 1) / side * arguments.segments;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint segment = block % arguments.segments;
    const uint index = block / arguments.segments * side + beside;
    T value = identity();
    if (index < arguments.results) {
      int64_t base = 0;
      uint rest = index;
      for (int d = int(arguments.kept_dims) - 1; d >= 0; --d) {
        base += int64_t(rest % arguments.kept_size[d]) * arguments.kept_stride[d];
        rest /= arguments.kept_size[d];
      }
      const uint first = segment * arguments.segment;
      const uint last = min(first + arguments.segment, arguments.reduced);
#ifndef T_IS_INTEGER
      if (VECTOR)
        value = fold_vectors(base / 4, first / 4, last / 4, along, value);
      else
#endif
        for (uint i = first + along; i < last; i += ALONG) value = fold(value, load(base + reduced_offset(i)));
    }
    if (ALONG > 1) {
      barrier();
      meeting[beside * ALONG + along] = value;
      [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
        barrier();
        if (along < apart)
          meeting[beside * ALONG + along] =
              fold(meeting[beside * ALONG + along], meeting[beside * ALONG + along + apart]);
      }
      value = meeting[beside * ALONG];
    }
    if (along == 0 && index < arguments.results)
      store(int64_t(segment) * int64_t(arguments.results) + int64_t(index), value);
  }
}
