#version 460
// Reductions of f32, f16 and bf16: of the elements, of a function of them, or of a function of two operands.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "functions.glsl"
#define State vec2  // only a sum uses both components (functions.glsl)
#define Element float
#define Vector vec4
const uint kVectorSize = 4;
#include "reduce.glsl"

State none() {
  return vec2(REDUCTION == kSum ? 0.0 : REDUCTION == kProduct ? 1.0 : REDUCTION == kLargest ? -infinity() : infinity(), 0.0);
}
float reduced(float a, float b) {
  if (REDUCTION == kProduct) return a * b;
  return REDUCTION == kLargest ? lg_max(a, b) : lg_min(a, b);
}
State both(State a, State b) {
  return REDUCTION == kSum ? added_sums(a, b) : vec2(reduced(a.x, b.x), 0.0);
}
void begin(int64_t base) {}

// The functions of two operands, as in elementwise.def and runtime/ops/loss/loss.cpp.
float mapped(float x, float t) {
  switch (MAP) {
    case kMagnitude: return abs(x);
    case kFiniteMagnitude: return abs(x) < infinity() ? abs(x) : 0.0;
    case kWithoutNan: return lg_isnan(x) ? 0.0 : x;
    case kTimes: return x * t;
    case kApart: return abs(x - t + arguments.shift);
    case kDiffers: return x - t + arguments.shift == 0.0 ? 0.0 : 1.0;
    case kSquaredError: return (x - t) * (x - t);
    case kHuber: {
      const float apart = abs(x - t), delta = arguments.exponent;
      return apart < delta ? 0.5 * apart * apart : delta * (apart - 0.5 * delta);
    }
    case kCrossEntropy: return -(t * lg_max(lg_log(x), -100.0) + (1.0 - t) * lg_max(lg_log(1.0 - x), -100.0));
    case kDivergence: return t == 0.0 ? 0.0 : t * (lg_log(t) - x);
    case kLogDivergence: return t == -infinity() ? 0.0 : lg_exp(t) * (t - x);
  }
  return x;
}

Element element_at(int64_t at, int64_t other) {
  return mapped(load_float(arguments.operand, at, TYPE), kTwo ? load_float(arguments.other, other, OTHER_TYPE) : 0.0);
}
Vector vector_at(int64_t at, int64_t other) {
  const vec4 x = load_four(arguments.operand, at, TYPE);
  if (MAP == kPlain) return x;
  const vec4 t = kTwo ? load_four(arguments.other, other, OTHER_TYPE) : vec4(0.0);
  return vec4(mapped(x.x, t.x), mapped(x.y, t.y), mapped(x.z, t.z), mapped(x.w, t.w));
}
State with(State state, Element x, uint i) {
  return both(state, vec2(x, 0.0));
}
State with_vector(State state, Vector v, uint i) {
  if (REDUCTION == kSum) return with_four(state, v);
  return vec2(reduced(state.x, reduced(reduced(v.x, v.y), reduced(v.z, v.w))), 0.0);
}

void keep(uint64_t i, State state) {
  C64Element(arguments.parts + i * 8).at = state;
}
State kept(uint64_t i) {
  return C64Element(arguments.parts + i * 8).at;
}
void finish(uint index, State state) {
  const float value = REDUCTION == kSum ? end_of_sum(state, arguments.factor) : state.x * arguments.factor;
  store_float(arguments.result, int64_t(index), RESULT_TYPE, value);
}
