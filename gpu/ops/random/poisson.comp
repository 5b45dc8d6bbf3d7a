#version 460
// Poisson random numbers with the random words and the double precision of the CPU (runtime/ops/random/poisson.cpp).
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"
#include "philox.glsl"
#include "doubles.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;

layout(push_constant, scalar) uniform Push {
  uint64_t unused;
  uint64_t result, rates;
  uint64_t fault;
  uvec2 seed, stream;
  uint count;
  uint kind;  // kind of fault
};

dvec2 uniforms(uint element, uint block) {
  const uvec4 words = philox(seed, stream, uvec2(element << 16 | block, element >> 16));
  return dvec2(uniform_f64(words.x, words.y), uniform_f64(words.z, words.w));
}

// The smallest k whose distribution function exceeds a uniform number.
double small_poisson(double rate, uint element) {
  const double u = uniforms(element, 0).x;
  double term = exp_of(-rate), sum = term, k = 0.0lf;
  while (u >= sum && k < 200.0lf) {
    k += 1.0lf;
    term *= rate / k;
    sum += term;
  }
  return k;
}

// W. Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), PTRS.
double large_poisson(double rate, uint element) {
  const double log_rate = log_of(rate), b = 0.931lf + 2.53lf * sqrt(rate), a = -0.059lf + 0.02483lf * b;
  const double inverse_alpha = 1.1239lf + 1.1328lf / (b - 3.4lf), bound = 0.9277lf - 3.6224lf / (b - 2.0lf);
  for (uint tries = 0; tries < 65536; ++tries) {
    const dvec2 drawn = uniforms(element, tries);
    const double u = drawn.x - 0.5lf, v = drawn.y, us = 0.5lf - abs(u);
    const double k = floor((2.0lf * a / us + b) * u + rate + 0.43lf);
    if (us >= 0.07lf && v <= bound) return k;
    if (k < 0.0lf || (us < 0.013lf && v > us)) continue;
    const double limit = k * log_rate - rate - log_factorial(k);
    if (v == 0.0lf || log_of(v * inverse_alpha / (a / (us * us) + b)) <= limit) return k;
  }
  return floor(rate);
}

void main() {
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    const float rate = load_float(rates, int64_t(i), TYPE);
    if (!(rate >= 0.0) || (floatBitsToUint(rate) & 0x7f800000u) == 0x7f800000u) {
      note_fault(fault, kind, i, floatBitsToInt(rate), 0);
      continue;
    }
    const double drawn = rate < 10.0 ? small_poisson(double(rate), i) : large_poisson(double(rate), i);
    store_float(result, int64_t(i), TYPE, float(drawn));
  }
}
