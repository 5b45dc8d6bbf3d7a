#version 460
// Variances or standard deviations (END), and means (SECOND), in one pass: means and sums of squared
// deviations are merged as in Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing
// sample variances", 1979. They are computed from x less the first element of the result, so the variance of
// equal elements is exactly 0. Differences that are too large or too small for their squares are multiplied
// by a power of two, which the state stores as a level.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
struct State {
  float count, mean, squares;
  uint level;  // level of mean and squares
  vec2 sum;    // sum of x itself
};
#define Element float
#define Vector vec4
const uint kVectorSize = 4;
#include "reduce.glsl"
#include "square_levels.glsl"

float shift;

State none() {
  return State(0.0, 0.0, 0.0, kSmallLevel, vec2(0.0));
}
State at_level(State state, uint level) {
  const float factor = between_levels(state.level, level);
  state.mean *= factor;
  state.squares = times_square(state.squares, factor);
  state.level = level;
  return state;
}
State both(State a, State b) {
  if (b.count == 0.0) return a;
  if (a.level < b.level) a = at_level(a, b.level);
  if (b.level < a.level) b = at_level(b, a.level);
  const float count = a.count + b.count, share = b.count / count, apart = b.mean - a.mean;
  return State(count, a.mean + apart * share, a.squares + b.squares + apart * apart * (a.count * share), a.level,
               added_sums(a.sum, b.sum));
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
  const uint level = level_of(abs(x - shift));
  return both(state, State(1.0, at_level(x, shift, level), 0.0, level, vec2(x, 0.0)));
}
State with_vector(State state, Vector v, uint i) {
  const vec4 sizes = abs(v - shift);
  const uint level = level_of(max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
  const vec4 x = at_level(v, shift, level);
  const float mean = 0.25 * ((x.x + x.y) + (x.z + x.w));
  const vec4 rest = x - mean;
  return both(state, State(4.0, mean, dot(rest, rest), level, with_four(vec2(0.0), v)));
}

void keep(uint64_t i, State state) {
  const int64_t at = int64_t(6 * i);
  store_f32(arguments.parts, at, state.count);
  store_f32(arguments.parts, at + 1, state.mean);
  store_f32(arguments.parts, at + 2, state.squares);
  store_f32(arguments.parts, at + 3, float(state.level));
  store_f32(arguments.parts, at + 4, state.sum.x);
  store_f32(arguments.parts, at + 5, state.sum.y);
}
State kept(uint64_t i) {
  const int64_t at = int64_t(6 * i);
  return State(load_f32(arguments.parts, at), load_f32(arguments.parts, at + 1), load_f32(arguments.parts, at + 2),
               uint(load_f32(arguments.parts, at + 3)),
               vec2(load_f32(arguments.parts, at + 4), load_f32(arguments.parts, at + 5)));
}
void finish(uint index, State state) {
  const float variance = state.squares * arguments.factor, back = to_plain(state.level);
  store_float(arguments.result, int64_t(index), RESULT_TYPE,
              END == kRoot ? sqrt(variance) * back : times_square(variance, back));
  if (!SECOND) return;
  const float count = float(arguments.reduced);
  const float mean = state.sum.y == 0.0 ? state.sum.x / count : (state.sum.x * kSumPart + state.sum.y) / count * kSumUnit;
  store_float(arguments.second, int64_t(index), RESULT_TYPE, mean);
}
