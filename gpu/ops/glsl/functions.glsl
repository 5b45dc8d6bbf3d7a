// The functions of runtime/ops/elementwise/vocabulary.h for floats whose precision in GLSL is too low. The specification allows an error
// of exp that grows with its argument; sin and cos are specified only in -pi … pi; tanh may be NaN at 100; pow takes no
// negative base (Vulkan specification, "Precision and Operation of SPIR-V Instructions"). `precise` keeps compilers from
// simplifying steps that compensate rounding errors. Polynomials without a named source are Chebyshev fits.

bool lg_isinf(float x) {
  return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u;
}
bool lg_isfinite(float x) {
  return (floatBitsToUint(x) & 0x7f800000u) != 0x7f800000u;
}
float lg_sign(float x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
float lg_square(float x) {
  return x * x;
}
float lg_max(float a, float b) {
  return lg_isnan(a) || a > b ? a : b;
}
float lg_min(float a, float b) {
  return lg_isnan(a) || a < b ? a : b;
}

// a / b for any b. Vulkan does not define quotients by more than 2^126: reciprocals of such numbers are
// subnormal and 0 on some devices.
float lg_quotient(float a, float b) {
  const bool large = abs(b) > 4.2535296e37;  // 2^125
  return large ? (0.0625 * a) / (0.0625 * b) : a / b;
}

// x 2^shift modulo y for mantissas of normal numbers and a shift of at most 8. The quotient of floats is wrong by at most 1,
// and takes fewer steps than one of integers.
uint shifted_remainder(uint x, int shift, uint y, float reciprocal) {
  x <<= shift;
  const uint rest = x - uint(float(x) * reciprocal) * y;
  return min(rest, min(rest + y, rest - y));
}
// Exact: divides the mantissas as integers, eight bits at a time.
float lg_fmod(float a, float b) {
  const uint sign = floatBitsToUint(a) & 0x80000000u;
  uint x = floatBitsToUint(a) & 0x7fffffffu, y = floatBitsToUint(b) & 0x7fffffffu;
  if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) return nan();
  if (x < y) return a;
  // y has at most 12 significant bits, as 16-bit floats have, and the quotient has fewer than 12. So the
  // product and the difference are exact. The quotient is not too small, and too large by at most 1.
  const bool is_short = (y & 0xfffu) == 0u && y >= 0x01000000u && y < 0x7e000000u;
  if (is_short && x - y < 0x05000000u) {
    const float whole = uintBitsToFloat(y);
    const float rest = uintBitsToFloat(x) - floor(uintBitsToFloat(x) * (1.0 / whole) * 1.00000095) * whole;
    return uintBitsToFloat(floatBitsToUint(rest < 0.0 ? rest + whole : rest) | sign);
  }
  int ex = max(int(x >> 23), 1), ey = max(int(y >> 23), 1);
  x = (x & 0x7fffffu) | (x >= 0x800000u ? 0x800000u : 0u);
  y = (y & 0x7fffffu) | (y >= 0x800000u ? 0x800000u : 0u);
  int left = ex - ey;
  if (y >= 0x800000u) {
    const float reciprocal = 1.0 / float(y);
    for (bool again = true; again; left -= 8) {
      x = shifted_remainder(x, min(left, 8), y, reciprocal);
      again = left > 8 && x != 0u;
    }
  } else {
    x %= y;
    for (; left > 0 && x != 0u; left -= 8) x = (x << min(left, 8)) % y;
  }
  if (x == 0u) return uintBitsToFloat(sign);
  const int shift = min(23 - findMSB(x), ey - 1);
  x <<= shift;
  ey -= shift;
  return uintBitsToFloat(sign | (x >= 0x800000u ? (uint(ey) << 23) + (x - 0x800000u) : x));
}
float lg_remainder(float a, float b) {
  const float r = lg_fmod(a, b);
  return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
float lg_floor_div(float a, float b) {
  if (b == 0.0) return a / b;
  const float r = lg_fmod(a, b), whole = roundEven(lg_quotient(a - r, b));
  const float quotient = r != 0.0 && (r < 0.0) != (b < 0.0) ? whole - 1.0 : whole;
  return quotient == 0.0 ? uintBitsToFloat((floatBitsToUint(a) ^ floatBitsToUint(b)) & 0x80000000u) : quotient;
}

// 2^n for -126 <= n <= 127.
float power_of_two(int n) {
  return uintBitsToFloat(uint(n + 127) << 23);
}
// x 2^n; n from -252 to 254.
float scale(float x, int n) {
  const int half_n = n >> 1;
  return x * power_of_two(half_n) * power_of_two(n - half_n);
}

// The magnitude of `value` with the sign of x, even if x is a zero.
float with_sign_of(float x, float value) {
  return uintBitsToFloat(floatBitsToUint(value) & 0x7fffffffu | floatBitsToUint(x) & 0x80000000u);
}

// exp(x) = 2^n (1 + p) with n = round(x / ln 2) and p = exp(r) - 1 for the rest r, |r| <= ln(2) / 2. ln 2 is
// split into two parts, the first of 9 bits, so that its product with n is exact. Polynomial of Cephes' expf.
// Adding 1.5 2^23 rounds a number to an integer, which is then in the last bits: many devices round and
// convert at an eighth of the rate of additions. This and the functions below select among results instead of
// branching, since adjacent invocations rarely take the same branch. p of NaN is NaN. n is undefined for NaN
// and beyond 2^22.
const float kRounder = 12582912.0;
float reduced_exponent(float x, out int n) {
  precise float rounded = fma(x, 1.44269504088896341, kRounder);
  precise float k = rounded - kRounder;
  precise float high = fma(k, -0.693359375, x);
  precise float r = fma(k, 2.12194440e-4, high);
  n = floatBitsToInt(rounded) - floatBitsToInt(kRounder);
  return r;
}
float expm1_of_rest(float r) {
  float p = 1.9875691500e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  return p * (r * r) + r;
}
float exp_parts(float x, out int n) {
  return expm1_of_rest(reduced_exponent(x, n));
}
float lg_exp(float x) {
  int n;
  const float p = exp_parts(x, n);
  const float within = scale(1.0 + p, n);
  return x > 88.7228394 ? infinity() : x < -103.972084 ? 0.0 : within;
}
// exp(x) for x <= 0 in fewer steps: 2^n is built directly, scaled by 2^64 so that subnormal results can be reached.
float of_negative_parts(float p, int n) {
  return (1.0 + p) * uintBitsToFloat(uint(n + 191) << 23) * 5.42101086e-20;  // 2^-64
}
float exp_of_negative(float x) {
  int n;
  const float p = exp_parts(x < -104.0 ? -104.0 : x, n);
  return of_negative_parts(p, n);
}
// exp(x + low), where `low` is a small part of the argument that x lost by rounding.
float exp_of_negative(float x, float low) {
  int n;
  const float p = expm1_of_rest(reduced_exponent(x < -104.0 ? -104.0 : x, n) + low);
  return of_negative_parts(p, n);
}
// 2^r for |r| <= 1/2.
float exp2_of_rest(float r) {
  float p = 1.54758059e-4;
  p = p * r + 1.34002855e-3;
  p = p * r + 9.61800536e-3;
  p = p * r + 5.55032775e-2;
  p = p * r + 2.40226513e-1;
  p = p * r + 6.93147206e-1;
  return p * r + 1.0;
}
float lg_exp2(float x) {
  precise float rounded = x + kRounder;
  precise float k = rounded - kRounder;
  const float within = scale(exp2_of_rest(x - k), floatBitsToInt(rounded) - floatBitsToInt(kRounder));
  return x >= 128.0 ? infinity() : x < -150.0 ? 0.0 : within;
}
// 2^x for x <= 0, like exp_of_negative().
float exp2_of_negative(float x) {
  x = x < -151.0 ? -151.0 : x;
  precise float rounded = x + kRounder;
  precise float k = rounded - kRounder;
  const int n = floatBitsToInt(rounded) - floatBitsToInt(kRounder);
  return exp2_of_rest(x - k) * uintBitsToFloat(uint(n + 191) << 23) * 5.42101086e-20;
}
float lg_expm1(float x) {
  if (lg_isnan(x) || x == 0.0) return x;
  if (x > 88.7228394) return infinity();
  if (x < -17.5) return -1.0;
  int n;
  const float p = exp_parts(x, n);
  if (n == 0) return p;
  const float half_power = power_of_two(n - 1);
  return 2.0 * (half_power * p + (half_power - 0.5));
}
// The same for |x| <= 87.
float expm1_within(float x) {
  int n;
  const float p = exp_parts(x, n);
  const float power = power_of_two(n);
  return power * p + (power - 1.0);
}

// x = 2^e m with sqrt(1/2) <= m < sqrt(2); x positive, finite and not subnormal.
float mantissa_of_normal(float x, out int e) {
  const uint bits = floatBitsToUint(x) - 0x3f3504f3u;
  e = int(bits) >> 23;
  return uintBitsToFloat((bits & 0x7fffffu) + 0x3f3504f3u);
}
// The same for any positive, finite x. Bits of subnormal numbers are converted as integers, since devices may
// flush such numbers to zero.
float mantissa(float x, out int e) {
  const uint bits = floatBitsToUint(x);
  const bool small = bits < 0x800000u;
  const float m = mantissa_of_normal(small ? float(bits) : x, e);
  e -= small ? 149 : 0;
  return m;
}
// log(1 + f) - f + f^2 / 2 for f = m - 1 of such a mantissa. Polynomial of Cephes' logf.
float log_tail(float f) {
  float p = 7.0376836292e-2;
  p = p * f - 1.1514610310e-1;
  p = p * f + 1.1676998740e-1;
  p = p * f - 1.2420140846e-1;
  p = p * f + 1.4249322787e-1;
  p = p * f - 1.6668057665e-1;
  p = p * f + 2.0000714765e-1;
  p = p * f - 2.4999993993e-1;
  p = p * f + 3.3333331174e-1;
  return p * f * f * f;
}
// The logarithm of 2^e (1 + f) in any base: scale_high e + scale_low e + unit log(1 + f). As with exponentials, there are no
// branches.
float log_of_parts(int e, float f, float unit, float scale_high, float scale_low) {
  precise float small = log_tail(f) - 0.5 * f * f;
  precise float low = fma(float(e), scale_low, unit * small);
  precise float result = fma(float(e), scale_high, fma(unit, f, low));
  return result;
}
float log_in_base(float x, float unit, float scale_high, float scale_low) {
  int e;
  const float f = mantissa(x, e) - 1.0;
  const float result = log_of_parts(e, f, unit, scale_high, scale_low);
  const uint bits = floatBitsToUint(x);
  return bits - 1u < 0x7f7fffffu ? result : bits << 1 == 0u ? -infinity() : bits == 0x7f800000u ? x : nan();
}
float lg_log(float x) {
  return log_in_base(x, 1.0, 0.693359375, -2.12194440e-4);
}
float lg_log2(float x) {
  return log_in_base(x, 1.44269504088896341, 1.0, 0.0);
}
float lg_log10(float x) {
  return log_in_base(x, 0.434294481903251828, 0.30078125, 2.48745663981195214e-4);
}
// log(x + lost) for positive, normal x, where `lost` is a small part of the argument that x lost by rounding.
float log_with_lost(float x, float lost) {
  int e;
  const float m = mantissa_of_normal(x, e);
  const float power = uintBitsToFloat(uint(max(127 - e, 0)) << 23);  // 2^-e
  return log_of_parts(e, m - 1.0 + lost * power, 1.0, 0.693359375, -2.12194440e-4);
}
float lg_log1p(float x) {
  precise float u = 1.0 + x;
  precise float lost = x - (u - 1.0);
  const float result = log_with_lost(u, lost);
  return x == 0.0 || x == infinity() ? x : x > -1.0 ? result : x == -1.0 ? -infinity() : nan();
}
// log(1 + x) for 0 <= x <= 1, from one polynomial.
float log1p_below_one(float x) {
  float p = -3.31847238e-3;
  p = p * x + 2.02045842e-2;
  p = p * x - 5.7664443e-2;
  p = p * x + 1.06805554e-1;
  p = p * x - 1.53553963e-1;
  p = p * x + 1.96954006e-1;
  p = p * x - 2.49585874e-1;
  p = p * x + 3.33305113e-1;
  p = p * x - 4.99999328e-1;
  return p * (x * x) + x;
}
// log(1 + exp(x)), and tanh of it: for n = e (e + 2), e = exp(x), it is n / (n + 2).
float log1p_of_exp(float x) {
  return lg_max(x, 0.0) + log1p_below_one(exp_of_negative(-abs(x)));
}
float tanh_log1p_of_exp(float x) {
  const float e = exp_of_negative(-abs(x));
  const float n = x < 0.0 ? e * (e + 2.0) : 1.0 + 2.0 * e;  // times exp(-2 x) where x >= 0
  return n / (n + (x < 0.0 ? 2.0 : 2.0 * e * e));
}

// x cut to 12 significant bits. A product of two such numbers is exact, even on devices that round before
// they add. The rest, x - upper_bits(x), is exact too.
float upper_bits(float x) {
  return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u);
}

// a^b = 2^(b log2(a)) for positive, finite a and |b| <= 1e9. The logarithm is a sum of two numbers, good for about 36 bits:
// log2(m) = 2 / ln(2) atanh(s) with s = (m - 1) / (m + 1).
float positive_pow(float a, float b) {
  int e;
  const float f = mantissa(a, e) - 1.0, reciprocal = 1.0 / (2.0 + f), quotient = f * reciprocal;
  precise float s = upper_bits(quotient);
  precise float f_high = upper_bits(f);
  precise float missing = ((f - 2.0 * s) - s * f_high) - s * (f - f_high);
  const float z = quotient * quotient;
  float p = 3.40227388e-1;
  p = p * z + 4.11705896e-1;
  p = p * z + 5.77082859e-1;
  p = p * z + 9.61796679e-1;
  const float rest = s * 6.24456778e-4 + missing * reciprocal * 2.88539008 + p * z * quotient;
  precise float upper = s * 2.884765625;  // exact, and smaller than e unless that is 0
  precise float whole = float(e) + upper;
  precise float lost = upper - (whole - float(e));
  precise float log_high = upper_bits(whole);
  precise float log_low = (whole - log_high) + (lost + rest);
  precise float b_high = upper_bits(b);
  precise float power = b_high * log_high;
  precise float tail = b_high * log_low + (b - b_high) * (log_high + log_low);
  precise float all = power + tail;
  precise float rounded = clamp(all, -200.0, 200.0) + kRounder;
  precise float k = rounded - kRounder;
  precise float r = (power - k) + tail;
  const float within = scale(exp2_of_rest(r), floatBitsToInt(rounded) - floatBitsToInt(kRounder));
  return all >= 128.0 ? infinity() : all < -150.0 ? 0.0 : within;
}
float lg_pow(float a, float b) {
  const float size = abs(a);
  const bool extreme = size == 0.0 || lg_isinf(a) || abs(b) > 1e9;
  const float limit = size == 1.0 ? 1.0 : (size > 1.0) == (b > 0.0) ? infinity() : 0.0;
  float v = extreme ? limit : positive_pow(size, b);
  if ((floatBitsToUint(a) & 0x80000000u) != 0u) {
    const bool whole = abs(b) >= 8388608.0 || b == trunc(b);
    const bool odd = whole && abs(b) < 16777216.0 && (int(b) & 1) != 0;
    v = odd ? -v : whole || size == 0.0 || lg_isinf(a) ? v : nan();
  }
  if (lg_isnan(a) || lg_isnan(b)) v = nan();
  return b == 0.0 || a == 1.0 ? 1.0 : v;
}

// x = quadrant pi/2 + r, |r| <= pi/4. Below 2^13, pi/2 is subtracted in three parts (Cody and Waite). Above,
// x is multiplied by the relevant bits of 2/pi as integers (Payne and Hanek 1983).
const uint kTwoOverPi[8] = uint[](0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                  0x3c439041u, 0xfe5163abu, 0xdebbc561u);
uint two_over_pi(int bit) {  // 32 bits of the fraction from `bit` on; bits before it are 0
  if (bit <= -32) return 0u;
  if (bit < 0) return kTwoOverPi[0] >> -bit;
  const int word = bit >> 5, shift = bit & 31;
  return shift == 0 ? kTwoOverPi[word] : kTwoOverPi[word] << shift | kTwoOverPi[word + 1] >> (32 - shift);
}
float quarter_turn(float x, out int quadrant) {
  if (abs(x) < 8192.0) {
    precise float k = roundEven(x * 0.636619772367581343);
    precise float r = x - k * 1.5703125;
    r = r - k * 4.837512969970703125e-4;
    r = r - k * 7.54978995489188216e-8;
    quadrant = int(k);
    return r;
  }
  const uint bits = floatBitsToUint(x);
  const int e = int(bits >> 23 & 255u) - 150;  // |x| = m 2^e, m of 24 bits
  const uint64_t m = uint64_t((bits & 0x7fffffu) | 0x800000u);
  // m 2^e 2/pi modulo 4: bits before position e - 2 contribute multiples of 4.
  const int from = e - 2;
  const uint64_t top = m * uint64_t(two_over_pi(from));
  const uint64_t middle = m * uint64_t(two_over_pi(from + 32));
  const uint64_t bottom = m * uint64_t(two_over_pi(from + 64));
  const uint64_t turns = (top << 32) + middle + (bottom >> 32);  // in units of 2^-62 quarter turns
  int q = int(uint(turns >> 62));
  int64_t fraction = int64_t(turns & 0x3ffffffffffffffful);
  if (fraction >= 0x2000000000000000l) {
    fraction -= 0x4000000000000000l;
    ++q;
  }
  const float r = float(fraction) * 2.1684043449710089e-19 * 1.57079632679489662;
  const bool negative = (bits & 0x80000000u) != 0u;
  quadrant = negative ? -q : q;
  return negative ? -r : r;
}
// Polynomials of Cephes' sinf and cosf, for |r| <= pi/4.
float sin_core(float r) {
  const float z = r * r;
  return ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
}
float cos_core(float r) {
  const float z = r * r;
  const float p = (2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2;
  return p * z * z - 0.5 * z + 1.0;
}
float lg_sin(float x) {
  if (!lg_isfinite(x)) return nan();
  int q;
  const float r = quarter_turn(x, q);
  if (x == 0.0) return x;
  const float v = (q & 1) == 0 ? sin_core(r) : cos_core(r);
  return (q & 2) == 0 ? v : -v;
}
float lg_cos(float x) {
  if (!lg_isfinite(x)) return nan();
  int q;
  const float r = quarter_turn(x, q);
  const float v = (q & 1) == 0 ? cos_core(r) : sin_core(r);
  return (q + 1 & 2) == 0 ? v : -v;
}
float lg_tan(float x) {
  if (!lg_isfinite(x)) return nan();
  int q;
  const float r = quarter_turn(x, q), sine = sin_core(r), cosine = cos_core(r);
  const bool odd = (q & 1) != 0;
  return x == 0.0 ? x : (odd ? -cosine : sine) / (odd ? sine : cosine);
}

// Polynomials of Cephes' asinf and atanf.
// asin(a) for 0 <= a <= 1 where it is at most pi/6, else asin(sqrt((1 - a) / 2)) = (pi/2 - asin(a)) / 2.
float asin_core(float a, bool outer) {
  const float z = outer ? 0.5 * (1.0 - a) : a * a;
  const float root = outer ? sqrt(z) : a;
  float p = 4.2163199048e-2;
  p = p * z + 2.4181311049e-2;
  p = p * z + 4.5470025998e-2;
  p = p * z + 7.4953002686e-2;
  p = p * z + 1.6666752422e-1;
  return p * z * root + root;
}
float lg_asin(float x) {
  const float a = abs(x);
  if (!(a <= 1.0)) return nan();
  const bool outer = a > 0.5;
  const float p = asin_core(a, outer);
  const float v = outer ? 1.57079632679489662 - 2.0 * p : p;
  return x < 0.0 ? -v : x == 0.0 ? x : v;
}
float lg_acos(float x) {
  const float a = abs(x);
  if (!(a <= 1.0)) return nan();
  const bool outer = a > 0.5;
  const float p = asin_core(a, outer), v = outer ? 2.0 * p : 1.57079632679489662 - p;
  return x < 0.0 ? 3.14159265358979324 - v : v;
}
float lg_atan(float x) {
  if (lg_isnan(x) || x == 0.0) return x;
  const float a = abs(x);
  float t, base;
  if (a > 2.414213562373095) {
    base = 1.57079632679489662;
    t = lg_quotient(-1.0, a);
  } else if (a > 0.4142135623730950) {
    base = 0.785398163397448310;
    t = (a - 1.0) / (a + 1.0);
  } else {
    base = 0.0;
    t = a;
  }
  const float z = t * t;
  const float p = ((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1;
  const float v = base + (p * z * t + t);
  return x < 0.0 ? -v : v;
}
float lg_atan2(float y, float x) {
  if (lg_isnan(x) || lg_isnan(y)) return nan();
  const bool left = (floatBitsToUint(x) & 0x80000000u) != 0u;
  const bool below = (floatBitsToUint(y) & 0x80000000u) != 0u;
  float v;
  if (y == 0.0)
    v = left ? 3.14159265358979324 : 0.0;
  else if (x == 0.0)
    v = 1.57079632679489662;
  else if (lg_isinf(x) && lg_isinf(y))
    v = left ? 2.35619449019234493 : 0.785398163397448310;
  else {
    v = lg_atan(abs(lg_quotient(y, x)));
    if (left) v = 3.14159265358979324 - v;
  }
  return below ? -v : v;
}

float lg_sinh(float x) {
  if (lg_isnan(x) || x == 0.0) return x;
  const float a = abs(x);
  float v;
  if (a < 20.0) {
    const float t = lg_expm1(a);
    v = 0.5 * (t + t / (t + 1.0));
  } else {
    const float t = lg_exp(0.5 * a);
    v = 0.5 * t * t;
  }
  return x < 0.0 ? -v : v;
}
float lg_cosh(float x) {
  if (lg_isnan(x)) return x;
  const float t = lg_exp(0.5 * abs(x));
  return abs(x) < 20.0 ? 0.5 * (t * t + 1.0 / (t * t)) : 0.5 * t * t;
}
// 1 from 9.1 on. Devices round a quotient to 2.5 ulp, an error that matters in 1 - tanh(x)^2. Near 1 the
// quotient is small beside the result.
float lg_tanh(float x) {
  const float a = abs(x);
  const float t = expm1_within(a > 9.1 ? 18.2 : 2.0 * a);
  const bool near_one = t > 2.0;
  const float q = (near_one ? 2.0 : t) / (t + 2.0);
  return with_sign_of(x, near_one ? 1.0 - q : q);
}
// log(a + sqrt(a^2 + 1)); below 1/2 a polynomial.
float lg_asinh(float x) {
  const float a = abs(x), z = a * a;
  const bool large = a > 1e9;
  float p = -1.32481061e-2;
  p = p * z + 2.81755631e-2;
  p = p * z - 4.43858674e-2;
  p = p * z + 7.4986633e-2;
  p = p * z - 1.66666439e-1;
  const float near = p * z * a + a;
  const float far = lg_log(large ? a : a + sqrt(z + 1.0)) + (large ? 0.693147180559945309 : 0.0);
  return with_sign_of(x, a < 0.5 ? near : far);
}
float lg_acosh(float x) {
  const bool large = x > 1e9;
  const float t = x - 1.0;
  const float v = lg_log1p(large ? t : t + sqrt(2.0 * t + t * t)) + (large ? 0.693147180559945309 : 0.0);
  return x >= 1.0 ? v : nan();
}
float lg_atanh(float x) {
  const float a = abs(x);
  const float v = 0.5 * lg_log1p(2.0 * a / (1.0 - a));
  return a <= 1.0 ? with_sign_of(x, a == 1.0 ? infinity() : v) : nan();
}
// 1 - exp(log(erfc(|x|))) with -log(erfc(a)) = a + a P(a): one exponential and one polynomial; small values keep their
// relative precision. 1 from 4 on. P is fitted to the relative error of the result (less than 4e-9).
float lg_erf(float x) {
  const float a = abs(x) > 4.0 ? 4.0 : abs(x);
  float p = -9.256240518e-6;
  p = p * a + 1.176410411e-4;
  p = p * a - 6.328359927e-4;
  p = p * a + 1.667025793e-3;
  p = p * a - 1.603942820e-4;
  p = p * a - 1.915306495e-2;
  p = p * a + 1.027778308e-1;
  p = p * a + 6.366193819e-1;
  p = p * a + 1.28379172e-1;
  return with_sign_of(x, -expm1_within(-(p * a + a)));
}
// As in runtime/cpu/math.h: for a >= 0 the upper tail is exp(-a^2 / 2) Q((a - 3) / (a + 3)) / (a + 3). Small values keep
// their relative precision, and a formula with both functions computes one exponential.
float exp_of_half_square(float x) {
  return exp_of_negative(-0.5 * x * x);
}
float lg_normal_pdf(float x) {
  return 0.39894228 * exp_of_half_square(x);
}
float lg_normal_cdf(float x) {
  const float a = min(abs(x), 32.0);  // the tail is 0 beyond
  const float r = 1.0 / (a + 3.0), u = (a - 3.0) * r;
  float q = -2.667658305e-4;
  q = q * u - 9.032518923e-4;
  q = q * u + 1.076036411e-3;
  q = q * u + 6.923921683e-3;
  q = q * u - 1.047993524e-2;
  q = q * u - 4.725610071e-2;
  q = q * u + 2.300193493e-1;
  q = q * u - 5.093322851e-1;
  q = q * u + 7.290836692e-1;
  const float tail = exp_of_half_square(x) * (r * q);
  return x < 0.0 ? tail : 1.0 - tail;
}
float lg_sigmoid(float x) {
  const float e = exp_of_negative(-abs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

// A sum of floats that may leave their range before its end: x + 2^32 y. y is 0 unless it did.
const float kSumUnit = 4294967296.0, kSumPart = 2.32830644e-10;
vec2 added_sums(vec2 a, vec2 b) {
  const float near = a.x + b.x;
  const bool left = lg_isinf(near) && !lg_isinf(a.x) && !lg_isinf(b.x);
  return left ? vec2(0.0, a.y + b.y + (a.x * kSumPart + b.x * kSumPart)) : vec2(near, a.y + b.y);
}
vec2 with_one(vec2 sum, float x) {
  return added_sums(sum, vec2(x, 0.0));
}
vec2 with_four(vec2 sum, vec4 v) {
  const float near = sum.x + ((v.x + v.y) + (v.z + v.w));
  if (lg_isfinite(near)) return vec2(near, sum.y);
  const vec2 first = with_one(vec2(v.x, 0.0), v.y), second = with_one(vec2(v.z, 0.0), v.w);
  return added_sums(sum, added_sums(first, second));
}
float end_of_sum(vec2 sum, float factor) {
  return sum.y == 0.0 ? sum.x * factor : (sum.x * kSumPart + sum.y) * factor * kSumUnit;
}
