// The functions of elementwise.def (ops/elementwise/vocabulary.h) that are defined for complex numbers, over
// pairs of SIMD vectors. Quotients, absolute values, square roots and logarithms scale by powers of two, so
// that no intermediate value overflows or underflows unless the result does. Branch cuts and signed zeros
// follow C99. Products of infinities are not corrected, as in PyTorch. Included once per SIMD target, after
// cpu/vector.h. Pure, any thread.
#if defined(LUNAGRAD_CPU_COMPLEX_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LUNAGRAD_CPU_COMPLEX_H
#undef LUNAGRAD_CPU_COMPLEX_H
#else
#define LUNAGRAD_CPU_COMPLEX_H
#endif

#include "runtime/cpu/vector.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {

template <class T>
struct Complex {
  Vector<T> re, im;
  HWY_INLINE Complex(Vector<T> real, Vector<T> imaginary) : re(real), im(imaginary) {}
  HWY_INLINE explicit Complex(double constant) : re(constant), im(0.0) {}
};

template <class T>
HWY_INLINE Vector<T> copy_sign(Vector<T> size, Vector<T> sign) {
  return hn::CopySign(size.v, sign.v);
}

// --- scales: numbers above `near` are divided by `far`, numbers below 1 / near are multiplied by it. Then
// even the square of the smallest subnormal is a normal number ---

template <class T>
struct Powers {  // f32
  static constexpr double near = 0x1p60, far = 0x1p100, root = 0x1p50, log_far = 69.314718055994530942;
  static constexpr double exp_limit = 80, exp_shift = 60, exp_of_shift = 1.1420073898156842837e26;
  static constexpr double tanh_limit = 10;
};
template <>
struct Powers<double> {
  static constexpr double near = 0x1p500, far = 0x1p600, root = 0x1p300, log_far = 415.88830833596718565;
  static constexpr double exp_limit = 700, exp_shift = 500, exp_of_shift = 1.4035922178528374107e217;
  static constexpr double tanh_limit = 22;
};

// Selects the power for small, for usual or for large numbers.
template <class T>
HWY_INLINE Vector<T> by_size(Vector<T> size, double small, double usual, double large) {
  using V = Vector<T>;
  return sel(size > V(Powers<T>::near), V(large), sel(size < V(1 / Powers<T>::near), V(small), V(usual)));
}
template <class T>
HWY_INLINE Vector<T> scale_of(Vector<T> size) {
  return by_size(size, Powers<T>::far, 1, 1 / Powers<T>::far);
}
template <class T>
HWY_INLINE Vector<T> inverse_scale_of(Vector<T> size) {
  return by_size(size, 1 / Powers<T>::far, 1, Powers<T>::far);
}

template <class T>
HWY_INLINE Vector<T> largest_part(Complex<T> z) {
  return max(abs(z.re), abs(z.im));
}

// --- conditions; comparisons of order compare the real parts ---

template <class T>
HWY_INLINE Mask<T> operator==(Complex<T> a, Complex<T> b) {
  return a.re == b.re && a.im == b.im;
}
template <class T>
HWY_INLINE Mask<T> operator!=(Complex<T> a, Complex<T> b) {
  return !(a == b);
}
template <class T>
HWY_INLINE Mask<T> operator<(Complex<T> a, Complex<T> b) {
  return a.re < b.re;
}
template <class T>
HWY_INLINE Mask<T> operator>=(Complex<T> a, Complex<T> b) {
  return a.re >= b.re;
}
template <class T>
HWY_INLINE Mask<T> isnan(Complex<T> z) {
  return isnan(z.re) || isnan(z.im);
}
template <class T>
HWY_INLINE Mask<T> isinf(Complex<T> z) {
  return isinf(z.re) || isinf(z.im);
}
template <class T>
HWY_INLINE Mask<T> isfinite(Complex<T> z) {
  return isfinite(z.re) && isfinite(z.im);
}
template <class T>
HWY_INLINE Complex<T> sel(Mask<T> condition, Complex<T> yes, Complex<T> no) {
  return {sel(condition, yes.re, no.re), sel(condition, yes.im, no.im)};
}

// --- arithmetic ---

template <class T>
HWY_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
HWY_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
HWY_INLINE Complex<T> operator-(Complex<T> a) {
  return {-a.re, -a.im};
}
template <class T>
HWY_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
HWY_INLINE Complex<T> operator*(Complex<T> a, Vector<T> b) {
  return {a.re * b, a.im * b};
}

// With p the larger part of b, q the other and r = q / p, the denominator is p + q r (R. L. Smith, "Algorithm
// 116: Complex division", 1962). Division by zero gives infinities, division by infinity zeros.
template <class T>
HWY_INLINE Complex<T> operator/(Complex<T> a, Complex<T> b) {
  using V = Vector<T>;
  using P = Powers<T>;
  const V zero(0.0), a_size = largest_part(a), b_size = largest_part(b);
  const V a_scale = scale_of(a_size), b_scale = scale_of(b_size);
  const Mask<T> real_is_larger = abs(b.re) >= abs(b.im);
  const V p = sel(real_is_larger, b.re, b.im) * b_scale, q = sel(real_is_larger, b.im, b.re) * b_scale;
  const Mask<T> nothing = b == Complex<T>(0);
  const V ratio = sel(isinf(q), sign(p) * sign(q), sel(nothing, zero, q / p));
  const V below = sel(nothing, zero, p + q * ratio);
  const Complex<T> top = a * a_scale;
  const Complex<T> quotient(sel(real_is_larger, top.re + top.im * ratio, top.re * ratio + top.im) / below,
                            sel(real_is_larger, top.im - top.re * ratio, top.im * ratio - top.re) / below);
  // In two steps, because the product of both scales may overflow. Each multiplication by a power of two is
  // exact.
  const V half_of_scales =
      by_size(b_size, P::root, 1, 1 / P::root) * by_size(a_size, 1 / P::root, 1, P::root);
  return quotient * half_of_scales * half_of_scales;
}

template <class T>
HWY_INLINE Complex<T> square(Complex<T> z) {
  return z * z;
}
template <class T>
HWY_INLINE Complex<T> conj(Complex<T> z) {
  return {z.re, -z.im};
}
template <class T>
HWY_INLINE Vector<T> norm_sq(Complex<T> z) {
  return z.re * z.re + z.im * z.im;
}

// |z|; infinite where a part is infinite, even if the other is NaN.
template <class T>
HWY_INLINE Vector<T> magnitude(Complex<T> z) {
  const Vector<T> size = largest_part(z);
  const Vector<T> plain = sqrt(norm_sq(z * scale_of(size))) * inverse_scale_of(size);
  return sel(isinf(z.re) || isinf(z.im), Vector<T>(double(INFINITY)), plain);
}
template <class T>
HWY_INLINE Complex<T> abs(Complex<T> z) {
  return {magnitude(z), Vector<T>(0.0)};
}

// --- functions ---

// sqrt(z) = t + i y / 2t with t = sqrt((|x| + |z|) / 2), rotated into the right half plane (W. Kahan, "Branch
// cuts for complex elementary functions", 1987).
template <class T>
HWY_NOINLINE Complex<T> sqrt(Complex<T> z) {
  using V = Vector<T>;
  using P = Powers<T>;
  const V zero(0.0), half(0.5), size = largest_part(z);
  const Complex<T> scaled = z * scale_of(size);
  const V back = by_size(size, 1 / P::root, 1, P::root);
  const V t = sqrt((abs(scaled.re) + magnitude(scaled)) * half);
  const V other = sel(t == zero, zero, abs(scaled.im) * half / t) * back, root = t * back;
  const Mask<T> left = z.re < zero;
  const Complex<T> plain(sel(left, other, root), copy_sign(sel(left, root, other), z.im));
  return sel(isinf(z.im), Complex<T>(abs(z.im), z.im), plain);
}

// f s, but 0 for any f when s (the sine of 0) is 0.
template <class T>
HWY_INLINE Vector<T> unless_zero(Vector<T> f, Vector<T> s) {
  return sel(s == Vector<T>(0.0), s, f * s);
}

// e^x (cos y + i sin y); e^x is applied in two factors when it would overflow alone.
template <class T>
HWY_NOINLINE Complex<T> exp(Complex<T> z) {
  using V = Vector<T>;
  using P = Powers<T>;
  const V zero(0.0), one(1.0);
  const Mask<T> large = z.re > V(P::exp_limit);
  const V e = exp(sel(large, z.re - V(P::exp_shift), z.re)), rest = sel(large, V(P::exp_of_shift), one);
  const Complex<T> plain(e * cos(z.im) * rest, unless_zero(e, sin(z.im)) * rest);
  return sel(e == zero && !isfinite(z.im), Complex<T>(0), plain);
}

// log|z| + i arg z. Near the unit circle, with x the larger part, 2 log|z| = log1p((x - 1)(x + 1) + y^2).
template <class T>
HWY_NOINLINE Complex<T> log(Complex<T> z) {
  using V = Vector<T>;
  using P = Powers<T>;
  const V one(1.0), half(0.5), x = largest_part(z), y = min(abs(z.re), abs(z.im));
  const V near_one = half * log1p((x - one) * (x + one) + y * y);
  const V far_off = log(magnitude(z * scale_of(x))) + by_size(x, -P::log_far, 0, P::log_far);
  return {sel(x > half && x < V(2.0), near_one, far_off), atan2(z.im, z.re)};
}
template <class T>
HWY_INLINE Complex<T> log2(Complex<T> z) {
  return log(z) * Vector<T>(1.4426950408889634074);
}
template <class T>
HWY_INLINE Complex<T> log10(Complex<T> z) {
  return log(z) * Vector<T>(0.43429448190325182765);
}

// e^(b log a); 0^0 is 1.
template <class T>
HWY_NOINLINE Complex<T> pow(Complex<T> a, Complex<T> b) {
  const Complex<T> zero(0), one(1), two(2);
  const Mask<T> vanishes = a == zero && (b == zero || b.re > zero.re);
  return sel(vanishes, sel(b == zero, one, zero), sel(b == two, a * a, exp(b * log(a))));
}

template <class T>
HWY_NOINLINE Complex<T> sinh(Complex<T> z) {
  return {unless_zero(cos(z.im), sinh(z.re)), unless_zero(cosh(z.re), sin(z.im))};
}
template <class T>
HWY_NOINLINE Complex<T> cosh(Complex<T> z) {
  return {cosh(z.re) * cos(z.im), unless_zero(sinh(z.re), sin(z.im))};
}
// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); far from the imaginary axis ±1 + 4 i sin y cos y
// e^-2|x|.
template <class T>
HWY_NOINLINE Complex<T> tanh(Complex<T> z) {
  using V = Vector<T>;
  const V sinh_re = sinh(z.re), cos_im = cos(z.im), crossed = sin(z.im) * cos_im;
  const V below = sinh_re * sinh_re + cos_im * cos_im;
  const Complex<T> near_axis(sinh_re * cosh(z.re) / below, crossed / below);
  const Complex<T> far_off(copy_sign(V(1.0), z.re), crossed * V(4.0) * exp(V(-2.0) * abs(z.re)));
  return sel(abs(z.re) > V(Powers<T>::tanh_limit), far_off, near_axis);
}
// sin z = -i sinh iz, cos z = cosh iz, tan z = -i tanh iz.
template <class T>
HWY_INLINE Complex<T> times_i(Complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
HWY_INLINE Complex<T> over_i(Complex<T> z) {
  return {z.im, -z.re};
}
template <class T>
HWY_INLINE Complex<T> sin(Complex<T> z) {
  return over_i(sinh(times_i(z)));
}
template <class T>
HWY_INLINE Complex<T> cos(Complex<T> z) {
  return cosh(times_i(z));
}
template <class T>
HWY_INLINE Complex<T> tan(Complex<T> z) {
  return over_i(tanh(times_i(z)));
}

// 1 / (1 + e^-z), or e^z / (1 + e^z) left of the imaginary axis.
template <class T>
HWY_NOINLINE Complex<T> sigmoid(Complex<T> z) {
  const Complex<T> one(1);
  const Mask<T> left = z.re < Vector<T>(0.0);
  const Complex<T> e = exp(sel(left, z, -z));
  return sel(left, e, one) / (one + e);
}

}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#endif
