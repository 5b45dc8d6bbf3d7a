#version 460
// Variances or standard deviations (END), and means (SECOND), in one pass: means and sums of squared deviations are merged as
// in Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979. They are those of
// x less the first element of the result: the variance of equal elements is exactly 0.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
struct State {
  float count, mean, squares;
  float sum;  // of x itself
};
#define Element float
#define Vector vec4
const uint kWide = 4;
#include "reduce.glsl"

float shift;

State none() {
  return State(0.0, 0.0, 0.0, 0.0);
}
State both(State a, State b) {
  if (b.count == 0.0) return a;
  const float count = a.count + b.count, share = b.count / count, apart = b.mean - a.mean;
  return State(count, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.count * share), a.sum + b.sum);
}
void begin(int64_t base) {
  shift = arguments.reduced > 0 ? load_float(arguments.operand, base, TYPE) : 0.0;
}

Element element_at(int64_t at, int64_t other) {
  return load_float(arguments.operand, at, TYPE);
}
Vector vector_at(int64_t at, int64_t other) {
  return load_four(arguments.operand, at, TYPE);
}
State with(State state, Element x, uint i) {
  return both(state, State(1.0, x - shift, 0.0, x));
}
State with_vector(State state, Vector v, uint i) {
  const vec4 x = v - shift;
  const float mean = 0.25 * ((x.x + x.y) + (x.z + x.w));
  const vec4 rest = x - mean;
  return both(state, State(4.0, mean, dot(rest, rest), (v.x + v.y) + (v.z + v.w)));
}

void keep(uint64_t i, State state) {
  F32x4Elements(arguments.parts + i * 16).at = vec4(state.count, state.mean, state.squares, state.sum);
}
State kept(uint64_t i) {
  const vec4 state = F32x4Elements(arguments.parts + i * 16).at;
  return State(state.x, state.y, state.z, state.w);
}
void finish(uint index, State state) {
  const float variance = state.squares * arguments.factor;
  store_float(arguments.result, int64_t(index), RESULT_TYPE, END == kRoot ? sqrt(variance) : variance);
  if (SECOND) store_float(arguments.second, int64_t(index), RESULT_TYPE, state.sum / float(arguments.reduced));
}
