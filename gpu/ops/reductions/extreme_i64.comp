#version 460
// Extremes of i64.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "order.glsl"
#define Key uint64_t
#define Vector uint64_t
const uint kVectorSize = 1;
#include "extreme.glsl"

Element element_at(int64_t at, int64_t other) {
  const uint64_t order = order_at(arguments.operand, at, kI64);
  return REDUCTION == kLargest ? order : ~order;
}
Vector vector_at(int64_t at, int64_t other) {
  return element_at(at, other);
}
State with_vector(State state, Vector key, uint i) {
  return with(state, key, i);
}
