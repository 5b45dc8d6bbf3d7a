// Every mathematical function of the CPU kernels over Highway vectors of f32 or f64: math::exp(d, x).
// Included once per SIMD target, after hwy/highway.h. NaN gives NaN; infinities and subnormals give the
// results of the standard library. tests/runtime/test_math.cpp states and tests the errors in ULP. Pure, any
// thread.
//
// Implemented here: exp expm1 log log1p sinh cosh tanh sigmoid, normal_cdf normal_pdf, and sin cos erf within
// a range. The polynomials are minimax fits (Remez algorithm) made for this file; argument reductions follow
// W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980). Other functions are SLEEF's
// 1-ULP versions (N. Shibata and F. Petrogalli, IEEE TPDS 31, 2020).
#if defined(LUNAGRAD_CPU_MATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LUNAGRAD_CPU_MATH_H
#undef LUNAGRAD_CPU_MATH_H
#else
#define LUNAGRAD_CPU_MATH_H
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace math {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Number = hn::TFromD<D>;
template <class D>
inline constexpr bool is_f32 = sizeof(Number<D>) == 4;

template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, Number<D>(value));
}

// c[0] x^n + … + c[n], the coefficients from the highest power down.
template <class D, class V, size_t N>
HWY_INLINE V polynomial(D d, V x, const double (&c)[N]) {
  V sum = constant(d, c[0]);
  for (size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, constant(d, c[i]));
  return sum;
}

// Adding 1.5 * 2^(mantissa bits) rounds to an integer and leaves it in the lowest bits.
template <class D>
inline constexpr double kRounder = is_f32<D> ? 0x1.8p23 : 0x1.8p52;

// 2^n for an integer n within the exponent range of normal numbers.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V n) {
  const hn::RebindToUnsigned<D> bits;
  constexpr int kMantissa = is_f32<D> ? 23 : 52;
  constexpr double kBias = is_f32<D> ? 127 : 1023;
  return hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::BitCast(bits, n + constant(d, kRounder<D> + kBias))));
}

template <class D, class V>
HWY_INLINE V or_nan(D, V x, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

// x = n ln 2 + r with |r| <= ln 2 / 2, and exp(r) - 1 as r + r^2 P(r).
template <class V>
struct Reduced {
  V n, expm1;
};
template <class D, class V>
HWY_INLINE Reduced<V> reduce_exponential(D d, V x) {
  const V n =
      hn::MulAdd(x, constant(d, 1.44269504088896338700), constant(d, kRounder<D>)) - constant(d, kRounder<D>);
  V r, p;
  if constexpr (is_f32<D>) {
    constexpr double kP[] = {1.394602470e-03, 8.366365917e-03, 4.166629165e-02, 1.666654497e-01, 0.5};
    r = hn::NegMulAdd(n, constant(d, 0x1.62e4p-1), x);  // 16 bits of ln 2, exact for every n
    r = hn::NegMulAdd(n, constant(d, 0x1.7f7d1cf79abcap-20), r);
    p = polynomial(d, r, kP);
  } else {
    constexpr double kP[] = {2.09241680189865983e-09,
                             2.51086941891179148e-08,
                             2.75572438768438217e-07,
                             2.75572453537803874e-06,
                             2.48015873588813894e-05,
                             1.98412698847960130e-04,
                             1.38888888888679643e-03,
                             8.33333333332225354e-03,
                             4.16666666666666990e-02,
                             1.66666666666666768e-01,
                             0.5};
    r = hn::NegMulAdd(n, constant(d, 0x1.62e42fefa4000p-1), x);  // 41 bits
    r = hn::NegMulAdd(n, constant(d, -0x1.8432a1b0e2634p-43), r);
    p = polynomial(d, r, kP);
  }
  return {n, hn::MulAdd(r * r, p, r)};
}

// 2^shift exp(x) = 2^(n + shift) exp(r). The power is applied in two factors, which handles overflow and
// subnormal results.
template <class D, class V>
HWY_INLINE V exp(D d, V x, double shift = 0) {
  constexpr double kLow = is_f32<D> ? -105 : -746, kHigh = is_f32<D> ? 90 : 711;
  const Reduced<V> e = reduce_exponential(d, hn::Min(hn::Max(x, constant(d, kLow)), constant(d, kHigh)));
  const V half = hn::MulAdd(e.n, constant(d, 0.5), constant(d, kRounder<D>)) - constant(d, kRounder<D>);
  const V scale = power_of_two(d, half);
  const V rest = power_of_two(d, e.n - half + constant(d, shift));
  return or_nan(d, x, hn::MulAdd(e.expm1, scale, scale) * rest);
}

// exp(x) for x <= 0, which does not overflow. One factor is enough: it is 2^64 times too large, so that it is
// a normal number, and a constant corrects this. The same bits as exp().
template <class D, class V>
HWY_INLINE V exp_of_negative(D d, V x) {
  constexpr double kLow = is_f32<D> ? -105 : -746;
  const Reduced<V> e = reduce_exponential(d, hn::Max(x, constant(d, kLow)));
  const V scale = power_of_two(d, e.n + constant(d, 64));
  return or_nan(d, x, hn::MulAdd(e.expm1, scale, scale) * constant(d, 0x1p-64));
}

// exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), computed at half scale so that the largest n does not overflow.
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  constexpr double kLow = is_f32<D> ? -20 : -40, kHigh = is_f32<D> ? 89 : 710;
  const Reduced<V> e = reduce_exponential(d, hn::Min(hn::Max(x, constant(d, kLow)), constant(d, kHigh)));
  const V scale = power_of_two(d, e.n - constant(d, 1));
  const V half = hn::MulAdd(e.expm1, scale, scale - constant(d, 0.5));
  // Near 0, n is 0 and the result is r + r^2 P(r), which is correct for subnormals and keeps the sign of
  // zero.
  return or_nan(d, x, hn::IfThenElse(hn::Abs(x) < constant(d, 0.25), e.expm1, half + half));
}

// tanh(x) = E / (E + 2) with E = exp(2 |x|) - 1, and the sign of x. The rounding errors of E and of E + 2 are
// corrected to first order: 1 / (E + 2) is half of 1 - tanh.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  constexpr double kEnough = is_f32<D> ? 10 : 20;  // from here on tanh rounds to 1
  const V magnitude = hn::Min(hn::Abs(x), constant(d, kEnough));
  const Reduced<V> r = reduce_exponential(d, magnitude + magnitude);
  const V scale = power_of_two(d, r.n);
  const V whole = scale - constant(d, 1), part = r.expm1 * scale;
  const V e = whole + part, lost_of_e = part - (e - whole);
  const V two = constant(d, 2), half = constant(d, 0.5);
  const V sum = e + two, lost = lost_of_e + (hn::Min(e, two) - (sum - hn::Max(e, two)));
  const V quotient = e / sum;
  const V correction = hn::NegMulAdd(quotient, lost, lost_of_e) * hn::NegMulAdd(quotient, half, half);
  return or_nan(d, x, hn::CopySign(quotient + correction, x));
}

// With h = exp(|x|) / 2, which overflows only if the result does: cosh(x) = h + 1 / (4 h) and
// sinh(x) = h - 1 / (4 h); near 0 sinh(x) = (E + E / (E + 1)) / 2 with E = exp(|x|) - 1.
template <class D, class V>
HWY_INLINE V cosh(D d, V x) {
  const V h = exp(d, hn::Abs(x), -1);
  return h + constant(d, 0.25) / h;
}
template <class D, class V>
HWY_INLINE V sinh(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V h = exp(d, magnitude, -1);
  const V e = expm1(d, hn::Min(magnitude, constant(d, 1)));
  const V near = constant(d, 0.5) * (e + e / (e + constant(d, 1)));
  const V far = h - constant(d, 0.25) / h;
  return hn::CopySign(hn::IfThenElse(magnitude < constant(d, 1), near, far), x);
}

// 1 / (1 + e^-x) for x >= 0, and e^x / (1 + e^x) for x < 0: the exponential never overflows, and small
// results keep their precision.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = constant(d, 1);
  const V e = exp_of_negative(d, hn::Neg(hn::Abs(x)));
  return hn::IfThenElse(x < hn::Zero(d), e, one) / (one + e);
}

// x = 2^n (1 + f) with 1 + f in sqrt(1/2) … sqrt(2). In f32 log(1 + f) = f - f^2/2 + f^3 Q(f); in f64, with s
// = f / (2 + f), log(1 + f) = 2 atanh(s) = f - s (f - s^2 W(s^2)). `low` is a small term that is added to the
// result.
template <class D, class V>
HWY_INLINE V log_of_positive(D d, V x, V low) {
  const hn::RebindToSigned<D> di;
  constexpr double kSmallest = is_f32<D> ? 0x1p-126 : 0x1p-1022;
  constexpr double kLift = is_f32<D> ? 0x1p32 : 0x1p64;
  const auto denormal = x < constant(d, kSmallest);
  const V lifted = hn::IfThenElse(denormal, x * constant(d, kLift), x);
  constexpr int kMantissa = is_f32<D> ? 23 : 52;
  const auto root_half = hn::BitCast(di, constant(d, 0.70710678118654752440));
  const auto exponent = hn::ShiftRight<kMantissa>(hn::BitCast(di, lifted) - root_half);
  const V m = hn::BitCast(d, hn::BitCast(di, lifted) - hn::ShiftLeft<kMantissa>(exponent));
  // Adding an integer to the bits of the rounding constant adds it to its value.
  V n = hn::BitCast(d, exponent + hn::BitCast(di, constant(d, kRounder<D>))) - constant(d, kRounder<D>);
  n = n - hn::IfThenElseZero(denormal, constant(d, is_f32<D> ? 32 : 64));
  const V f = m - constant(d, 1);
  V tail, high, rest;
  if constexpr (is_f32<D>) {
    constexpr double kQ[] = {-7.859618217e-02, 1.288165152e-01, -1.312875450e-01, 1.418119222e-01,
                             -1.662455350e-01, 2.000228614e-01, -2.500081062e-01, 3.333331645e-01};
    const V square = f * f;
    tail = square * hn::MulAdd(f, polynomial(d, f, kQ), constant(d, -0.5));
    high = n * constant(d, 0x1.62e4p-1);
    rest = hn::MulAdd(n, constant(d, 0x1.7f7d1cf79abcap-20), low);
  } else {
    constexpr double kW[] = {1.48115403966994380e-01, 1.53125698100603364e-01, 1.81836189934014236e-01,
                             2.22221975871822491e-01, 2.85714287513053944e-01, 3.99999999993779609e-01,
                             6.66666666666673957e-01};
    const V s = f / (f + constant(d, 2));
    const V z = s * s;
    tail = hn::Neg(s * hn::NegMulAdd(z, polynomial(d, z, kW), f));
    high = n * constant(d, 0x1.62e42fefa4000p-1);
    rest = hn::MulAdd(n, constant(d, -0x1.8432a1b0e2634p-43), low);
  }
  return high + (f + (tail + rest));
}

// Special cases of log: log(0) = -inf, log(inf) = inf, NaN for negative numbers.
template <class D, class V>
HWY_INLINE V log_or_special(D d, V x, V result) {
  const V zero = hn::Zero(d);
  const V infinity = hn::Inf(d);
  result = hn::IfThenElse(x == infinity, infinity, result);
  result = hn::IfThenElse(x == zero, hn::Neg(infinity), result);
  return hn::IfThenElse(hn::Or(x < zero, hn::IsNaN(x)), hn::NaN(d), result);
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  return log_or_special(d, x, log_of_positive(d, x, hn::Zero(d)));
}

// log(1 + x) = log(u) + c / u, where u is 1 + x rounded and c its rounding error (exact: D. Knuth's two-sum).
template <class D, class V>
HWY_INLINE V log1p(D d, V x) {
  const V one = constant(d, 1);
  const V u = one + x;
  const V big = u - one;
  const V lost = (one - (u - big)) + (x - big);
  const V result = log_or_special(d, u, log_of_positive(d, u, lost / u));
  return hn::IfThenElse(hn::Abs(x) < constant(d, is_f32<D> ? 0x1p-25 : 0x1p-54), x, result);
}

// The functions that SLEEF provides for vectors of this target. One-lane f64 vectors use the standard
// library, whose f32 functions have errors of up to 2 ULP.
#if HWY_TARGET == HWY_SCALAR
#define LUNAGRAD_FROM_SLEEF(name, precision)                         \
  template <class D, class V>                                        \
  HWY_INLINE V name(D d, V x) {                                      \
    return hn::Set(d, Number<D>(std::name(double(hn::GetLane(x))))); \
  }
#define LUNAGRAD_FROM_SLEEF_2(name, precision)                                               \
  template <class D, class V>                                                                \
  HWY_INLINE V name(D d, V x, V y) {                                                         \
    return hn::Set(d, Number<D>(std::name(double(hn::GetLane(x)), double(hn::GetLane(y))))); \
  }
#define LUNAGRAD_FROM_SLEEF_AS(ours, name, precision)                \
  template <class D, class V>                                        \
  HWY_INLINE V ours(D d, V x) {                                      \
    return hn::Set(d, Number<D>(std::name(double(hn::GetLane(x))))); \
  }
#else
#if HWY_TARGET <= HWY_AVX3
#define LUNAGRAD_SLEEF_F32(name, precision) Sleef_##name##f16_##precision##avx512f
#define LUNAGRAD_SLEEF_F64(name, precision) Sleef_##name##d8_##precision##avx512f
#elif HWY_TARGET == HWY_AVX2
#define LUNAGRAD_SLEEF_F32(name, precision) Sleef_##name##f8_##precision##avx2
#define LUNAGRAD_SLEEF_F64(name, precision) Sleef_##name##d4_##precision##avx2
#elif HWY_TARGET == HWY_NEON
#define LUNAGRAD_SLEEF_F32(name, precision) Sleef_##name##f4_##precision##advsimd
#define LUNAGRAD_SLEEF_F64(name, precision) Sleef_##name##d2_##precision##advsimd
#else
#define LUNAGRAD_SLEEF_F32(name, precision) Sleef_##name##f4_##precision##sse4
#define LUNAGRAD_SLEEF_F64(name, precision) Sleef_##name##d2_##precision##sse4
#endif
using RawF32 = decltype(hn::Zero(hn::ScalableTag<float>()).raw);
using RawF64 = decltype(hn::Zero(hn::ScalableTag<double>()).raw);
// Declared here, because sleef.h declares only the functions for the compiler flags' target, not for this
// target.
#define LUNAGRAD_FROM_SLEEF_AS(ours, name, precision)            \
  extern "C" RawF32 LUNAGRAD_SLEEF_F32(name, precision)(RawF32); \
  extern "C" RawF64 LUNAGRAD_SLEEF_F64(name, precision)(RawF64); \
  template <class D, class V>                                    \
  HWY_INLINE V ours(D, V x) {                                    \
    if constexpr (is_f32<D>)                                     \
      return V{LUNAGRAD_SLEEF_F32(name, precision)(x.raw)};      \
    else                                                         \
      return V{LUNAGRAD_SLEEF_F64(name, precision)(x.raw)};      \
  }
#define LUNAGRAD_FROM_SLEEF(name, precision) LUNAGRAD_FROM_SLEEF_AS(name, name, precision)
#define LUNAGRAD_FROM_SLEEF_2(name, precision)                           \
  extern "C" RawF32 LUNAGRAD_SLEEF_F32(name, precision)(RawF32, RawF32); \
  extern "C" RawF64 LUNAGRAD_SLEEF_F64(name, precision)(RawF64, RawF64); \
  template <class D, class V>                                            \
  HWY_INLINE V name(D, V x, V y) {                                       \
    if constexpr (is_f32<D>)                                             \
      return V{LUNAGRAD_SLEEF_F32(name, precision)(x.raw, y.raw)};       \
    else                                                                 \
      return V{LUNAGRAD_SLEEF_F64(name, precision)(x.raw, y.raw)};       \
  }
#endif

LUNAGRAD_FROM_SLEEF(exp2, u10)
LUNAGRAD_FROM_SLEEF(log2, u10)
LUNAGRAD_FROM_SLEEF(log10, u10)
LUNAGRAD_FROM_SLEEF(tan, u10)
LUNAGRAD_FROM_SLEEF(asin, u10)
LUNAGRAD_FROM_SLEEF(acos, u10)
LUNAGRAD_FROM_SLEEF(atan, u10)
LUNAGRAD_FROM_SLEEF(atanh, u10)
LUNAGRAD_FROM_SLEEF_2(atan2, u10)
LUNAGRAD_FROM_SLEEF_AS(moderate_asinh, asinh, u10)
LUNAGRAD_FROM_SLEEF_AS(moderate_acosh, acosh, u10)
LUNAGRAD_FROM_SLEEF_AS(any_sin, sin, u10)
LUNAGRAD_FROM_SLEEF_AS(any_cos, cos, u10)
LUNAGRAD_FROM_SLEEF_AS(any_erf, erf, u10)
LUNAGRAD_FROM_SLEEF(erfc, u15)
LUNAGRAD_FROM_SLEEF(lgamma, u10)
namespace sleef {
LUNAGRAD_FROM_SLEEF_2(pow, u10)
}  // namespace sleef

// SLEEF squares its operand, which overflows for large |x|; there both functions are log(2 |x|).
template <class D, class V>
HWY_INLINE V asinh(D d, V x) {
  const V magnitude = hn::Abs(x);
  const V far = log(d, magnitude) + constant(d, 0.69314718055994530942);
  return hn::IfThenElse(magnitude > constant(d, 1e10), hn::CopySign(far, x), moderate_asinh(d, x));
}
template <class D, class V>
HWY_INLINE V acosh(D d, V x) {
  const V far = log(d, x) + constant(d, 0.69314718055994530942);
  return hn::IfThenElse(x > constant(d, 1e10), far, moderate_acosh(d, x));
}

// x = n pi/2 + r; sine and cosine of r are odd and even polynomials, selected and negated by n mod 4. The
// sine adds the rounding error of r. Accurate as long as n times the leading part of pi/2 is exact with FMA;
// larger x use SLEEF.
template <class D, class V>
HWY_INLINE V sine_of_quadrant(D d, V x, double shift) {
  const hn::RebindToUnsigned<D> du;
  const V rounded = hn::MulAdd(x, constant(d, 6.36619772367581382433e-01), constant(d, kRounder<D>));
  const V n = rounded - constant(d, kRounder<D>);
  // Where r is much larger than the part that was subtracted, the difference is exact.
  const auto is_large = [d](V r) HWY_ATTR { return hn::Abs(r) > constant(d, 0x1p-6); };
  V sine, cosine;
  if constexpr (is_f32<D>) {
    constexpr double kS[] = {-1.951665618e-04, 8.332173340e-03, -1.666665524e-01};
    constexpr double kC[] = {2.443772973e-05, -1.388736186e-03, 4.166664556e-02, -0.5, 1};
    const V exact = hn::NegMulAdd(n, constant(d, 0x1.921fb6p+0), x);
    const V r = hn::NegMulAdd(n, constant(d, -0x1.777a5cp-25), exact);
    const V lost = hn::NegMulAdd(n, constant(d, -0x1.777a5cp-25), exact - r);
    const V rest = hn::NegMulAdd(n, constant(d, -0x1.ee59dap-50), hn::IfThenElseZero(is_large(r), lost));
    const V z = r * r;
    sine = r + hn::MulAdd(z * r, polynomial(d, z, kS), rest);
    cosine = polynomial(d, z, kC);
  } else {
    constexpr double kS[] = {1.58965051084299619e-10,  -2.50507532671588547e-08, 2.75573136620730898e-06,
                             -1.98412698297252457e-04, 8.33333333332231599e-03,  -1.66666666666666324e-01};
    constexpr double kC[] = {-1.13594487357089703e-11,
                             2.08757195596857533e-09,
                             -2.75573143260371090e-07,
                             2.48015872893949433e-05,
                             -1.38888888888739903e-03,
                             4.16666666666666019e-02,
                             -0.5,
                             1};
    const V exact = hn::NegMulAdd(n, constant(d, 0x1.921fb54442d18p+0), x);
    const V r = hn::NegMulAdd(n, constant(d, 0x1.1a62633145c07p-54), exact);
    const V lost = hn::NegMulAdd(n, constant(d, 0x1.1a62633145c07p-54), exact - r);
    const V rest =
        hn::NegMulAdd(n, constant(d, -0x1.f1976b7ed8fbcp-110), hn::IfThenElseZero(is_large(r), lost));
    const V z = r * r;
    sine = r + hn::MulAdd(z * r, polynomial(d, z, kS), rest);
    cosine = polynomial(d, z, kC);
  }
  const auto quadrant = hn::BitCast(du, rounded + constant(d, shift));
  const auto odd = hn::MaskFromVec(
      hn::BitCast(d, hn::Neg(hn::BitCast(hn::RebindToSigned<D>(), hn::And(quadrant, hn::Set(du, 1))))));
  constexpr int kToSign = is_f32<D> ? 30 : 62;
  const auto sign = hn::BitCast(d, hn::ShiftLeft<kToSign>(hn::And(quadrant, hn::Set(du, 2))));
  return hn::Xor(hn::IfThenElse(odd, cosine, sine), sign);
}

template <class D>
inline constexpr double kLargestAngle = is_f32<D> ? 8192 : 1048576;

// Each lane's result depends on that lane alone: a number has the same sine wherever it lies in a tensor.
template <class D, class V>
HWY_INLINE V sin(D d, V x) {
#if HWY_NATIVE_FMA
  const auto small = hn::Abs(x) < constant(d, kLargestAngle<D>);
  const V sine = hn::IfThenElse(x == hn::Zero(d), x, sine_of_quadrant(d, x, 0));  // keeps -0
  return HWY_LIKELY(hn::AllTrue(d, small)) ? sine : hn::IfThenElse(small, sine, any_sin(d, x));
#else
  return any_sin(d, x);
#endif
}

template <class D, class V>
HWY_INLINE V cos(D d, V x) {
#if HWY_NATIVE_FMA
  const auto small = hn::Abs(x) < constant(d, kLargestAngle<D>);
  const V cosine = sine_of_quadrant(d, x, 1);
  return HWY_LIKELY(hn::AllTrue(d, small)) ? cosine : hn::IfThenElse(small, cosine, any_cos(d, x));
#else
  return any_cos(d, x);
#endif
}

// |x| <= 1: x + x E(x^2). |x| > 1: 1 - exp(R(|x|)) with R fitted to log(erfc).
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  if constexpr (is_f32<D>) {
    constexpr double kE[] = {7.889122207e-05, -8.020842215e-04, 5.189535208e-03, -2.685444430e-02,
                             1.128360033e-01, -3.761262596e-01, 1.283791661e-01};
    constexpr double kR[] = {-2.169760774e-05, 4.414725991e-04,  -4.205284640e-03, 2.521033958e-02,
                             -1.084221005e-01, -6.332163811e-01, -1.129580259e+00, 1.884680387e-04};
    const V magnitude = hn::Abs(x);
    const V near = hn::MulAdd(x, polynomial(d, x * x, kE), x);
    const V bounded = hn::Min(magnitude, constant(d, 4));
    const Reduced<V> e = reduce_exponential(d, polynomial(d, bounded, kR));
    const V scale = power_of_two(d, e.n);
    const V far = constant(d, 1) - hn::MulAdd(e.expm1, scale, scale);
    return or_nan(d, x, hn::IfThenElse(magnitude < constant(d, 1), near, hn::CopySign(far, x)));
  } else {
    return any_erf(d, x);
  }
}

// Density and cumulative distribution function of the standard normal distribution. For a >= 0 the upper tail
// is exp(-a^2 / 2) S(a) with S(a) = Q((a - 3) / (a + 3)) / (a + 3): small values keep their relative
// precision, and a formula with both functions computes one exponential.
template <class D, class V>
HWY_INLINE V exp_of_half_square(D d, V x) {
  return exp_of_negative(d, constant(d, -0.5) * x * x);
}
template <class D, class V>
HWY_INLINE V normal_pdf(D d, V x) {
  return constant(d, 0.39894228040143267794) * exp_of_half_square(d, x);
}
template <class D, class V>
HWY_INLINE V normal_cdf(D d, V x) {
  if constexpr (is_f32<D>) {
    constexpr double kQ[] = {-2.667658305e-04, -9.032518923e-04, 1.076036411e-03,
                             6.923921683e-03,  -1.047993524e-02, -4.725610071e-02,
                             2.300193493e-01,  -5.093322851e-01, 7.290836692e-01};
    const V a = hn::Min(hn::Abs(x), constant(d, 32));  // the tail is 0 for larger |x|
    const V r = constant(d, 1) / (a + constant(d, 3));
    const V tail = exp_of_half_square(d, x) * (r * polynomial(d, (a - constant(d, 3)) * r, kQ));
    return hn::IfThenElse(x < hn::Zero(d), tail, constant(d, 1) - tail);
  } else {
    return constant(d, 0.5) * erfc(d, x * constant(d, -0.70710678118654752440));
  }
}

// The C standard: pow(-inf, 0.5) = +inf and pow(-0, 0.5) = +0.
template <class D, class V>
HWY_INLINE V root_as_power(D d, V x) {
  return hn::IfThenElse(x == hn::Neg(hn::Inf(d)), hn::Inf(d), hn::Sqrt(x + hn::Zero(d)));
}

// Most exponents in scripts are small numbers. They have special cases, which are faster when all lanes have
// the same exponent. Each lane's result depends on that lane alone.
template <class D, class V>
HWY_INLINE V pow(D d, V x, V y) {
  const V first = hn::Set(d, hn::GetLane(y));
  if (hn::AllTrue(d, y == first)) {
    const Number<D> exponent = hn::GetLane(y);
    if (exponent == 2) return x * x;
    if (exponent == 1) return x;
    if (exponent == 3) return x * x * x;
    if (exponent == -1) return constant(d, 1) / x;
    if (exponent == Number<D>(0.5)) return root_as_power(d, x);
    return sleef::pow(d, x, y);
  }
  V power = sleef::pow(d, x, y);
  power = hn::IfThenElse(y == constant(d, 2), x * x, power);
  power = hn::IfThenElse(y == constant(d, 1), x, power);
  power = hn::IfThenElse(y == constant(d, 3), x * x * x, power);
  power = hn::IfThenElse(y == constant(d, -1), constant(d, 1) / x, power);
  return hn::IfThenElse(y == constant(d, 0.5), root_as_power(d, x), power);
}

template <class D, class V>
HWY_INLINE V fmod_of_lanes(D d, V x, V y) {
  HWY_ALIGN Number<D> a[HWY_LANES(Number<D>)], b[HWY_LANES(Number<D>)];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = std::fmod(a[i], b[i]);
  return hn::Load(d, a);
}

// With q = trunc(|x| / |y|) below 2^22 (f64: 2^50) the rounded quotient has an error of at most 1. So |x| - q
// |y| is between -|y| and |y| and is a multiple of the ULP of x or y; FMA computes it exactly. Larger
// quotients, infinities and NaN are computed lane by lane.
template <class D, class V>
HWY_INLINE V fmod(D d, V x, V y) {
#if HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON
  const V a = hn::Abs(x), b = hn::Abs(y), quotient = a / b;
  const V most = constant(d, sizeof(Number<D>) == 4 ? 4194304.0 : 1125899906842624.0);
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(quotient < most, b < hn::Inf(d))))) {
    V rest = hn::NegMulAdd(hn::Trunc(quotient), b, a);
    rest = hn::IfThenElse(rest < hn::Zero(d), rest + b, rest);
    return hn::CopySign(hn::IfThenElse(rest >= b, rest - b, rest), x);
  }
#endif
  return fmod_of_lanes(d, x, y);
}

#undef LUNAGRAD_FROM_SLEEF
#undef LUNAGRAD_FROM_SLEEF_2
#undef LUNAGRAD_FROM_SLEEF_AS
#undef LUNAGRAD_SLEEF_F32
#undef LUNAGRAD_SLEEF_F64

}  // namespace math
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#endif
