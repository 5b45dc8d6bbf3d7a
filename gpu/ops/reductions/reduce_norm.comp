#version 460
// Norms (sum |x|^p)^(1/p) for finite p, of one operand or of the difference of two, plus a number. A power near an end of
// the range is not added to the plain sum: these elements are summed relative to the one with the largest
// power.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
struct State {
  float sum;          // of powers within the range
  float most, ratio;  // of the other elements: their extreme, and the sum of (|x| / extreme)^p
};
#define Element float
#define Vector vec4
const uint kVectorSize = 4;
#include "reduce.glsl"

const float kLeastPower = 7.52316385e-37, kMostPower = 7.92281625e28;  // 2^-120, 2^96
const float kUp = 1.8446744e19;                                        // 2^64

float raised(float size) {
  return MAP == kPower ? lg_pow(size, arguments.exponent) : size * size;
}
float root(float sum) {
  return MAP == kPower ? lg_pow(sum, 1.0 / arguments.exponent) : sqrt(sum);
}
bool leads(float a, float b) {
  return MAP == kPower && arguments.exponent < 0.0 ? a < b : a > b;
}
float quotient_of(float a, float b) {
  return b < 1.0 / kUp ? (a * kUp) / (b * kUp) : lg_quotient(a, b);
}

State none() {
  return State(0.0, 0.0, 0.0);
}
// Combines the state with elements whose extreme is `most`.
State with_extremes(State state, float most, float ratio) {
  if (ratio == 0.0) return state;
  if (state.ratio == 0.0) return State(state.sum, most, ratio);
  if (leads(most, state.most)) return State(state.sum, most, state.ratio * raised(quotient_of(state.most, most)) + ratio);
  return State(state.sum, state.most, state.ratio + ratio * raised(quotient_of(most, state.most)));
}
State both(State a, State b) {
  a.sum += b.sum;
  return with_extremes(a, b.most, b.ratio);
}
void begin(int64_t base) {}

float size_of(float x, float t) {
  return abs(kTwo ? x - t + arguments.shift : x);
}
Element element_at(int64_t at, int64_t other) {
  return size_of(load_float(arguments.operand, at, TYPE), kTwo ? load_float(arguments.other, other, OTHER_TYPE) : 0.0);
}
Vector vector_at(int64_t at, int64_t other) {
  const vec4 x = load_four(arguments.operand, at, TYPE);
  return abs(kTwo ? x - load_four(arguments.other, other, OTHER_TYPE) + arguments.shift : x);
}
bool is_extreme(float size, float power) {
  return !(power >= kLeastPower && power <= kMostPower) && size > 0.0 && size < infinity();
}
State with(State state, Element size, uint i) {
  const float power = raised(size);
  if (is_extreme(size, power)) return with_extremes(state, size, 1.0);
  state.sum += power;
  return state;
}
State with_vector(State state, Vector v, uint i) {
  vec4 powers = vec4(raised(v.x), raised(v.y), raised(v.z), raised(v.w));
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (is_extreme(v[j], powers[j])) {
      state = with_extremes(state, v[j], 1.0);
      powers[j] = 0.0;
    }
  state.sum += (powers.x + powers.y) + (powers.z + powers.w);
  return state;
}

void keep(uint64_t i, State state) {
  store_f32(arguments.parts, int64_t(3 * i), state.sum);
  store_f32(arguments.parts, int64_t(3 * i + 1), state.most);
  store_f32(arguments.parts, int64_t(3 * i + 2), state.ratio);
}
State kept(uint64_t i) {
  return State(load_f32(arguments.parts, int64_t(3 * i)), load_f32(arguments.parts, int64_t(3 * i + 1)),
               load_f32(arguments.parts, int64_t(3 * i + 2)));
}
void finish(uint index, State state) {
  float result = root(state.sum);
  // If the sum is infinite or NaN, so is an element, or there are zeros with a negative exponent.
  if (state.ratio != 0.0 && lg_isfinite(state.sum)) {
    const float extreme = state.most * root(state.ratio);
    if (state.sum == 0.0 || extreme == 0.0 || lg_isinf(extreme)) {
      result = extreme;
    } else {
      const float first = leads(result, extreme) ? result : extreme;
      result = first * root(raised(quotient_of(result, first)) + raised(quotient_of(extreme, first)));
    }
  }
  store_float(arguments.result, int64_t(index), RESULT_TYPE, result * arguments.factor);
}
