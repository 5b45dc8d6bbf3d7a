// The functions of elementwise.def (ops/elementwise/vocabulary.h) for a SIMD vector of f32 or f64. Included
// once per SIMD target, after hwy/highway.h. Pure, any thread.
#if defined(LUNAGRAD_CPU_VECTOR_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LUNAGRAD_CPU_VECTOR_H
#undef LUNAGRAD_CPU_VECTOR_H
#else
#define LUNAGRAD_CPU_VECTOR_H
#endif

#include "runtime/cpu/math.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct Vector {
  static constexpr bool kSingle = sizeof(T) == 4;
  using D = hn::ScalableTag<T>;
  hn::Vec<D> v;
  HWY_INLINE Vector(hn::Vec<D> value) : v(value) {}
  HWY_INLINE explicit Vector(double constant) : v(hn::Set(D(), T(constant))) {}
};

template <class T>
struct Mask {
  using D = hn::ScalableTag<T>;
  hn::Mask<D> m;
  HWY_INLINE Mask(hn::Mask<D> mask) : m(mask) {}
};

#define LUNAGRAD_ARITHMETIC(sign)                                \
  template <class T>                                             \
  HWY_INLINE Vector<T> operator sign(Vector<T> a, Vector<T> b) { \
    return a.v sign b.v;                                         \
  }
LUNAGRAD_ARITHMETIC(+)
LUNAGRAD_ARITHMETIC(-)
LUNAGRAD_ARITHMETIC(*)
LUNAGRAD_ARITHMETIC(/)
#undef LUNAGRAD_ARITHMETIC
template <class T>
HWY_INLINE Vector<T> operator-(Vector<T> a) {
  return hn::Neg(a.v);
}

#define LUNAGRAD_COMPARISON(sign)                              \
  template <class T>                                           \
  HWY_INLINE Mask<T> operator sign(Vector<T> a, Vector<T> b) { \
    return a.v sign b.v;                                       \
  }
LUNAGRAD_COMPARISON(==)
LUNAGRAD_COMPARISON(<)
LUNAGRAD_COMPARISON(<=)
LUNAGRAD_COMPARISON(>)
LUNAGRAD_COMPARISON(>=)
#undef LUNAGRAD_COMPARISON
// NaN != x is true for every x; Highway's comparison for AVX-512 gives false.
template <class T>
HWY_INLINE Mask<T> operator!=(Vector<T> a, Vector<T> b) {
  return hn::Not(a.v == b.v);
}
template <class T>
HWY_INLINE Mask<T> operator&&(Mask<T> a, Mask<T> b) {
  return hn::And(a.m, b.m);
}
template <class T>
HWY_INLINE Mask<T> operator||(Mask<T> a, Mask<T> b) {
  return hn::Or(a.m, b.m);
}
template <class T>
HWY_INLINE Mask<T> operator!=(Mask<T> a, Mask<T> b) {
  return hn::Xor(a.m, b.m);
}
template <class T>
HWY_INLINE Mask<T> operator!(Mask<T> a) {
  return hn::Not(a.m);
}
template <class T>
HWY_INLINE Mask<T> isnan(Vector<T> x) {
  return hn::IsNaN(x.v);
}
template <class T>
HWY_INLINE Mask<T> isinf(Vector<T> x) {
  return hn::Abs(x.v) == hn::Inf(hn::ScalableTag<T>());
}
template <class T>
HWY_INLINE Mask<T> isfinite(Vector<T> x) {
  return hn::Abs(x.v) < hn::Inf(hn::ScalableTag<T>());
}
template <class T>
HWY_INLINE Vector<T> sel(Mask<T> condition, Vector<T> yes, Vector<T> no) {
  return hn::IfThenElse(condition.m, yes.v, no.v);
}

template <class T>
HWY_INLINE Vector<T> abs(Vector<T> x) {
  return hn::Abs(x.v);
}
template <class T>
HWY_INLINE Vector<T> square(Vector<T> x) {
  return x * x;
}
template <class T>
HWY_INLINE Vector<T> conj(Vector<T> x) {
  return x;
}
// x itself where it is neither positive nor negative: zeros and NaN.
template <class T>
HWY_INLINE Vector<T> sign(Vector<T> x) {
  const Vector<T> zero(0), one(1);
  return sel(x > zero, one, sel(x < zero, -one, x));
}
// NaN if either operand is NaN, as in PyTorch; the instructions alone would return the other operand for one
// of the two.
template <class T>
HWY_INLINE Vector<T> max(Vector<T> a, Vector<T> b) {
  return sel(a < b || isnan(b), b, a);
}
template <class T>
HWY_INLINE Vector<T> min(Vector<T> a, Vector<T> b) {
  return sel(a > b || isnan(b), b, a);
}
// Restores the sign of x: targets that lack the instruction round through integers and lose it.
template <class T, class V>
HWY_INLINE Vector<T> with_sign_of(Vector<T> x, V rounded) {
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::CopySign(rounded, x.v);
#else
  return rounded;
#endif
}
template <class T>
HWY_INLINE Vector<T> floor(Vector<T> x) {
  return with_sign_of(x, hn::Floor(x.v));
}
template <class T>
HWY_INLINE Vector<T> ceil(Vector<T> x) {
  return with_sign_of(x, hn::Ceil(x.v));
}
template <class T>
HWY_INLINE Vector<T> round_even(Vector<T> x) {
  return with_sign_of(x, hn::Round(x.v));
}
template <class T>
HWY_INLINE Vector<T> trunc(Vector<T> x) {
  return with_sign_of(x, hn::Trunc(x.v));
}
template <class T>
HWY_INLINE Vector<T> sqrt(Vector<T> x) {
  return hn::Sqrt(x.v);
}

#define LUNAGRAD_FUNCTION(name)                   \
  template <class T>                              \
  HWY_INLINE Vector<T> name(Vector<T> x) {        \
    return math::name(hn::ScalableTag<T>(), x.v); \
  }
#define LUNAGRAD_FUNCTION_2(name)                       \
  template <class T>                                    \
  HWY_INLINE Vector<T> name(Vector<T> a, Vector<T> b) { \
    return math::name(hn::ScalableTag<T>(), a.v, b.v);  \
  }
LUNAGRAD_FUNCTION(exp)
LUNAGRAD_FUNCTION(exp2)
LUNAGRAD_FUNCTION(expm1)
LUNAGRAD_FUNCTION(log)
LUNAGRAD_FUNCTION(log1p)
LUNAGRAD_FUNCTION(log2)
LUNAGRAD_FUNCTION(log10)
LUNAGRAD_FUNCTION(sin)
LUNAGRAD_FUNCTION(cos)
LUNAGRAD_FUNCTION(tan)
LUNAGRAD_FUNCTION(asin)
LUNAGRAD_FUNCTION(acos)
LUNAGRAD_FUNCTION(atan)
LUNAGRAD_FUNCTION(sinh)
LUNAGRAD_FUNCTION(cosh)
LUNAGRAD_FUNCTION(tanh)
LUNAGRAD_FUNCTION(asinh)
LUNAGRAD_FUNCTION(acosh)
LUNAGRAD_FUNCTION(atanh)
LUNAGRAD_FUNCTION(erf)
LUNAGRAD_FUNCTION(erfc)
LUNAGRAD_FUNCTION(lgamma)
LUNAGRAD_FUNCTION(normal_cdf)
LUNAGRAD_FUNCTION(normal_pdf)
LUNAGRAD_FUNCTION(sigmoid)
LUNAGRAD_FUNCTION_2(pow)
LUNAGRAD_FUNCTION_2(atan2)
LUNAGRAD_FUNCTION_2(fmod)
#undef LUNAGRAD_FUNCTION
#undef LUNAGRAD_FUNCTION_2

// As in ops/elementwise/vocabulary.h.
template <class T>
HWY_INLINE Vector<T> remainder(Vector<T> a, Vector<T> b) {
  const Vector<T> r = fmod(a, b), zero(0);
  return sel(r != zero && (r < zero) != (b < zero), r + b, r);
}
template <class T>
HWY_INLINE Vector<T> floor_div(Vector<T> a, Vector<T> b) {
  const Vector<T> zero(0), plain = a / b, r = fmod(a, b);
  const Vector<T> whole = round_even((a - r) / b);
  const Vector<T> quotient = sel(r != zero && (r < zero) != (b < zero), whole - Vector<T>(1), whole);
  const Vector<T> signed_zero(hn::CopySign(zero.v, plain.v));
  return sel(b == zero, plain, sel(quotient == zero, signed_zero, quotient));
}
template <class T>
HWY_INLINE Vector<T> copysign(Vector<T> a, Vector<T> b) {
  return hn::CopySign(a.v, b.v);
}
template <class T>
HWY_INLINE Mask<T> signbit(Vector<T> x) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> bits;
  return hn::RebindMask(d, hn::BitCast(bits, x.v) < hn::Zero(bits));
}
template <class T>
HWY_INLINE bool any_true(Mask<T> condition) {
  return !hn::AllFalse(hn::ScalableTag<T>(), condition.m);
}

#include "runtime/elementwise/special.h"

}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#endif
