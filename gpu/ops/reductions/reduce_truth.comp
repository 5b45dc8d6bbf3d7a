#version 460
// Whether any element is not 0 (kLargest), or all are not 0 (kSmallest). A state has four bytes, each 0 or 1.
// Bool is read sixteen elements at a time. Where results are adjacent, it is read for four results at a time
// (WORDS: positions count words of four elements).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#define State uint
#define Element uint
#define Vector uvec4
const uint kVectorSize = 16;
#include "reduce.glsl"

const uint kOnes = 0x01010101u;

State none() {
  return REDUCTION == kLargest ? 0u : kOnes;
}
State both(State a, State b) {
  return REDUCTION == kLargest ? a | b : a & b;
}
void begin(int64_t base) {}

Element element_at(int64_t at, int64_t other) {
  if (WORDS) return uint(I32Element(arguments.operand + at * 4).at);
  bool truth = false;
  if (TYPE == kC64) {
    const uvec2 bits = floatBitsToUint(load_complex(arguments.operand, at, TYPE)) & 0x7fffffffu;
    truth = (bits.x | bits.y) != 0u;
  } else if (TYPE >= kF16) {
    truth = (floatBitsToUint(load_float(arguments.operand, at, TYPE)) & 0x7fffffffu) != 0u;
  } else {
    truth = load_integer(arguments.operand, at, TYPE) != 0L;
  }
  return truth ? kOnes : 0u;
}
Vector vector_at(int64_t at, int64_t other) {
  return U32x4Elements(arguments.operand + at * 16).at;
}
State with(State state, Element x, uint i) {
  return both(state, x);
}
State with_vector(State state, Vector v, uint i) {
  return both(state, both(both(v.x, v.y), both(v.z, v.w)));
}

void keep(uint64_t i, State state) {
  I32Element(arguments.parts + i * 4).at = int(state);
}
State kept(uint64_t i) {
  return uint(I32Element(arguments.parts + i * 4).at);
}
void finish(uint index, State state) {
  if (WORDS)
    I32Element(arguments.result + uint64_t(index) * 4).at = int(state);
  else
    U8Element(arguments.result + index).at = uint8_t((REDUCTION == kLargest ? state != 0u : state == kOnes) ? 1u : 0u);
}
