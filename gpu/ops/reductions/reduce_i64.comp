#version 460
// Reductions of integers and bool, in i64.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#define State int64_t
#define Element int64_t
#define Vector int64_t
const uint kVectorSize = 1;
#include "reduce.glsl"

State none() {
  return REDUCTION == kSum       ? 0L
         : REDUCTION == kProduct ? 1L
         : REDUCTION == kLargest ? -0x7fffffffffffffffL - 1L
                            : 0x7fffffffffffffffL;
}
State both(State a, State b) {
  if (REDUCTION == kSum) return a + b;
  if (REDUCTION == kProduct) return a * b;
  return REDUCTION == kLargest ? (a > b ? a : b) : (a < b ? a : b);
}
void begin(int64_t base) {}

Element element_at(int64_t at, int64_t other) {
  return load_integer(arguments.operand, at, TYPE);
}
Vector vector_at(int64_t at, int64_t other) {
  return element_at(at, other);
}
State with(State state, Element x, uint i) {
  return both(state, x);
}
State with_vector(State state, Vector x, uint i) {
  return both(state, x);
}

void keep(uint64_t i, State state) {
  store_integer(arguments.parts, int64_t(i), kI64, state);
}
State kept(uint64_t i) {
  return load_integer(arguments.parts, int64_t(i), kI64);
}
void finish(uint index, State state) {
  store_integer(arguments.result, int64_t(index), RESULT_TYPE, state);
}
