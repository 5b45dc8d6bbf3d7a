#pragma once
// The functions that elementwise.def uses, for the scalar type Real: the double-precision reference, computed
// by the standard library. A new function is defined in each of these places; where it is missing, the
// compiler of C++ or GLSL names it.
//   this file                                         for doubles, and in the list below
//   runtime/cpu/vector.h                              for SIMD vectors, with runtime/cpu/math.h
//   runtime/elementwise/special.h                     instead of both: a formula that every type computes
//   runtime/ops/elementwise/elementwise_gradient.cpp  if a gradient uses it: twice, for Note and for Term
//   gpu/ops/glsl/functions.glsl                       for GLSL floats, as lg_NAME, and #define NAME lg_NAME
//                                                     in vocabulary.glsl; or in special.glsl, and in
//                                                     is_special() of gpu/generate/write_elementwise.cpp
//   script/onnx/elementwise.cpp                       as ONNX nodes, or as UNKNOWN
//   runtime/ops/elementwise/cpu/integer.h             and for int64_t in vocabulary.glsl: if a row of the
//                                                     types number, any or integer uses it
//   runtime/ops/elementwise/cpu/complex.h             and in gpu/ops/glsl/complex.glsl: if a row with the
//                                                     fact complex uses it
// The functions:
//   arithmetic   + - * / unary-, K(c), abs sign square conj max min (NaN if either is), floor ceil
//                round_even trunc fmod remainder floor_div
//   conditions   == != < <= > >= && || !, isnan isinf isfinite, sel(condition, then, else)
//   functions    sqrt exp exp2 expm1 log log1p log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh tanh
//                asinh acosh atanh erf erfc sigmoid lgamma, normal_cdf and normal_pdf of the standard normal
//                distribution, and the functions of elementwise/special.h
//   signs        copysign signbit
//   integers     bit_and bit_or bit_xor left_shift right_shift gcd lcm, only in rows of the type integer
// Pure values, any thread.
#include <cmath>
#include <numeric>

namespace lunagrad::reference {

struct Real {
  static constexpr bool kSingle = false;  // whether f32 precision suffices (elementwise/special.h)
  double v = 0;
  Real() = default;
  explicit Real(double value) : v(value) {}
};

inline Real operator+(Real a, Real b) { return Real(a.v + b.v); }
inline Real operator-(Real a, Real b) { return Real(a.v - b.v); }
inline Real operator*(Real a, Real b) { return Real(a.v * b.v); }
inline Real operator/(Real a, Real b) { return Real(a.v / b.v); }
inline Real operator-(Real a) { return Real(-a.v); }
inline bool operator==(Real a, Real b) { return a.v == b.v; }
inline bool operator!=(Real a, Real b) { return a.v != b.v; }
inline bool operator<(Real a, Real b) { return a.v < b.v; }
inline bool operator<=(Real a, Real b) { return a.v <= b.v; }
inline bool operator>(Real a, Real b) { return a.v > b.v; }
inline bool operator>=(Real a, Real b) { return a.v >= b.v; }
inline bool isnan(Real x) { return std::isnan(x.v); }
inline bool isinf(Real x) { return std::isinf(x.v); }
inline bool isfinite(Real x) { return std::isfinite(x.v); }
inline Real sel(bool condition, Real yes, Real no) { return condition ? yes : no; }

inline Real abs(Real x) { return Real(std::fabs(x.v)); }
inline Real sign(Real x) { return Real(x.v > 0 ? 1 : x.v < 0 ? -1 : x.v); }
inline Real square(Real x) { return x * x; }
inline Real conj(Real x) { return x; }
inline Real max(Real a, Real b) { return std::isnan(a.v) || a.v > b.v ? a : b; }
inline Real min(Real a, Real b) { return std::isnan(a.v) || a.v < b.v ? a : b; }
inline Real floor(Real x) { return Real(std::floor(x.v)); }
inline Real ceil(Real x) { return Real(std::ceil(x.v)); }
inline Real round_even(Real x) { return Real(std::nearbyint(x.v)); }
inline Real trunc(Real x) { return Real(std::trunc(x.v)); }
inline Real fmod(Real a, Real b) { return Real(std::fmod(a.v, b.v)); }

// The remainder with the sign of b: a = b floor(a / b) + remainder.
inline Real remainder(Real a, Real b) {
  const double r = std::fmod(a.v, b.v);
  return Real(r != 0 && (r < 0) != (b.v < 0) ? r + b.v : r);
}

// The floor of the exact quotient, as in Python's float floor division; the rounded a / b may be larger.
inline Real floor_div(Real a, Real b) {
  if (b.v == 0) return Real(a.v / b.v);
  const double r = std::fmod(a.v, b.v), whole = std::nearbyint((a.v - r) / b.v);
  const double quotient = r != 0 && (r < 0) != (b.v < 0) ? whole - 1 : whole;
  return Real(quotient == 0 ? std::copysign(0.0, a.v / b.v) : quotient);
}

inline Real sqrt(Real x) { return Real(std::sqrt(x.v)); }
inline Real exp(Real x) { return Real(std::exp(x.v)); }
inline Real exp2(Real x) { return Real(std::exp2(x.v)); }
inline Real expm1(Real x) { return Real(std::expm1(x.v)); }
inline Real log(Real x) { return Real(std::log(x.v)); }
inline Real log1p(Real x) { return Real(std::log1p(x.v)); }
inline Real log2(Real x) { return Real(std::log2(x.v)); }
inline Real log10(Real x) { return Real(std::log10(x.v)); }
inline Real pow(Real a, Real b) { return Real(std::pow(a.v, b.v)); }
inline Real sin(Real x) { return Real(std::sin(x.v)); }
inline Real cos(Real x) { return Real(std::cos(x.v)); }
inline Real tan(Real x) { return Real(std::tan(x.v)); }
inline Real asin(Real x) { return Real(std::asin(x.v)); }
inline Real acos(Real x) { return Real(std::acos(x.v)); }
inline Real atan(Real x) { return Real(std::atan(x.v)); }
inline Real atan2(Real a, Real b) { return Real(std::atan2(a.v, b.v)); }
inline Real sinh(Real x) { return Real(std::sinh(x.v)); }
inline Real cosh(Real x) { return Real(std::cosh(x.v)); }
inline Real tanh(Real x) { return Real(std::tanh(x.v)); }
inline Real asinh(Real x) { return Real(std::asinh(x.v)); }
inline Real acosh(Real x) { return Real(std::acosh(x.v)); }
inline Real atanh(Real x) { return Real(std::atanh(x.v)); }
inline Real erf(Real x) { return Real(std::erf(x.v)); }
inline Real erfc(Real x) { return Real(std::erfc(x.v)); }
inline Real lgamma(Real x) { return Real(std::lgamma(x.v)); }
inline Real copysign(Real a, Real b) { return Real(std::copysign(a.v, b.v)); }
inline bool signbit(Real x) { return std::signbit(x.v); }
inline bool any_true(bool condition) { return condition; }

inline Real bit_and(Real a, Real b) { return Real(double(int64_t(a.v) & int64_t(b.v))); }
inline Real bit_or(Real a, Real b) { return Real(double(int64_t(a.v) | int64_t(b.v))); }
inline Real bit_xor(Real a, Real b) { return Real(double(int64_t(a.v) ^ int64_t(b.v))); }
inline Real left_shift(Real a, Real b) { return Real(a.v * std::exp2(b.v)); }
inline Real right_shift(Real a, Real b) { return Real(std::floor(a.v / std::exp2(b.v))); }
inline Real gcd(Real a, Real b) { return Real(double(std::gcd(int64_t(a.v), int64_t(b.v)))); }
inline Real lcm(Real a, Real b) { return Real(double(std::lcm(int64_t(a.v), int64_t(b.v)))); }

inline Real normal_cdf(Real x) { return Real(0.5 * std::erfc(-x.v * 0.70710678118654752440)); }
inline Real normal_pdf(Real x) { return Real(0.39894228040143267794 * std::exp(-0.5 * x.v * x.v)); }
inline Real sigmoid(Real x) { return Real(1 / (1 + std::exp(-x.v))); }

#include "runtime/elementwise/special.h"

}  // namespace lunagrad::reference
