#version 460
// x t / (|x| |t|) along the reduced dims, and the divisors: norms of at least `exponent`, or with ADDED the
// roots of the squares plus it. Sums that leave the range are computed again by one invocation, from elements
// over the largest of their row.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#define State vec3  // sums of x t, x x and t t
#define Element vec2
struct Vector {
  vec4 x, t;
};
const uint kVectorSize = 4;
#include "reduce.glsl"
const bool ADDED = END == kRoot;

const float kLeastSquare = 8.07793567e-28, kMostSquare = 1.2379401e27;  // 2^-90, 2^90

State none() {
  return vec3(0.0);
}
State both(State a, State b) {
  return a + b;
}
void begin(int64_t base) {}
Element element_at(int64_t at, int64_t other) {
  return vec2(load_float(arguments.operand, at, TYPE), load_float(arguments.other, other, OTHER_TYPE));
}
Vector vector_at(int64_t at, int64_t other) {
  return Vector(load_four(arguments.operand, at, TYPE), load_four(arguments.other, other, OTHER_TYPE));
}
// The three sums are rounded in the same way, so they are equal for equal rows: `precise` keeps compilers from joining
// additions of some of them with products.
State with(State state, Element e, uint i) {
  precise State sums = state + vec3(e.x * e.y, e.x * e.x, e.y * e.y);
  return sums;
}
float sum_of_products(vec4 a, vec4 b) {
  precise float sum = (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
  return sum;
}
State with_vector(State state, Vector v, uint i) {
  precise State sums = state + vec3(sum_of_products(v.x, v.t), sum_of_products(v.x, v.x), sum_of_products(v.t, v.t));
  return sums;
}
void keep(uint64_t i, State state) {
  [[unroll]] for (uint k = 0; k < 3; ++k) store_f32(arguments.parts, int64_t(3 * i + k), state[k]);
}
State kept(uint64_t i) {
  return vec3(load_f32(arguments.parts, int64_t(3 * i)), load_f32(arguments.parts, int64_t(3 * i + 1)),
              load_f32(arguments.parts, int64_t(3 * i + 2)));
}

float quotient_of(float a, float b) {
  const float kUp = 1.8446744e19;  // 2^64
  return b < 1.0 / kUp ? (a * kUp) / (b * kUp) : lg_quotient(a, b);
}
vec2 pair_at(Places base, uint i) {
  if (!VECTOR) return load(base, i);
  const Vector v = load_vector(Places(base.one / kVectorSize, base.other / kVectorSize), i / kVectorSize);
  return vec2(v.x[i % kVectorSize], v.t[i % kVectorSize]);
}
void finish(uint index, State state) {
  vec2 most = vec2(1.0);
  const vec2 squares = state.yz;
  if (any(lessThan(squares, vec2(kLeastSquare))) || any(greaterThan(squares, vec2(kMostSquare)))) {
    const Places base = kept_places(index);
    most = vec2(0.0);
    for (uint i = 0; i < arguments.reduced; ++i) {
      const vec2 e = abs(pair_at(base, i));
      most = vec2(lg_max(most.x, e.x), lg_max(most.y, e.y));
    }
    [[unroll]] for (uint k = 0; k < 2; ++k)
      if (most[k] == 0.0 || !lg_isfinite(most[k])) most[k] = 1.0;
    state = none();
    for (uint i = 0; i < arguments.reduced; ++i) {
      const vec2 e = pair_at(base, i);
      state = with(state, vec2(quotient_of(e.x, most.x), quotient_of(e.y, most.y)), i);
    }
  }
  // Rows over `most` have the squares state.yz. Where `least` decides, it divides the row itself. The product of
  // two equal norms is their square: two roots would round it, and the cosine of equal rows would not be 1.
  const float least = ADDED ? sqrt(arguments.exponent) : arguments.exponent;
  const bool equal = state.y == state.z && most.x == most.y;
  float cosine = state.x;
  [[unroll]] for (uint k = 0; k < 2; ++k) {
    const float own = sqrt(state[k + 1]), relative = quotient_of(least, most[k]);
    const bool decides = ADDED ? relative > 1e18 : own <= relative;
    const float square = ADDED && !decides ? state[k + 1] + relative * relative : state[k + 1], unit = sqrt(square);
    if (decides)
      cosine = cosine * quotient_of(most[k], least);
    else if (!equal || k == 0)
      cosine = equal && cosine == square ? 1.0 : lg_quotient(cosine, equal ? square : unit);  // quotients are rounded, too
    store_f32(arguments.second, int64_t(k) * arguments.results + index, decides ? least : unit * most[k]);
  }
  store_f32(arguments.result, int64_t(index), cosine);
}
