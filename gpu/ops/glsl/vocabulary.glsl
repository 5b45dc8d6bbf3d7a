// The functions that elementwise.def uses, in GLSL. The including file defines T as float, int64_t (with T_IS_INTEGER) or
// vec2 for complex numbers (with T_IS_COMPLEX).
#include "memory.glsl"
#include "functions.glsl"
#ifdef T_IS_COMPLEX
#include "complex.glsl"
#endif
#ifdef HAS_SPECIAL
#include "special.glsl"
#endif

bool lg_isnan(int64_t x) {
  return false;
}
bool lg_isinf(int64_t x) {
  return false;
}
bool lg_isfinite(int64_t x) {
  return true;
}
int64_t lg_sign(int64_t x) {
  return x > 0 ? 1L : x < 0 ? -1L : 0L;
}
int64_t lg_square(int64_t x) {
  return x * x;
}
int64_t lg_max(int64_t a, int64_t b) {
  return a > b ? a : b;
}
int64_t lg_min(int64_t a, int64_t b) {
  return a < b ? a : b;
}
int64_t lg_abs(int64_t x) {
  return x < 0 ? -x : x;
}
float lg_abs(float x) {
  return abs(x);
}
// Numbers of 32 bits are divided in 32 bits, which takes a fraction of the time. Integer division by zero
// gives zero and is a fault. The most negative number divided by -1 wraps around. GLSL does not define the
// sign of %, but defines the sign of /.
bool divided_by_zero = false;
int64_t truncated_quotient(int64_t a, int64_t b) {
  if (b == 0) divided_by_zero = true;
  const int64_t divisor = b == 0 || b == -1 ? 1L : b;
  int64_t q;
  if (a == int64_t(int(a)) && divisor == int64_t(int(divisor)))
    q = int64_t(int(a) / int(divisor));
  else
    q = a / divisor;
  return b == 0 ? 0L : b == -1 ? -a : q;
}
int64_t lg_quotient(int64_t a, int64_t b) {
  return truncated_quotient(a, b);
}
int64_t lg_fmod(int64_t a, int64_t b) {
  const int64_t q = truncated_quotient(a, b);
  return b == 0 ? 0L : a - b * q;
}
bool signs_differ(int64_t a, int64_t b) {
  return ((a ^ b) >> 63) != 0;
}
int64_t lg_remainder(int64_t a, int64_t b) {
  const int64_t r = lg_fmod(a, b);
  return r != 0 && signs_differ(r, b) ? r + b : r;
}
int64_t lg_floor_div(int64_t a, int64_t b) {
  const int64_t q = truncated_quotient(a, b);
  return lg_fmod(a, b) != 0 && signs_differ(a, b) ? q - 1 : q;
}
// Exponentiation by squaring. A negative power is 0, except for 1 and -1.
int64_t lg_pow(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1L : a == -1 ? ((b & 1) != 0 ? -1L : 1L) : 0L;
  int64_t result = 1;
  for (; b > 0; b >>= 1) {
    if ((b & 1) != 0) result *= a;
    a *= a;
  }
  return result;
}
int64_t bit_and(int64_t a, int64_t b) {
  return a & b;
}
int64_t bit_or(int64_t a, int64_t b) {
  return a | b;
}
int64_t bit_xor(int64_t a, int64_t b) {
  return a ^ b;
}
int64_t left_shift(int64_t a, int64_t b) {
  return b < 0 || b > 63 ? 0L : a << b;
}
int64_t right_shift(int64_t a, int64_t b) {
  return a >> (b < 0 || b > 63 ? 63L : b);
}
int64_t gcd(int64_t a, int64_t b) {
  uint64_t x = uint64_t(lg_abs(a)), y = uint64_t(lg_abs(b));
  while (y != 0 && (x | y) >> 32 != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  if (x >> 32 != 0) return int64_t(x);
  uint narrow_x = uint(x), narrow_y = uint(y);
  while (narrow_y != 0) {
    const uint rest = narrow_x % narrow_y;
    narrow_x = narrow_y;
    narrow_y = rest;
  }
  return int64_t(uint64_t(narrow_x));
}
int64_t lcm(int64_t a, int64_t b) {
  const int64_t divisor = gcd(a, b);
  return divisor == 0 ? 0L : lg_abs(truncated_quotient(a, divisor) * b);
}
bool signbit(int64_t x) {
  return x < 0;
}
bool signbit(float x) {
  return (floatBitsToUint(x) & 0x80000000u) != 0u;
}
float copysign(float a, float b) {
  return with_sign_of(b, a);
}
int64_t whole(int64_t x) {
  return x;
}
float lg_round_even(float x) {
  return roundEven(x);
}

T sel(bool condition, T yes, T no) {
  return condition ? yes : no;
}

#ifdef T_IS_COMPLEX
#define K(c) vec2(c, 0)
#define conj lg_conj
#define sqrt lg_sqrt
#else
#define K(c) T(c)
#define conj(x) (x)
#endif
#define isnan lg_isnan
#define isinf lg_isinf
#define isfinite lg_isfinite
#define sign lg_sign
#define square lg_square
#define max lg_max
#define min lg_min
#define abs lg_abs
#define fmod lg_fmod
#define remainder lg_remainder
#define floor_div lg_floor_div
#define pow lg_pow
#define round_even lg_round_even
#define exp lg_exp
#define exp2 lg_exp2
#define expm1 lg_expm1
#define log lg_log
#define log1p lg_log1p
#define log2 lg_log2
#define log10 lg_log10
#define sin lg_sin
#define cos lg_cos
#define tan lg_tan
#define asin lg_asin
#define acos lg_acos
#define atan lg_atan
#define atan2 lg_atan2
#define sinh lg_sinh
#define cosh lg_cosh
#define tanh lg_tanh
#define asinh lg_asinh
#define acosh lg_acosh
#define atanh lg_atanh
#define erf lg_erf
#define normal_cdf lg_normal_cdf
#define normal_pdf lg_normal_pdf
#define sigmoid lg_sigmoid
#ifdef T_IS_INTEGER
#define floor whole
#define ceil whole
#define trunc whole
#undef round_even
#define round_even whole
#endif
