#version 460
// The smallest and the largest element in one pass; NaN if an element is NaN.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#define State vec2
#define Element float
#define Vector vec4
const uint kVectorSize = 4;
#include "reduce.glsl"

State none() {
  return vec2(infinity(), -infinity());
}
State both(State a, State b) {
  return vec2(lg_min(a.x, b.x), lg_max(a.y, b.y));
}
void begin(int64_t base) {}

Element element_at(int64_t at, int64_t other) {
  return load_float(arguments.operand, at, TYPE);
}
Vector vector_at(int64_t at, int64_t other) {
  return load_four(arguments.operand, at, TYPE);
}
State with(State state, Element x, uint i) {
  return both(state, vec2(x));
}
State with_vector(State state, Vector v, uint i) {
  return both(both(state, both(vec2(v.x), vec2(v.y))), both(vec2(v.z), vec2(v.w)));
}

void keep(uint64_t i, State state) {
  C64Element(arguments.parts + i * 8).at = state;
}
State kept(uint64_t i) {
  return C64Element(arguments.parts + i * 8).at;
}
void finish(uint index, State state) {
  store_float(arguments.result, int64_t(index), RESULT_TYPE, state.x);
  store_float(arguments.second, int64_t(index), RESULT_TYPE, state.y);
}
