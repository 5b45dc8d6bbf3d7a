#version 460
// Extremes of elements of at most 32 bits.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#include "order.glsl"
#define Key uint
#define Vector uvec4
const uint kVectorSize = 4;
#include "extreme.glsl"

Key key_of(uint order) {
  return REDUCTION == kLargest || (TYPE >= kF16 && order == 0xffffffffu) ? order : ~order;
}
Element element_at(int64_t at, int64_t other) {
  if (TYPE >= kF16) return key_of(order_of(load_float(arguments.operand, at, TYPE)));
  return key_of(uint(int(load_integer(arguments.operand, at, TYPE))) ^ 0x80000000u);
}
Vector vector_at(int64_t at, int64_t other) {
  const vec4 x = load_four(arguments.operand, at, TYPE);
  return uvec4(key_of(order_of(x.x)), key_of(order_of(x.y)), key_of(order_of(x.z)), key_of(order_of(x.w)));
}
State with_vector(State state, Vector keys, uint i) {
  [[unroll]] for (uint j = 0; j < 4; ++j) state = with(state, keys[j], i + j);
  return state;
}
