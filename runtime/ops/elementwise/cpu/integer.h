#pragma once
// The functions of elementwise.def (ops/elementwise/vocabulary.h) for integers; the compiler vectorises them.
// Pure, any thread.
#include <cstdint>
#include <type_traits>

#include "runtime/core/dtype.h"
#include "runtime/core/error.h"

namespace lunagrad::integers {

// An integer with wrap-around arithmetic and defined results for division by 0 and for shifts.
template <class T>
struct Integer {
  T v;
  Integer(T value) : v(value) {}
  explicit Integer(double constant) : v(convert<T>(constant)) {}
};

// Sums and products wrap around in it.
template <class T>
using Unsigned = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

#define LUNAGRAD_ARITHMETIC(sign)                               \
  template <class T>                                            \
  inline Integer<T> operator sign(Integer<T> a, Integer<T> b) { \
    return T(Unsigned<T>(a.v) sign Unsigned<T>(b.v));           \
  }
LUNAGRAD_ARITHMETIC(+)
LUNAGRAD_ARITHMETIC(-)
LUNAGRAD_ARITHMETIC(*)
#undef LUNAGRAD_ARITHMETIC
template <class T>
inline Integer<T> operator-(Integer<T> a) {
  return T(Unsigned<T>(0) - Unsigned<T>(a.v));
}
#define LUNAGRAD_COMPARISON(sign)                         \
  template <class T>                                      \
  inline bool operator sign(Integer<T> a, Integer<T> b) { \
    return a.v sign b.v;                                  \
  }
LUNAGRAD_COMPARISON(==)
LUNAGRAD_COMPARISON(!=)
LUNAGRAD_COMPARISON(<)
LUNAGRAD_COMPARISON(<=)
LUNAGRAD_COMPARISON(>)
LUNAGRAD_COMPARISON(>=)
#undef LUNAGRAD_COMPARISON
template <class T>
inline bool isnan(Integer<T>) {
  return false;
}
template <class T>
inline bool isinf(Integer<T>) {
  return false;
}
template <class T>
inline bool isfinite(Integer<T>) {
  return true;
}
template <class T>
inline Integer<T> sel(bool condition, Integer<T> yes, Integer<T> no) {
  return condition ? yes : no;
}
template <class T>
inline Integer<T> abs(Integer<T> x) {
  return x.v < 0 ? -x : x;
}
template <class T>
inline Integer<T> sign(Integer<T> x) {
  return T((x.v > 0) - (x.v < 0));
}
template <class T>
inline Integer<T> square(Integer<T> x) {
  return x * x;
}
template <class T>
inline Integer<T> conj(Integer<T> x) {
  return x;
}
template <class T>
inline Integer<T> max(Integer<T> a, Integer<T> b) {
  return a.v < b.v ? b : a;
}
template <class T>
inline Integer<T> min(Integer<T> a, Integer<T> b) {
  return a.v > b.v ? b : a;
}
template <class T>
inline Integer<T> floor(Integer<T> x) {
  return x;
}
template <class T>
inline Integer<T> ceil(Integer<T> x) {
  return x;
}
template <class T>
inline Integer<T> round_even(Integer<T> x) {
  return x;
}
template <class T>
inline Integer<T> trunc(Integer<T> x) {
  return x;
}

// Quotient rounded toward 0, and remainder; the most negative number divided by -1 wraps around.
template <class T>
inline Integer<T> quotient(const char* op, Integer<T> a, Integer<T> b) {
  if (b.v == 0) fail(op, ": integer division by zero");
  if (std::is_signed_v<T> && b.v == T(-1)) return -a;
  return T(a.v / b.v);
}
template <class T>
inline Integer<T> fmod(Integer<T> a, Integer<T> b) {
  return a - quotient("fmod", a, b) * b;
}
template <class T>
inline Integer<T> remainder(Integer<T> a, Integer<T> b) {
  const Integer<T> r = a - quotient("remainder", a, b) * b;
  return r.v != 0 && (r.v < 0) != (b.v < 0) ? r + b : r;
}
template <class T>
inline Integer<T> floor_div(Integer<T> a, Integer<T> b) {
  const Integer<T> q = quotient("floor_divide", a, b), r = a - q * b;
  return r.v != 0 && (r.v < 0) != (b.v < 0) ? q - Integer<T>(T(1)) : q;
}
// Exponentiation by squaring. A negative exponent rounds the magnitude down: 0, except for bases 1 and -1.
template <class T>
inline Integer<T> pow(Integer<T> base, Integer<T> exponent) {
  const bool odd = exponent.v & 1;
  if (exponent.v < 0) return base.v == 1 ? T(1) : base.v == T(-1) ? T(odd ? -1 : 1) : T(0);
  Integer<T> result = T(1);
  for (T rest = exponent.v; rest != 0; rest = T(rest >> 1)) {
    if (rest & 1) result = result * base;
    base = base * base;
  }
  return result;
}

template <class T>
inline bool signbit(Integer<T> x) {
  return x.v < 0;
}
template <class T>
inline Integer<T> bit_and(Integer<T> a, Integer<T> b) {
  return T(a.v & b.v);
}
template <class T>
inline Integer<T> bit_or(Integer<T> a, Integer<T> b) {
  return T(a.v | b.v);
}
template <class T>
inline Integer<T> bit_xor(Integer<T> a, Integer<T> b) {
  return T(a.v ^ b.v);
}
// Shifts by more bits than the type has give the result of moving one bit at a time.
template <class T>
inline Integer<T> left_shift(Integer<T> a, Integer<T> b) {
  return b.v < 0 || b.v >= T(sizeof(T) * 8) ? T(0) : T(std::make_unsigned_t<T>(a.v) << b.v);
}
template <class T>
inline Integer<T> right_shift(Integer<T> a, Integer<T> b) {
  if (b.v >= 0 && b.v < T(sizeof(T) * 8)) return T(a.v >> b.v);
  return a.v < 0 ? T(-1) : T(0);
}
template <class T>
inline Integer<T> gcd(Integer<T> a, Integer<T> b) {
  using U = std::make_unsigned_t<T>;
  U x = U(abs(a).v), y = U(abs(b).v);
  while (y != 0) {
    const U rest = U(x % y);
    x = y;
    y = rest;
  }
  return T(x);
}
template <class T>
inline Integer<T> lcm(Integer<T> a, Integer<T> b) {
  const Integer<T> divisor = gcd(a, b);
  return divisor.v == 0 ? divisor : abs(Integer<T>(T(a.v / divisor.v)) * b);
}

}  // namespace lunagrad::integers
